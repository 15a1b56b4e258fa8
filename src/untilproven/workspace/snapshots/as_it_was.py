"""A layer that brings paths back to what they were when the loop began, over a candidate that changed them."""

import os
import stat
from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec

from untilproven.workspace.entry import Entry
from untilproven.workspace.overlay import copying
from untilproven.workspace.overlay.beneath import Beneath, seen, split
from untilproven.workspace.overlay.reading import is_same
from untilproven.workspace.overlay.tree import Tree
from untilproven.workspace.overlay.upper import Change
from untilproven.workspace.snapshots.descending import Descending
from untilproven.workspace.snapshots.record import Version
from untilproven.workspace.snapshots.shelf import Snapshots, give_away
from untilproven.workspace.snapshots.states import State

_OPEN = 0o700
_ORDINARY = stat.S_IFDIR | 0o755


class Part(NamedTuple):
    """One name of the layer: a version that was kept, or the user's own file as the tree still has it, or nothing."""

    path: str
    version: Version | None
    is_in_tree: bool = False

    @property
    def is_directory(self) -> bool:
        return self.version is not None and self.version.entry.is_directory


def parts_of(paths: Collection[str], start: State, candidate: Tree, changes: Mapping[str, Change]) -> list[Part]:
    """What the layer consists of. `start` has what was kept; `changes` what only the candidate has changed, which is
    still in the user's tree."""
    found: dict[str, Part] = {}
    bases: State = {path: Version(change.base) if change.base is not None else None for path, change in changes.items()}
    was = bases | start
    for path in sorted(paths):
        if path in start:
            part = Part(path, start[path])
        elif path in bases:
            part = Part(path, bases[path], is_in_tree=True)
        else:
            continue
        if _is_already(part, candidate):
            continue
        above = _above(path, was, candidate, found)
        if above is not None:
            found |= {parent.path: parent for parent in above}
            found[path] = part
    return sorted(found.values())


def _is_already(part: Part, candidate: Tree) -> bool:
    return is_same(part.version.entry if part.version else None, candidate.entries.get(part.path)) and (
        part.version is not None or not any(candidate.below(part.path))
    )


def _above(path: str, was: State, candidate: Tree, found: Mapping[str, Part]) -> list[Part] | None:
    """The directories on the way that are not in the layer yet; None if something is there that hides all below it."""
    parts = []
    parent = split(path)[0]
    while parent and parent not in found:
        parts.append(_directory(parent, was, candidate))
        parent = split(parent)[0]
    return None if parent and not found[parent].is_directory else parts


def _directory(path: str, was: State, candidate: Tree) -> Part:
    """As the candidate has it; if that has none there, as it was."""
    here, before = candidate.entries.get(path), was.get(path)
    if here is not None and here.is_directory:
        return Part(path, Version(here))
    if here is None and any(candidate.below(path)):
        return Part(path, Version(Entry(_ORDINARY)), is_in_tree=True)
    return Part(path, before if before and before.entry.is_directory else Version(Entry(_ORDINARY)))


def key_of(parts: Collection[Part], root: Path) -> str:
    """The same for layers that are alike."""
    total = sha256()
    with Beneath(root) as tree:
        for part in parts:
            found = tree.seen(part.path) if part.is_in_tree else None
            now = (found.st_ino, found.st_ctime_ns, found.st_size) if found else None
            told = part.version and (part.version.entry, part.version.own)
            total.update(msgspec.msgpack.encode((os.fsencode(part.path), part.is_in_tree, now, told)))
    return total.hexdigest()


def build(parts: Collection[Part], layer: Path, snapshots: Snapshots, root: Path) -> None:
    """Make the layer; it must not exist."""
    layer.mkdir(mode=_OPEN)
    modes: list[tuple[str, int]] = []
    with Descending(layer) as made, Descending(root) as tree:
        for part in parts:
            parent, name = split(part.path)
            directory = made.directory(parent)
            if part.is_directory:
                assert part.version is not None  # noqa: S101  it is a directory
                _make_directory(directory, name, part, tree)
                modes.append((part.path, _mode(part, tree)))
            elif part.is_in_tree:
                _copy_theirs(directory, name, part, tree)
            elif part.version is None:
                _hide(directory, name)
            else:
                snapshots.bring(part.version, directory, name)
        for path, mode in reversed(modes):
            parent, name = split(path)
            os.chmod(name, mode, dir_fd=made.directory(parent))


def _mode(part: Part, tree: Beneath) -> int:
    found = tree.seen(part.path) if part.is_in_tree else None
    if found and stat.S_ISDIR(found.st_mode):
        return stat.S_IMODE(found.st_mode)
    return stat.S_IMODE(part.version.entry.mode) if part.version else _OPEN


def _make_directory(directory: int, name: str, part: Part, tree: Beneath) -> None:
    os.mkdir(name, _OPEN, dir_fd=directory)
    own, found = part.version.own if part.version else None, tree.seen(part.path)
    if own:
        give_away(own, directory, name)
    elif found and not os.getuid():
        os.chown(name, found.st_uid, found.st_gid, dir_fd=directory, follow_symlinks=False)


def _copy_theirs(directory: int, name: str, part: Part, tree: Beneath) -> None:
    """As the user's tree has it: where the user has changed it since, that is what stays."""
    parent = tree.directory_if_any(split(part.path)[0])
    found = seen(parent, name)
    if parent is None or found is None or not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
        _hide(directory, name)
    elif os.access(name, os.R_OK, dir_fd=parent, follow_symlinks=False):
        copying.copy(parent, name, directory, name)
    else:
        os.mknod(name, stat.S_IFREG, dir_fd=directory)  # no check can read it either
        os.chmod(name, stat.S_IMODE(found.st_mode), dir_fd=directory)


def _hide(directory: int, name: str) -> None:
    """The overlay's mark of something that is not there."""
    os.mknod(name, stat.S_IFCHR, 0, dir_fd=directory)
