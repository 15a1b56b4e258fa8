"""What a room hides."""

import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from untilproven.store.layout import STATE_DIRECTORY, Project
from untilproven.store.vouch import user_state

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
_NAMED_BY = ("TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME")
_PACKAGE = Path(__file__).parents[2]
_RESOLVER = "/etc/resolv.conf"
_SOCKETS = "/proc/net/unix"
_PATH_COLUMN = 7


def home() -> Path | None:
    """The user's home, if there is one."""
    named = os.environ.get("HOME", "")
    path = _led_to(named, os.O_DIRECTORY) if named.startswith("/") else ""
    return _as_path(path) if path not in {"", "/"} else None


_as_path = lru_cache(maxsize=8)(Path)


def _led_to(path: str, kind: int = 0) -> str:
    """Where a path leads, links followed; empty if to nothing, or to nothing of that kind. The kernel knows it at once,
    and it is asked for every room."""
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC | kind)
    except OSError:
        return ""
    try:
        return os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115  see above
    finally:
        os.close(fd)


def hidden(project: Project) -> tuple[str, ...]:
    """What is empty in every room: the loops' state, secrets, and every socket that somebody listens at."""
    known = places(project, home())
    return tuple(dict.fromkeys((*known, *sockets(known))))


def places(project: Project, at_home: Path | None) -> tuple[str, ...]:
    """What is hidden whether it exists or not."""
    return _places(project, at_home and str(at_home), *(os.environ.get(name, "") for name in _NAMED_BY))


def sockets(hidden_already: tuple[str, ...]) -> Iterator[str]:
    """Where somebody listens now: a read-only socket can still be connected to."""
    covered = tuple(f"{path}/" for path in hidden_already)
    with open(_SOCKETS, "rb", buffering=0) as file:  # noqa: PTH123  done for every room
        lines = file.read().splitlines()
    for line in lines:
        if b" /" in line:
            columns = line.split(None, _PATH_COLUMN)
            path = os.fsdecode(columns[_PATH_COLUMN]) if len(columns) > _PATH_COLUMN else ""
            if path.startswith("/") and not path.startswith(covered):
                yield path


def shown(root: Path, named: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What can be read although it lies in something hidden: how names of hosts are looked up; and, where they lie in
    /tmp, which is another one in a room, this program, what PATH leads to, and what is `named`, with what lies beside
    it."""
    path = _led_to(_RESOLVER)
    hidden_there = path.startswith(tuple(f"{place}/" for place in _OF_THE_SYSTEM))
    resolver = (path,) if hidden_there and os.path.isfile(path) else ()  # noqa: PTH113  done for every room
    return (*resolver, *_programs_in_tmp(str(root), os.environ.get("PATH", ""), named))


@lru_cache(maxsize=8)
def _programs_in_tmp(root: str, search: str, named: tuple[str, ...]) -> tuple[str, ...]:
    places = [sys.prefix, sys.base_prefix, str(_PACKAGE)]
    places += [_with_its_neighbours(path) for path in named]
    places += [place.removesuffix("/").removesuffix("/bin") for place in search.split(":")]
    found = (os.path.realpath(place) for place in places if place.startswith("/"))
    in_tmp = [place for place in dict.fromkeys(found) if place.startswith("/tmp/") and os.path.exists(place)]  # noqa: PTH110, S108
    apart = [place for place in in_tmp if not f"{root}/".startswith(f"{place}/") and not place.startswith(f"{root}/")]
    return tuple(place for place in apart if not any(place.startswith(f"{other}/") for other in apart))


def _with_its_neighbours(path: str) -> str:
    """The directory of a program; of one that lies right in /tmp, nothing but itself."""
    parent = os.path.dirname(os.path.realpath(path))  # noqa: PTH120  text
    return path if parent == "/tmp" else parent  # noqa: S108


@lru_cache(maxsize=8)
def _places(
    project: Project, at_home: str | None, temporary: str, runtime: str, configured: str, *_states: str
) -> tuple[str, ...]:
    """What `user_state` goes by is given too, so that this is never another's."""
    paths = [project.state.path, project.root / STATE_DIRECTORY, user_state(), *map(Path, _OF_THE_SYSTEM)]
    if temporary.startswith("/"):
        paths.append(Path(temporary) / f"untilproven-{os.geteuid()}")
    if runtime.startswith("/") and not project.root.is_relative_to(runtime):
        paths.append(Path(runtime))
    if at_home:
        config = Path(configured) if configured.startswith("/") else Path(at_home, ".config")
        paths += [Path(at_home, name) for name in _IN_HOME]
        paths += [config / name for name in _IN_CONFIG]
    return tuple(map(str, paths))
