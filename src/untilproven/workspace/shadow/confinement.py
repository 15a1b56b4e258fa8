"""What programs may do to the machine while they work on the user's files, and what that does not hold."""

import os
import stat
from pathlib import Path

from untilproven.errors import RalphError
from untilproven.process import landlock
from untilproven.process.landlock import Confinement
from untilproven.store.layout import STATE_DIRECTORY, Project
from untilproven.workspace.openings import DOCKER, GPG, SSH_AGENT, Openings
from untilproven.workspace.overlay import surroundings

_RESOLVER = "/etc/resolv.conf"
"""On many systems it leads into /run, which is hidden."""

_WRITABLE_AT_HOME = (
    ".cache",
    ".npm",
    ".yarn",
    ".bun/install/cache",
    ".cargo/registry",
    ".cargo/git",
    "go/pkg/mod",
    ".gradle/caches",
    ".m2/repository",
    ".nuget/packages",
    ".local/share/pnpm",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".qwen",
    ".aider",
    ".config/opencode",
    ".local/share/opencode",
)
"""Caches that tools fail without, and what agents keep of themselves; nothing that a shell or a login reads."""

_TALKED_TO = frozenset({SSH_AGENT, GPG, DOCKER})
"""Sharing one of these opens every unix socket: rules cannot tell them apart."""

_OF_SHADOWS = (
    "the agent works on your files themselves: what you change in the project while it works is taken for its work",
    f"the loops' own records in {STATE_DIRECTORY} lie in the project, so the agent can write to them",
    "git's own files can be written to; they are put back after each iteration, and with them what you did to them",
    "caches in your home, and agents' own settings there, can be written to for good",
    "a file with a second name elsewhere (a hard link) is changed there too, and is put back only here",
    "extended attributes and the times of directories are not put back",
    "what you save in the project while a check runs is put back too, and kept aside only until the next check",
)


def weak_points() -> tuple[str, ...]:
    """What this kind of room does not hold, in sentences for whoever relies on it."""
    return (*_OF_SHADOWS, *landlock.weak_points())


def for_agent(project: Project, openings: Openings, *own: Path) -> Confinement:
    """The agent's: the project, the directories that are its `own`, caches in HOME, and what was opened for it."""
    home = surroundings.home()
    opened = openings.paths(os.environ, home)
    at_home = tuple(str(home / name) for name in _WRITABLE_AT_HOME) if home else ()
    return Confinement(
        (str(project.root), *map(str, own), *at_home, *opened),
        _hidden(project, opened),
        (os.path.realpath(_RESOLVER),),
        network=openings.network,
        sockets=not _TALKED_TO.isdisjoint(openings.share) or any(map(_is_socket, opened)),
    )


def for_check(project: Project, openings: Openings, *own: Path) -> Confinement:
    """A check's: the same without anything of HOME's, and without what was opened for the agent."""
    return Confinement(
        (str(project.root), *map(str, own)),
        _hidden(project, ()),
        (os.path.realpath(_RESOLVER),),
        network=openings.check_network,
    )


def _hidden(project: Project, opened: tuple[str, ...]) -> tuple[str, ...]:
    """Secrets in the project itself cannot be hidden, so a project that is a whole HOME is refused."""
    hidden = []
    states = {project.state.path, project.root / STATE_DIRECTORY}
    for name in surroundings.hidden(project):
        path = Path(name)
        if path in states and path.is_relative_to(project.root):
            continue
        if name in opened or not os.path.exists(name) or _is_socket(name):  # noqa: PTH110  False if it is closed to us
            continue
        if path.is_relative_to(project.root) or project.root.is_relative_to(path):
            raise RalphError(
                f"no program can be confined to {project.root}: it holds or lies in {path}, which is to be hidden",
                hint="move the project, or run with --sandbox none",
            )
        hidden.append(name)
    return tuple(hidden)


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)  # noqa: PTH116  a path of the system's, as text
    except OSError:
        return False
