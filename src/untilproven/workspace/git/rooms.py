"""A room whose tree is that of a commit, at the project's own place, with the dependencies that are installed there."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from untilproven.contract import Room, Supervision
from untilproven.errors import RalphError
from untilproven.process.leftovers import new_marker
from untilproven.process.room import DirectoryRoom
from untilproven.process.walls import Layer, Walls
from untilproven.store import files
from untilproven.store.layout import Project
from untilproven.workspace import environment
from untilproven.workspace.git.surroundings import directories_above
from untilproven.workspace.openings import Openings
from untilproven.workspace.overlay import surroundings
from untilproven.workspace.overlay.checking import CheckingRoom
from untilproven.workspace.overlay.making import make, make_layer, make_temporary

_DEPENDENCIES = (".venv", "venv", "node_modules", "vendor")
_OF_CHECKS = {"PYTHONDONTWRITEBYTECODE": "1"}


def dependencies(root: Path, entries: Iterable[str]) -> list[str]:
    """Directories of installed dependencies in the working tree, beside what the commit has."""
    known = set(entries)
    there = directories_above(known)
    named = (f"{above}/{name}".lstrip("/") for above in sorted(there) for name in _DEPENDENCIES)
    return [path for path in named if path not in there | known and _is_directory(root / path)]


@contextlib.contextmanager
def walled(project: Project, private: Path, tree: Path, found: Iterable[str], openings: Openings) -> Iterator[Room]:
    """Within walls: nothing of the working tree is there but its dependencies and git's own files, as layers."""
    root, git = project.root, project.root / ".git"
    make(private)
    layers = [_layer(private, root, tree, 0)]
    for path in (*found, *([".git"] if _is_directory(git) else [])):
        (tree / path).mkdir()
        layers.append(_layer(private, root / path, root / path, len(layers)))
    if git.is_file() and not git.is_symlink():
        (tree / ".git").write_bytes(files.read(git))
    make_temporary(private / "tmp")
    hidden = surroundings.hidden(project)
    if any(root.is_relative_to(path) for path in hidden):
        raise RalphError(f"no room can be built around {root}: it lies in what rooms do not show")
    given = openings.paths(os.environ, surroundings.home())
    walls = Walls(
        tuple(layers),
        str(private / "tmp"),
        str(private),
        hidden=tuple(path for path in hidden if path not in given),
        given=given,
        shown=surroundings.shown(project.root),
        network=openings.check_network,
    )
    passed = openings.variables
    env = environment.of_agent(passed)
    room = CheckingRoom(root, Supervision(marker=new_marker()), env, walls, passed)
    try:
        yield room
    finally:
        room.close()


def _layer(private: Path, target: Path, lower: Path, number: int) -> Layer:
    return Layer(str(target), (str(lower),), *make_layer(private / f"layer-{number}", lower))


@contextlib.contextmanager
def unprotected(project: Project, tree: Path, found: Iterable[str]) -> Iterator[Room]:
    """Without walls: the commit's tree in a directory of ours, with links to the dependencies."""
    for path in found:
        (tree / path).symlink_to(project.root / path)
    yield DirectoryRoom(tree, Supervision(marker=new_marker()), {**os.environ, **_OF_CHECKS})


def _is_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
