"""Loops with real agents: how ralph is told where their model is, and what a loop left."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from real_agents.clients import Place, opencode
from real_agents.install import NODE, TOOLS

_LONGEST = 350


def surroundings(name: str, place: Place) -> dict[str, str]:
    """What a user would have in the environment; all else is up to ralph."""
    openai = {"OPENAI_API_KEY": "the-users-own-key"}
    return {
        "claude": {"ANTHROPIC_BASE_URL": place.url, "ANTHROPIC_API_KEY": "the-users-own-key"},
        "codex": openai,
        "opencode": opencode(place, "").env,
        "gemini": {"GEMINI_API_KEY": "the-users-own-key", "GOOGLE_GEMINI_BASE_URL": place.url},
        "qwen": {**openai, "OPENAI_BASE_URL": f"{place.url}/v1", "OPENAI_MODEL": "scripted"},
        "aider": {**openai, "OPENAI_API_BASE": f"{place.url}/v1"},
    }[name]


def arguments(name: str, place: Place) -> list[str]:
    """What a user would type for a model of their own."""
    provider = f'{{name="scripted",base_url="{place.url}/v1",env_key="CODEX_API_KEY",wire_api="responses"}}'
    return {
        "codex": [
            "--",
            "-c",
            'model="gpt-5"',
            "-c",
            'model_provider="scripted"',
            "-c",
            f"model_providers.scripted={provider}",
        ],
        "gemini": ["--model", "gemini-2.5-flash"],
        "aider": ["--model", "openai/gpt-5", "--", "--edit-format", "whole"],
    }.get(name, [])


def command(name: str, place: Place, *words: str, agent: str = "") -> tuple[list[str], dict[str, str]]:
    """What is typed, and the environment it is typed in."""
    given = arguments(name, place)
    at = given.index("--") if "--" in given else len(given)
    path = [str(TOOLS[name].bin), str(NODE.bin), "/usr/local/bin", "/usr/bin", "/bin"]
    if name != "aider":  # it brings a Python of its own, without what the checks need
        path.insert(0, str(Path(sys.executable).parent))
    argv = [sys.executable, "-P", "-m", "untilproven", "run", "make it", "--agent", agent or name, *given[:at], *words]
    env = {"PATH": os.pathsep.join(path), "HOME": str(place.home), "LANG": "C.UTF-8", **surroundings(name, place)}
    return [*argv, *given[at:]], env


def ralph(name: str, place: Place, *words: str) -> "subprocess.CompletedProcess[str]":
    argv, env = command(name, place, *words)
    return subprocess.run(
        argv,
        cwd=place.root,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_LONGEST,
        check=False,
    )


def events(place: Place, kind: str) -> list[dict[str, Any]]:
    (journal,) = place.root.glob(".aiwg/ralph/loops/*/events.jsonl")
    told = [json.loads(line) for line in journal.read_text().splitlines()]
    return [event for event in told if event["type"] == kind]
