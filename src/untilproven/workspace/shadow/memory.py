"""The user's tree, git's own files included: walked, and every byte of it remembered."""

import os
import stat
import time
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from untilproven.errors import Damaged, StoreFailed
from untilproven.store.files import MIB, explained
from untilproven.workspace.entry import Entries, Entry, Note
from untilproven.workspace.manifest import Manifest, tree_hash
from untilproven.workspace.overlay.beneath import Beneath, split
from untilproven.workspace.shadow.marks import Before
from untilproven.workspace.shadow.place import Place
from untilproven.workspace.walk import SPECIAL, UNREADABLE, UNSEEN, walk

LARGEST_REMEMBERED = 2048 * MIB
NOT_REMEMBERED = "too large to be remembered, or closed to you: what the agent does to it cannot be taken back"

_FRESH = 1.0
"""Seconds for which a walk stands for the tree."""
_PATIENCE = 5
"""How often a tree is looked at again that changes while it is being remembered."""
_GIT = ".git"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OPEN_DIRECTORY, _OPEN_FILE = 0o700, 0o400


class Look(NamedTuple):
    """A tree as it was found."""

    tree: Manifest
    opened: dict[str, int]
    """What had closed itself to us and is open now, with the modes it had; the tree tells of those."""

    def noted(self, *reasons: str) -> frozenset[str]:
        return frozenset(note.path for note in self.tree.notes if note.reason in reasons)


class Memory:
    """What is excluded and is git's is remembered too, but is not part of the tree that others are told of."""

    def __init__(self, root: Path, exclude: Collection[PurePosixPath], place: Place) -> None:
        self._root = root
        self._place = place
        self._unseen = [path for path in exclude if path.name != _GIT]
        self._git = frozenset(str(path) for path in exclude if path.name == _GIT)
        self._git_below = tuple(f"{path}/" for path in self._git)
        self._git_objects = tuple(f"{path}/objects/" for path in self._git)
        self._unlisted = frozenset(str(parent) for path in exclude for parent in path.parents)
        self._last: Manifest | None = None
        self._stale_at = 0.0
        self._told_as: tuple[Manifest, Manifest] | None = None
        self._remembered: Entries = {}
        self._lost: dict[str, Entry] = {}
        """What is not remembered."""

    def tree(self, *, fresh: bool = False) -> Manifest:
        """As it is; walked again if some time has passed."""
        if fresh or self._last is None or time.monotonic() >= self._stale_at:
            return self._walk()
        return self._last

    def doubt(self) -> None:
        """Somebody was at it."""
        self._stale_at = 0.0

    def told(self, tree: Manifest) -> Manifest:
        """Without what is git's."""
        if self._told_as is None or self._told_as[0] is not tree:
            entries = {path: entry for path, entry in tree.entries.items() if self._is_told(path)}
            notes = tuple(note for note in tree.notes if not self.is_git(note.path))
            self._told_as = tree, Manifest(entries, tree.began, tree_hash(entries), notes)
        return self._told_as[1]

    def is_git(self, path: str) -> bool:
        return path in self._git or path.startswith(self._git_below)

    def is_git_object(self, path: str) -> bool:
        """Written once by git, and no harm if it is there for nothing."""
        return path.startswith(self._git_objects)

    def _is_told(self, path: str) -> bool:
        return not self.is_git(path) and path not in self._unlisted

    def before(self) -> Before:
        """The tree now, with every byte that can be had of it in safety."""
        for _ in range(_PATIENCE):
            tree = self.tree(fresh=True)
            if not self._missed(tree):
                self._place.objects.sync()
                look = Look(tree, {})
                mode = stat.S_IMODE(self._root.stat().st_mode)
                return Before(tree, mode, look.noted(SPECIAL), look.noted(UNREADABLE, UNSEEN))
        raise StoreFailed(
            f"files in {self._root} change faster than they can be remembered",
            hint="stop what writes to them, or keep it out of the project",
        )

    def remember(self, tree: Manifest) -> set[str]:
        """Take in what is not remembered yet; the paths whose bytes are not what the tree says, any more."""
        return set(self._missed(tree))

    def lost(self) -> set[Note]:
        """What could not be remembered."""
        return {Note(NOT_REMEMBERED, path) for path in self._lost if not self.is_git(path)}

    def bring(self, path: str, entry: Entry, directory: int, as_name: str) -> None:
        """Make a new file or link of what is remembered."""
        with self._place.bytes_of(path, entry) as objects:
            objects.bring(entry, directory, as_name)

    def _missed(self, tree: Manifest) -> list[str]:
        missed = []
        remembered, lost = self._remembered, {}
        new = [(path, entry) for path, entry in tree.entries.items() if remembered.get(path) is not entry]
        with explained(self._root), Beneath(self._root) as beneath:
            for path, entry in sorted(new):
                if entry.is_directory:
                    continue
                parent, name = split(path)
                try:
                    if self._take(beneath.directory(parent), name, path, entry):
                        remembered[path] = entry
                    else:
                        lost[path] = entry
                except (Damaged, FileNotFoundError, NotADirectoryError):
                    missed.append(path)
        self._lost = lost
        return missed

    def _take(self, directory: int, name: str, path: str, entry: Entry) -> bool:
        # Git never writes to its objects again: a second name for a huge one is as good as a copy, short of malice.
        is_huge = entry.size > LARGEST_REMEMBERED
        is_lost = is_huge and not self.is_git_object(path)
        if stat.S_ISREG(entry.mode) and not entry.is_hashed and (is_lost or not _is_readable(directory, name)):
            return False
        with self._place.bytes_of(path, entry) as objects:
            (objects.take if is_huge else objects.put)(directory, name, entry)
        return True

    def look(self, known: Before) -> Look:
        """The tree after programs have worked on it: what they have closed is opened to be looked at."""
        opened: dict[str, int] = {}
        tree = self._walk()
        while os.getuid():
            closed = Look(tree, {}).noted(UNREADABLE, UNSEEN) - known.closed - opened.keys()
            if not closed:
                break
            opened |= _open(self._root, closed)
            if not closed & opened.keys():
                break
            tree = self._walk()
        self._last = _with_modes(tree, opened)
        return Look(self._last, opened)

    def _walk(self) -> Manifest:
        self._last = _with_contents(walk(self._root, self._unseen, self._last), self._last)
        self._stale_at = time.monotonic() + _FRESH
        return self._last


