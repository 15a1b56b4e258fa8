"""How each agent is started by hand: without anything of ours, against a model at a given address."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]


class Place(NamedTuple):
    """Where an agent works, what it takes for its home, and where its model is."""

    root: Path
    home: Path
    url: str
    subscription: bool = False
    """It is logged in as a subscriber, not with a key."""

    def config(self, name: str, text: str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Start(NamedTuple):
    """A command that takes the prompt from its standard input: as an argument it could have 128 KiB at most."""

    command: list[str]
    env: dict[str, str]


Client = Callable[[Place, str], Start]
"""From a place, and a session to go on with, if any."""


def claude(place: Place, session: str) -> Start:
    resume = ["--resume", session] if session else []
    command = ["claude", "-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
    return Start(
        [*command, "--model", "sonnet", *resume],
        {
            "ANTHROPIC_BASE_URL": place.url,
            "CLAUDE_CODE_OAUTH_TOKEN" if place.subscription else "ANTHROPIC_API_KEY": "key",
            "IS_SANDBOX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
        },
    )


def codex(place: Place, session: str) -> Start:
    place.config(
        ".codex/config.toml",
        f"""
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "{place.url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
""",
    )
    resume = ["resume", session] if session else []
    command = ["codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", *resume, "-"]
    return Start(command, {"CODEX_HOME": str(place.home / ".codex"), "SCRIPTED_KEY": "key"})


def opencode(place: Place, session: str) -> Start:
    model = {"name": "scripted", "limit": {"context": 100_000, "output": 8000}, "cost": {"input": 3, "output": 15}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{place.url}/v1", "apiKey": "key"},
        "models": {"scripted": model},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "enabled_providers": ["scripted"],
        "provider": {"scripted": provider},
        "permission": {"edit": "allow", "bash": "allow"},
    }
    resume = ["-s", session] if session else []
    return Start(
        ["opencode", "run", "--format", "json", *resume],
        {
            "OPENCODE_CONFIG_CONTENT": json.dumps(config),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        },
    )


_SETTINGS: Json = {"general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False}}


def gemini(place: Place, session: str) -> Start:
    settings = {
        **_SETTINGS,
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        # Else the next start forgets a session that was resumed in another minute and then killed.
        "general": {"enableAutoUpdate": False, "sessionRetention": {"enabled": False}},
    }
    place.config(".gemini/settings.json", json.dumps(settings))
    resume = ["--resume", session] if session else []
    return Start(
        ["gemini", "--output-format", "stream-json", "--yolo", "-m", "gemini-2.5-flash", *resume],
        {
            "GEMINI_API_KEY": "key",
            "GOOGLE_GEMINI_BASE_URL": place.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        },
    )


def qwen(place: Place, session: str) -> Start:
    settings = {
        **_SETTINGS,
        "security": {"auth": {"selectedType": "openai"}},
        "memory": {"enableManagedAutoMemory": False},
        "model": {"generationConfig": {"maxRetries": 0, "contextWindowSize": 1_000_000}},
    }
    place.config(".qwen/settings.json", json.dumps(settings))
    resume = ["--resume", session] if session else []
    return Start(
        ["qwen", "--output-format", "stream-json", "--yolo", *resume],
        {
            "OPENAI_API_KEY": "key",
            "OPENAI_BASE_URL": f"{place.url}/v1",
            "OPENAI_MODEL": "scripted",
            "QWEN_CODE_NO_RELAUNCH": "true",
        },
    )


def aider(place: Place, session: str) -> Start:
    quiet = ["--no-check-update", "--no-show-release-notes", "--no-show-model-warnings", "--analytics-disable"]
    plain = ["--no-pretty", "--no-stream", "--no-gitignore", "--no-auto-commits", "--map-tokens", "0", "--yes-always"]
    resume = ["--restore-chat-history"] if session else []
    return Start(
        [
            "aider",
            "--model",
            "openai/scripted",
            "--edit-format",
            "whole",
            *quiet,
            *plain,
            *resume,
            "--message-file",
            "/dev/stdin",
        ],
        {"OPENAI_API_KEY": "key", "OPENAI_API_BASE": f"{place.url}/v1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    )


CLIENTS: dict[str, Client] = {
    "claude": claude,
    "codex": codex,
    "opencode": opencode,
    "gemini": gemini,
    "qwen": qwen,
    "aider": aider,
}
