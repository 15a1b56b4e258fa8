"""What of the user's environment comes into a room: what points out of it, and what looks like a secret, does not."""

import os
from collections.abc import Collection

_REACHES_OUT = frozenset(
    {
        "SSH_AUTH_SOCK",
        "SSH_AGENT_PID",
        "GPG_AGENT_INFO",
        "DBUS_SESSION_BUS_ADDRESS",
        "DBUS_SYSTEM_BUS_ADDRESS",
        "XDG_RUNTIME_DIR",
        "DOCKER_HOST",
        "CONTAINER_HOST",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
        "TMUX",
        "STY",
    }
)
"""Where agents, buses, daemons and the user's screen are reached."""

_SECRET_WORDS = frozenset(
    {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "APIKEY", "KEY", "PAT", "DSN"}
)
_OF_MODELS = (
    "ANTHROPIC_",
    "OPENAI_",
    "AZURE_OPENAI_",
    "GEMINI_",
    "GOOGLE_API_KEY",
    "GOOGLE_GENAI_",
    "OPENROUTER_",
    "MISTRAL_",
    "CODESTRAL_",
    "GROQ_",
    "DEEPSEEK_",
    "XAI_",
    "TOGETHER_",
    "FIREWORKS_",
    "CEREBRAS_",
    "COHERE_",
    "DASHSCOPE_",
    "QWEN_",
    "MOONSHOT_",
    "ZAI_",
    "CLAUDE_",
    "CODEX_",
    "OPENCODE_",
    "AIDER_",
    "AWS_BEARER_TOKEN_BEDROCK",
)


def of_agent(passed: Collection[str] = ()) -> dict[str, str]:
    """What a program in a room finds; the keys of models stay, for agents need them, and so does what is `passed`."""
    kept = {name: value for name, value in os.environ.items() if name in passed or not _stays_out(name)}
    return {**kept, "TMPDIR": "/tmp"}  # noqa: S108  the room's own


def dropped(passed: Collection[str] = ()) -> tuple[str, ...]:
    """The names of what does not come in, for the record."""
    return tuple(sorted(name for name in os.environ if name not in passed and _stays_out(name)))


def _stays_out(name: str) -> bool:
    if name in _REACHES_OUT:
        return True
    return not is_of_models(name) and not _SECRET_WORDS.isdisjoint(name.upper().split("_"))


def is_of_models(name: str) -> bool:
    """Whether it belongs to a model's provider, or to an agent."""
    return name.startswith(_OF_MODELS)