def _is_readable(directory: int, name: str) -> bool:
    try:
        os.close(os.open(name, _READ, dir_fd=directory))
    except PermissionError:
        return False
    return True


def _open(root: Path, closed: Collection[str]) -> dict[str, int]:
    found = {}
    with Beneath(root) as beneath:
        for path in sorted(closed):
            seen = beneath.seen(path)
            if seen is None or seen.st_uid != os.getuid():
                continue
            bits = _OPEN_DIRECTORY if stat.S_ISDIR(seen.st_mode) else _OPEN_FILE
            if seen.st_mode & bits == bits or not (stat.S_ISDIR(seen.st_mode) or stat.S_ISREG(seen.st_mode)):
                continue
            found[path] = stat.S_IMODE(seen.st_mode)
            parent, name = split(path)
            os.chmod(name, found[path] | bits, dir_fd=beneath.directory(parent))
    return found


def _with_contents(tree: Manifest, known: Manifest | None) -> Manifest:
    """What has closed itself since it was read, and is the same otherwise, is what it was."""
    closed = [note.path for note in tree.notes if note.reason == UNREADABLE]
    if known is None or not closed:
        return tree
    entries = dict(tree.entries)
    for path in closed:
        was, now = known.entries.get(path), entries[path]
        if was and was.is_hashed and (was.inode, was.size, was.mtime) == (now.inode, now.size, now.mtime):
            entries[path] = msgspec.structs.replace(now, content=was.content)
    return Manifest(entries, tree.began, tree_hash(entries), tree.notes)


def _with_modes(tree: Manifest, opened: dict[str, int]) -> Manifest:
    if not opened:
        return tree
    entries = dict(tree.entries)
    for path, mode in opened.items():
        if path in entries:
            kind = stat.S_IFMT(entries[path].mode)
            entries[path] = msgspec.structs.replace(entries[path], mode=kind | mode)
    notes = tuple(note for note in tree.notes if note.path not in opened)
    return Manifest(entries, tree.began, tree_hash(entries), notes)
