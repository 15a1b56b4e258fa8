"""Reading an agent's layer: what it changed, and what it was when the room was opened.

What must never reach the user's tree is taken out of the layer here, before anybody else sees it: checks find
exactly what would be merged.
"""

import os
import stat
from collections.abc import Collection
from pathlib import Path, PurePosixPath

import msgspec

from untilproven.workspace.descent import Descent
from untilproven.workspace.entry import Entry, Note
from untilproven.workspace.overlay import attributes
from untilproven.workspace.overlay.beneath import Beneath, seen, split
from untilproven.workspace.overlay.expansion import expand
from untilproven.workspace.overlay.reading import Reading, is_known_kind, is_same, looks_like
from untilproven.workspace.overlay.removal import remove_below
from untilproven.workspace.overlay.tree import Tree

REFUSED_KIND = "a device, socket or pipe: not taken over"
REFUSED_PLACE = "belongs to git or to the loops' state: not taken over"
REFUSED_GIANT = "claims to be far larger than what was written to it: not taken over"
NEUTRALISED = "would run with the rights of its owner or group: taken over without that"
OWN_REPOSITORY = "a git repository of its own: its hooks and settings count once git is run there"
UNSEEN = "cannot be looked into: not taken over"

_POWER = stat.S_ISUID | stat.S_ISGID
_OURS = 0o700
_GIANT = 1 << 30
_BLOCK = 512


class Change(msgspec.Struct, frozen=True, array_like=True):
    """One path: what it was when the room was opened, and what it is to be; None is nothing."""

    base: Entry | None
    ours: Entry | None


class Found(msgspec.Struct, frozen=True):
    """All that a layer changes. What was only copied up is `same`."""

    changes: dict[str, Change]
    same: dict[str, Entry]
    notes: set[Note]


