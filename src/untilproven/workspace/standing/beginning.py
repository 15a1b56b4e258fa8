"""The tree as it was when the session's loop began, and when it was last looked at, with the bytes of both."""

import contextlib
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath

from untilproven.errors import Damaged
from untilproven.workspace import manifest
from untilproven.workspace.entry import Entries, Entry
from untilproven.workspace.manifest import Manifest
from untilproven.workspace.objects import Objects
from untilproven.workspace.overlay.beneath import Beneath, split
from untilproven.workspace.shadow import recording
from untilproven.workspace.snapshots.record import KEPT
from untilproven.workspace.snapshots.shelf import Snapshots
from untilproven.workspace.walk import walk

_START, _SEEN = "start.tree", "seen.tree"
_ATTEMPTS = 5
_INSTALLED = frozenset({"node_modules", ".venv", "venv", ".tox", ".nox"})
"""Many files that nobody writes by hand: that one of them has changed is known, and is enough to refuse it."""


class Beginning:
    """Its bytes lie with the snapshots of the loop: in the user's own state, out of the tree."""

    def __init__(self, root: Path, loop_id: str, exclude: Collection[PurePosixPath]) -> None:
        self._root = root
        self._exclude = exclude
        self.snapshots = Snapshots(root, loop_id)

    @property
    def _objects(self) -> Objects:
        return self.snapshots.objects

    @cached_property
    def start(self) -> Manifest:
        """How every path was; remembered now if nobody has done so before."""
        path = self.snapshots.path / _START
        if path.exists():
            return manifest.load(path)
        found = self._remembered(None)
        self.snapshots.make()
        manifest.save(found, path)
        manifest.save(found, self.snapshots.path / _SEEN)
        return found

    def seen(self) -> Manifest:
        """The tree when it was last looked at; at first that is the start."""
        start = self.start
        with contextlib.suppress(Damaged):
            return manifest.load(self.snapshots.path / _SEEN)
        return start

    def look(self) -> Manifest:
        """The tree now; what bears the same times as before is not read again."""
        return walk(self._root, self._exclude, self.seen())

    def record(self, iteration: int, now: Manifest) -> None:
        """What has changed since the last look is written down as what this iteration did: it can be gone back to."""
        before = self.seen()
        changes = recording.changes_between(before.entries, now.entries)
        if changes:
            self._put({path: change.ours for path, change in changes.items() if change.ours is not None})
            recording.record(self.snapshots, KEPT, iteration, changes, self._source)
        manifest.save(now, self.snapshots.path / _SEEN)

    def has(self, entry: Entry) -> bool:
        """Whether the bytes are there; of what is too large to be read, they are not."""
        return entry.is_directory or not entry.size or (entry.is_hashed and self._objects.has(entry.content))

    def read(self, entry: Entry, limit: int) -> bytes | None:
        if entry.is_directory or entry.size > limit or not self.has(entry):
            return None
        return self._objects.read(entry, limit) if entry.size else b""

    def forget(self) -> None:
        """The loop has ended: only what its own records name is needed any more."""
        live = {
            entry.content
            for name in self.snapshots.names
            for change in self.snapshots.load(name).plan.changes.values()
            for entry in (change.base, change.ours)
            if entry is not None
        }
        if self.snapshots.path.is_dir():
            self._objects.sweep(live)
            for name in (_START, _SEEN):
                (self.snapshots.path / name).unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        self.snapshots.close()

    def _remembered(self, before: Manifest | None) -> Manifest:
        """A walk with all its bytes; what is being written while we look is looked at again."""
        for _ in range(_ATTEMPTS):
            before = walk(self._root, self._exclude, before)
            if not self._put(before.entries):
                break
        assert before is not None  # noqa: S101  it was walked
        return before

    def _put(self, entries: Entries) -> list[str]:
        """Take the bytes in; the paths whose bytes are not what the entry says, any more."""
        missed = []
        with Beneath(self._root) as beneath:
            for path, entry in sorted(entries.items()):
                if entry.is_directory or not entry.size or not entry.is_hashed or _is_installed(path):
                    continue
                parent, name = split(path)
                try:
                    self._objects.put(beneath.directory(parent), name, entry)
                except (Damaged, OSError):
                    missed.append(path)
        self._objects.sync()
        return missed

    @contextlib.contextmanager
    def _source(self, _path: str, _entry: Entry) -> Iterator[Objects]:
        yield self._objects


def _is_installed(path: str) -> bool:
    return not _INSTALLED.isdisjoint(path.split("/"))
