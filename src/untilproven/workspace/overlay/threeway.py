"""Bringing together what a loop did and what others did to the same tree meanwhile."""

import stat
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from untilproven.workspace.entry import Entry
from untilproven.workspace.overlay.beneath import split
from untilproven.workspace.overlay.reading import is_same
from untilproven.workspace.overlay.tree import Tree
from untilproven.workspace.overlay.upper import Change

_DIRECTORY = stat.S_IFDIR | 0o755
_LOOKED_AT = 8000
"""How far a file is looked into for signs that it is no text."""


class Three(NamedTuple):
    """The bytes of a file: as both found it, as the loop has it, as the tree has it."""

    base: bytes
    ours: bytes
    theirs: bytes


Contents = Callable[[str, Change, Entry], Three | None]
"""What a file had and has, by its path; None if some of it cannot be had."""

Merge = Callable[[Three], bytes | None]
"""All lines of both, or None if they changed the same ones."""


class Rebased(NamedTuple):
    """What is left to do to the tree as it is now."""

    changes: dict[str, Change]
    """`base` is what the tree has now."""
    merged: dict[str, bytes]
    """What neither side has by itself."""
    conflicts: tuple[str, ...]
    """Paths at which the tree's version stays."""
    moved: bool
    """Whether it leads to anything but what the loop has seen."""


def rebase(work: Mapping[str, Change], tree: Tree, contents: Contents, merge: Merge) -> Rebased:
    """The work of a loop, as a change to this tree."""
    return _Rebase(work, tree, contents, merge).result()


class _Rebase:
    def __init__(self, work: Mapping[str, Change], tree: Tree, contents: Contents, merge: Merge) -> None:
        self._work = work
        self._tree = tree
        self._contents = contents
        self._merge = merge
        self._changes: dict[str, Change] = {}
        self._merged: dict[str, bytes] = {}
        self._conflicts: set[str] = set()
        self._moved = False

    def result(self) -> Rebased:
        for path, change in self._work.items():
            self._take(path, change, self._tree.entries.get(path))
        self._leave_what_others_use()
        self._make_way()
        moved = self._moved or bool(self._conflicts)
        return Rebased(self._changes, self._merged, tuple(sorted(self._conflicts)), moved)

    def _take(self, path: str, change: Change, theirs: Entry | None) -> None:
        base, ours = change.base, change.ours
        if is_same(theirs, ours):
            return
        if is_same(theirs, base):
            self._changes[path] = Change(theirs, ours)
            return
        self._moved = True
        if is_same(base, ours) or (_is_directory(ours) and _is_directory(theirs)):
            return
        found = self._combined(path, change, theirs)
        if found is None:
            self._conflicts.add(path)
        elif not is_same(found, theirs):
            self._changes[path] = Change(theirs, found)

    def _combined(self, path: str, change: Change, theirs: Entry | None) -> Entry | None:
        """One file of both; None if there is none that both would want."""
        base, ours = change.base, change.ours
        if base is None or ours is None or theirs is None or not all(map(_is_file, (base, ours, theirs))):
            return None
        mode = _either(base.mode, ours.mode, theirs.mode)
        if mode is None:
            return None
        if theirs.content == base.content:
            return Entry(mode, ours.size, ours.mtime, ours.ctime, ours.inode, ours.content)
        three = self._contents(path, change, theirs)
        if three is None:
            return None
        data = three.theirs if ours.content == base.content else self._merge(three)
        if data is None:
            return None
        self._merged[path] = data
        return Entry(mode, len(data), content=sha256(data).hexdigest())

    def _leave_what_others_use(self) -> None:
        """A directory in which something is that the loop never saw does not go."""
        for path in sorted(self._changes, reverse=True):
            change = self._changes[path]
            if not _is_directory(change.base) or _is_directory(change.ours):
                continue
            if any(not self._goes(inner) for inner in self._tree.below(path)):
                del self._changes[path]
                self._moved = True
                if change.ours is not None:
                    self._conflicts.add(path)

    def _goes(self, path: str) -> bool:
        change = self._changes.get(path)
        return change is not None and change.ours is None

    def _make_way(self) -> None:
        """What others removed on the way to something of the loop's comes back; where they put something else, theirs
        stays."""
        for path in sorted(self._changes):
            if self._changes[path].ours is None:
                continue
            missing = []
            for parent in _above(path):
                here = self._changes[parent].ours if parent in self._changes else self._tree.entries.get(parent)
                if _is_directory(here) or (here is None and any(self._tree.below(parent))):
                    break
                if here is not None or parent in self._changes or parent in self._conflicts:
                    self._conflicts.add(path)
                    break
                missing.append(parent)
            if path in self._conflicts:
                del self._changes[path]
                continue
            for parent in missing:
                self._moved = True
                self._changes[parent] = Change(None, Entry(_DIRECTORY))


def _above(path: str) -> Iterator[str]:
    while path := split(path)[0]:
        yield path


def _either(base: int, ours: int, theirs: int) -> int | None:
    """The one that was changed; None if both were, in different ways."""
    if ours in {base, theirs}:
        return theirs
    return ours if theirs == base else None


def _is_directory(entry: Entry | None) -> bool:
    return entry is not None and entry.is_directory


def _is_file(entry: Entry) -> bool:
    return stat.S_ISREG(entry.mode)


def merge_lines(three: Three, scratch: Path, tree: Path) -> bytes | None:
    """The lines of both, where they did not change the same ones. Git does it: it is quick also with large files."""
    if any(b"\0" in data[:_LOOKED_AT] for data in three):
        return None
    from untilproven.workspace.git.running import GitFailed, environment, run  # noqa: PLC0415  few loops meet

    scratch.mkdir(mode=0o700, exist_ok=True)
    names = {"ours": three.ours, "base": three.base, "theirs": three.theirs}
    for name, data in names.items():
        (scratch / name).write_bytes(data)
    paths = [str(scratch / name) for name in names]
    try:
        done = run(["merge-file", "-p", "-q", "--", *paths], environment(tree))
    except GitFailed:
        return None
    finally:
        for name in names:
            (scratch / name).unlink()
    return done.output if done.code == 0 else None
