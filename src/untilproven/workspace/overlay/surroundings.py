"""What a room hides, and what of the user's environment does not come in."""

import os
from collections.abc import Iterator
from pathlib import Path

from untilproven.store.layout import STATE_DIRECTORY, Project
from untilproven.store.vouch import user_state

_DROPPED = (
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
)
"""Where agents, buses, daemons and the user's screen are reached."""

_IN_HOME = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".password-store",
    ".mozilla",
    ".pki",
    ".local/share/keyrings",
)
_IN_CONFIG = (
    "gh",
    "gcloud",
    "containers",
    "google-chrome",
    "chromium",
    "BraveSoftware",
    "microsoft-edge",
    "git/credentials",
)
_OF_THE_SYSTEM = ("/run", "/var/run", "/var/lib/docker", "/var/lib/containerd")
_SOCKETS = Path("/proc/net/unix")
_PATH_COLUMN = 7


def environment() -> dict[str, str]:
    """What a program in a room finds; keys of models stay, agents need them."""
    kept = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    return {**kept, "TMPDIR": "/tmp"}  # noqa: S108  the room's own


def dropped() -> tuple[str, ...]:
    """The names of what does not come in, for the record."""
    return tuple(name for name in _DROPPED if name in os.environ)


def home() -> Path | None:
    """The user's home, if there is one."""
    named = os.environ.get("HOME", "")
    if not named.startswith("/") or not Path(named).is_dir():
        return None
    path = Path(named).resolve()
    return path if path != path.parent else None


def hidden(project: Project) -> tuple[str, ...]:
    """What is empty in every room: the loops' state, secrets, and every socket that somebody listens at."""
    paths = [project.state.path, project.root / STATE_DIRECTORY, user_state()]
    paths += [Path(path) for path in _OF_THE_SYSTEM]
    temporary = os.environ.get("TMPDIR", "")
    if temporary.startswith("/"):
        paths.append(Path(temporary) / f"untilproven-{os.geteuid()}")
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/") and not project.root.is_relative_to(runtime):
        paths.append(Path(runtime))
    at_home = home()
    if at_home:
        configured = os.environ.get("XDG_CONFIG_HOME", "")
        config = Path(configured) if configured.startswith("/") else at_home / ".config"
        paths += [at_home / name for name in _IN_HOME]
        paths += [config / name for name in _IN_CONFIG]
    return tuple(dict.fromkeys([str(path) for path in paths] + list(_sockets(paths))))


def _sockets(hidden_already: list[Path]) -> Iterator[str]:
    """A read-only socket can still be connected to."""
    covered = tuple(f"{path}/" for path in hidden_already)
    for line in _SOCKETS.read_bytes().splitlines()[1:]:
        columns = line.split(None, _PATH_COLUMN)
        if len(columns) > _PATH_COLUMN and columns[_PATH_COLUMN].startswith(b"/"):
            path = os.fsdecode(columns[_PATH_COLUMN])
            if not path.startswith(covered):
                yield path
