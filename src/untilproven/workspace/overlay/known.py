"""The user's tree as far as it is known: walked once, kept up with what is merged, looked over now and then."""

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from untilproven.workspace.entry import Entry, Note
from untilproven.workspace.manifest import Manifest
from untilproven.workspace.overlay.tree import Changes, Tree
from untilproven.workspace.walk import walk

_SHARE_OF_WALKS = 20
"""Looking the tree over costs at most one part in so many."""

_TICK = 100_000_000
"""Nanoseconds within which a file can change twice and bear the same times."""


class Known:
    """Between `consider` and `decide` the tree is the candidate's."""

    def __init__(self, root: Path, exclude: Collection[PurePosixPath]) -> None:
        self._root = root
        self._exclude = exclude
        self._began = 0
        self._stale_at = 0.0
        self._tree: Tree | None = None
        self._undo: dict[str, Entry | None] = {}
        self._cover: Changes = {}
        self._beneath: dict[str, Entry | None] = {}
        """What the cover is over."""
        self._notes: set[Note] = set()
        self._told: set[Note] = set()

    @property
    def tree(self) -> Tree:
        return self._tree or self.look()

    @property
    def settled(self) -> int:
        """What was last changed before this, in nanoseconds, cannot have changed again unnoticed."""
        return self._began - _TICK

    def look(self) -> Tree:
        """The tree, walked again if that was long ago for its size: the user works in it too."""
        if self._tree is None:
            self._tree = Tree(self._walk(None).entries)
            self._beneath = self._tree.apply(self._cover)
        elif time.monotonic() >= self._stale_at and not self._undo:
            with self.bare() as tree:
                before = tree.entries
                after = self._walk(Manifest(before, self._began, "")).entries
                changes: dict[str, Entry | None] = dict.fromkeys(before.keys() - after.keys())
                changes |= {path: entry for path, entry in after.items() if before.get(path) is not entry}
                tree.apply(changes)
        return self._tree

    def cover(self, over: Changes) -> None:
        """From now on the tree is the user's with this over it."""
        if self._tree is not None:
            self._tree.apply(self._beneath)
            self._beneath = self._tree.apply(over)
        self._cover = over

    @contextmanager
    def bare(self) -> Iterator[Tree]:
        """The user's own tree, while nothing is considered."""
        tree = self.tree
        tree.apply(self._beneath)
        try:
            yield tree
        finally:
            self._beneath = tree.apply(self._cover)

    def consider(self, changes: Changes) -> str:
        """The hash of the tree with these changes."""
        self._undo = self.tree.apply(changes)
        return self.tree.hash()

    def decide(self, *, taken: Changes | None = None) -> None:
        """What was considered is taken back, or is now as given."""
        if self._tree is not None:
            if taken is None:
                self._tree.apply(self._undo)
            else:
                self._tree.apply(taken)
        self._undo = {}

    def doubt(self) -> None:
        """The user is at work in the tree: look before the next answer."""
        self._stale_at = 0.0

    def new_notes(self) -> set[Note]:
        """What could not be taken in on a walk, each once."""
        new, self._notes = self._notes - self._told, set()
        self._told |= new
        return new

    def _walk(self, before: Manifest | None) -> Manifest:
        began = time.monotonic()
        found = walk(self._root, self._exclude, before)
        ended = time.monotonic()
        self._began, self._stale_at = found.began, ended + _SHARE_OF_WALKS * (ended - began)
        self._notes.update(found.notes)
        return found