class Upper:
    """One look at a layer. `tree` is the user's tree as it was last walked, `opened` when the room was
    opened, `settled` before which a change cannot have gone unnoticed."""

    def __init__(
        self, upper: Path, root: Path, tree: Tree, opened: int, settled: int, guarded: Collection[PurePosixPath]
    ) -> None:
        self._upper = upper
        self._root = root
        self._tree = tree
        self._opened = opened
        self._settled = settled
        self._guarded = frozenset(str(path) for path in guarded)
        self._unlisted = frozenset(str(parent) for path in guarded for parent in path.parents)
        self._reading = Reading()
        self._changes: dict[str, Change] = {}
        self._same: dict[str, Entry] = {}
        self._notes: set[Note] = set()
        self._merged: dict[str, bool] = {"": True}
        """Whether the tree below shows through a directory of the layer."""
        self._origins: dict[str, str] = {}
        self._closed: list[tuple[str, int]] = []

    def look(self) -> Found:
        with Beneath(self._root) as below, Beneath(self._upper) as layer, Descent(self._upper) as descent:
            for path, opened in descent:
                if isinstance(opened, OSError):
                    self._notes.add(Note(UNSEEN, path))
                    continue
                lower = below.directory_if_any(path) if self._merged[path] else None
                descent.below(self._directory(opened, path, lower, below))
            for path, mode in reversed(self._closed):
                if layer.seen(path) is not None:
                    os.chmod(split(path)[1], mode, dir_fd=layer.directory(split(path)[0]))
        return Found(self._changes, self._same, self._notes | self._reading.notes)

    def _directory(self, fd: int, path: str, lower: int | None, below: Beneath) -> list[str]:
        """Take in what one directory of the layer has; the directories in it."""
        prefix = f"{path}/" if path else ""
        inner = []
        with os.scandir(fd) as listing:
            items = [(item.name, item.stat(follow_symlinks=False)) for item in listing]
        for name, found in items:
            here = prefix + name
            if stat.S_ISDIR(found.st_mode) and found.st_mode & _OURS != _OURS and os.getuid():
                self._closed.append((here, stat.S_IMODE(found.st_mode)))
                os.chmod(name, stat.S_IMODE(found.st_mode) | _OURS, dir_fd=fd)
            if reason := self._refused(fd, name, here, found, below):
                self._notes.add(Note(reason, here))
                remove_below(fd, name)
            elif attributes.is_marked_deleted(fd, name, found):
                self._gone(here, name, lower)
            elif stat.S_ISDIR(found.st_mode):
                self._take_directory(fd, name, here, found, lower)
                inner.append(here)
            else:
                self._take(fd, name, here, found, lower)
        return inner

    def _refused(self, fd: int, name: str, path: str, found: os.stat_result, below: Beneath) -> str:
        """Why something is not taken over; renamed directories are made whole on the way."""
        if path in self._guarded:
            return REFUSED_PLACE
        if stat.S_ISREG(found.st_mode):
            sparse = found.st_size > _GIANT and found.st_blocks * _BLOCK < found.st_size // 4
            return REFUSED_GIANT if sparse else ""
        if not stat.S_ISDIR(found.st_mode):
            return "" if is_known_kind(found) or attributes.is_whiteout(found) else REFUSED_KIND
        if name == ".git":
            self._notes.add(Note(OWN_REPOSITORY, path))
        if origin := attributes.redirect(fd, name):
            parent = split(path)[0]
            if not origin.startswith("/"):
                origin = f"{self._origins.get(parent, parent)}/{origin}"
            origin = origin.lstrip("/")
            if self._is_near_guarded(origin):
                return REFUSED_PLACE
            self._origins |= expand(fd, name, path, below.root, origin)
        return ""

    def _is_near_guarded(self, path: str) -> bool:
        return any(f"{path}/".startswith(f"{own}/") or f"{own}/".startswith(f"{path}/") for own in self._guarded)

    def _take_directory(self, fd: int, name: str, path: str, found: os.stat_result, lower: int | None) -> None:
        beneath = seen(lower, name)
        is_directory = beneath is not None and stat.S_ISDIR(beneath.st_mode)
        self._merged[path] = is_directory and not attributes.is_opaque(fd, name)
        if is_directory and not self._merged[path]:
            self._gone_below(path, lower, name)
        if path not in self._unlisted:
            self._put(path, name, lower, Entry(found.st_mode))

    def _take(self, fd: int, name: str, path: str, found: os.stat_result, lower: int | None) -> None:
        entry = self._reading.entry(fd, name, found, path, ours=True)
        beneath = seen(lower, name)
        if beneath is not None and stat.S_ISDIR(beneath.st_mode):
            self._gone_below(path, lower, name)
        if stat.S_ISREG(entry.mode) and entry.mode & _POWER:
            unchanged = beneath is not None and beneath.st_mode == entry.mode
            if not (unchanged and is_same(self._base(path, name, lower), entry)):
                self._notes.add(Note(NEUTRALISED, path))
                entry = msgspec.structs.replace(entry, mode=entry.mode & ~_POWER)
                os.chmod(name, stat.S_IMODE(entry.mode), dir_fd=fd)
        self._put(path, name, lower, entry)

    def _put(self, path: str, name: str, lower: int | None, ours: Entry | None) -> None:
        replaced = self._changes.pop(path, None)
        base = replaced.base if replaced else self._base(path, name, lower)
        if not is_same(base, ours):
            self._changes[path] = Change(base, ours)
        elif ours is not None:
            self._same[path] = ours

    def _gone(self, path: str, name: str, lower: int | None) -> None:
        """Of what lies beneath, nothing is left."""
        beneath = seen(lower, name)
        if beneath is not None and stat.S_ISDIR(beneath.st_mode):
            self._gone_below(path, lower, name)
        if path not in self._unlisted:
            self._put(path, name, lower, None)

    def _gone_below(self, path: str, lower: int | None, name: str) -> None:
        """What is there now and what was there when it was last looked at: only the first can be merged away."""
        for inner in list(self._tree.below(path)):
            self._changes[inner] = Change(self._tree.entries[inner], None)
        if lower is None:
            return
        with Descent(Path(f"/proc/self/fd/{lower}/{name}")) as descent:
            for within, opened in descent:
                if isinstance(opened, OSError):
                    self._notes.add(Note(UNSEEN, f"{path}/{within}"))
                    continue
                descent.below(self._gone_in(opened, f"{path}/{within}" if within else path, within))

    def _gone_in(self, fd: int, path: str, within: str) -> list[str]:
        inner = []
        with os.scandir(fd) as listing:
            for item in listing:
                here = f"{path}/{item.name}"
                if here in self._guarded:
                    continue
                if item.is_dir(follow_symlinks=False):
                    inner.append(f"{within}/{item.name}" if within else item.name)
                if here in self._unlisted:
                    continue
                base = self._base(here, item.name, fd)
                if base is not None:
                    self._changes[here] = Change(base, None)
        return inner

    def _base(self, path: str, name: str, lower: int | None) -> Entry | None:
        """What was there when the room was opened. If the user has changed it since, what is there now is not it."""
        known, now = self._tree.entries.get(path), seen(lower, name)
        if now is None:
            if known is None or lower is None:
                return known
            return known if os.fstat(lower).st_ctime_ns >= self._opened else None
        if known is not None and looks_like(known, now, self._settled):
            return known
        assert lower is not None  # noqa: S101  something was seen in it
        entry = self._reading.entry(lower, name, now, path)
        return entry if now.st_ctime_ns < self._opened or is_same(known, entry) else known
