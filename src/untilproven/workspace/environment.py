"""What of the user's environment comes into a room: what points out of it, and what looks like a secret, does not."""

import os
from collections.abc import Collection

from untilproven.checks.surroundings import is_of_agents
from untilproven.core.redaction import leaves

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

_SECRET_WORDS = frozenset({"CREDENTIAL", "KEY", "PAT", "DSN"})
_SECRET_ENDS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS", "APIKEY")
"""Also without anything between: PGPASSWORD, NGROK_AUTHTOKEN."""
_DOCUMENT = "_CONFIG_CONTENT"
"""A whole configuration, with the keys that are in it."""


def of_agent(passed: Collection[str] = ()) -> dict[str, str]:
    """What a program in a room finds; the keys of models stay, for agents need them, and so does what is `passed`."""
    kept = {name: value for name, value in os.environ.items() if name in passed or not _stays_out(name)}
    return {**kept, "TMPDIR": "/tmp"}  # noqa: S108  the room's own


def dropped(passed: Collection[str] = ()) -> tuple[str, ...]:
    """The names of what does not come in, for the record."""
    return tuple(sorted(name for name in os.environ if name not in passed and _stays_out(name)))


def secrets() -> dict[str, str]:
    """What looks like a secret, whether it comes in or not; a path that is there is none."""
    found = {name: value for name, value in os.environ.items() if _is_secret(name) and not _is_path(value)}
    for name in [name for name in found if name.endswith(_DOCUMENT)]:
        found |= leaves(name, found[name])
    return found


def _stays_out(name: str) -> bool:
    return name in _REACHES_OUT or (not is_of_agents(name) and _is_secret(name))


def _is_secret(name: str) -> bool:
    words = name.upper().split("_")
    return (
        not _SECRET_WORDS.isdisjoint(words)
        or any(word.endswith(_SECRET_ENDS) for word in words)
        or (name.endswith(_DOCUMENT))
    )


def _is_path(value: str) -> bool:
    """A key may begin like one."""
    return value.startswith("/") and os.path.exists(value)  # noqa: PTH110  no path, it may be anything
