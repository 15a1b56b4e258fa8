"""Carrying out the plan of a merge. It can be stopped anywhere and done again; what the user changed stays."""

import contextlib
import ctypes
import errno
import os
import stat
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from untilproven.contract import Conflict
from untilproven.errors import Damaged
from untilproven.process import kernel
from untilproven.store import files
from untilproven.workspace.entry import Entry
from untilproven.workspace.overlay import copying
from untilproven.workspace.overlay.beneath import Beneath, seen, split
from untilproven.workspace.overlay.exchange import Exchange
from untilproven.workspace.overlay.plan import Plan
from untilproven.workspace.overlay.reading import Reading, entry_of, is_same, looks_like
from untilproven.workspace.overlay.upper import Change

_OURS = 0o700
_POWER = stat.S_ISUID | stat.S_ISGID
_SYNCED_ONE_BY_ONE = 16
"""More files than this are made durable by one request for the whole file system."""


class Merged(NamedTuple):
    """What the user's tree has now at every path of the plan."""

    entries: dict[str, Entry | None]
    conflicts: tuple[Conflict, ...]


def _nothing() -> None:
    """What happens before each step, unless somebody wants to know."""


def merge(
    plan: Plan,
    upper: Path,
    root: Path,
    aside: Path,
    step: Callable[[], None] = _nothing,
    refused: Collection[str] = (),
) -> Merged:
    """Merge a layer into the user's tree; `aside` is where the agent's version goes if the user's stays, as it does
    wherever that was refused before."""
    with files.explained(root), Beneath(upper, force=True) as layer, Beneath(root) as tree:
        return _Merge(plan, layer, tree, aside, step, refused).carry_out()


class _Merge:
    def __init__(
        self,
        plan: Plan,
        upper: Beneath,
        root: Beneath,
        aside: Path,
        step: Callable[[], None],
        refused: Collection[str],
    ) -> None:
        self._changes = plan.by_path()
        self._closed = {os.fsdecode(path): mode for path, mode in plan.closed.items()}
        self._settled = plan.settled
        self._upper = upper
        self._root = root
        self._aside = aside
        self._step = step
        self._refused = refused
        self._reading = Reading()
        self._conflicts: dict[str, Conflict] = {}
        self._entries: dict[str, Entry | None] = {}
        files_to_write = sum(not _is_directory(change.ours) for change in self._changes.values() if change.ours)
        self._sync_each = files_to_write <= _SYNCED_ONE_BY_ONE

    def carry_out(self) -> Merged:
        """First what goes, from the deepest up; then directories, then what is in them, then their modes."""
        paths = sorted(self._changes)
        for path in sorted(self._closed):
            self._set_mode(path, self._closed[path] | _OURS)
        for path in reversed(paths):
            self._remove(path, self._changes[path])
        for path in paths:
            if _is_directory(self._changes[path].ours):
                self._make_directory(path, self._changes[path])
        for at, path in enumerate(paths):
            ours = self._changes[path].ours
            if ours is not None and not ours.is_directory:
                self._put(path, ours, f".ralph-merge-{at}")
        wanted = ((path, change.ours) for path, change in self._changes.items())
        modes = {path: ours.mode for path, ours in wanted if ours is not None and ours.is_directory}
        for path, mode in sorted((self._closed | modes).items(), reverse=True):
            if path not in self._conflicts:
                self._set_mode(path, mode)
        if not self._sync_each:
            kernel.libc().syncfs(ctypes.c_int(self._root.root))
        return Merged(self._entries, tuple(self._conflicts.values()))

    def _remove(self, path: str, change: Change) -> None:
        """What is to be nothing, or something of another kind that cannot simply be put in its place."""
        base, ours = change.base, change.ours
        if base is None or (ours is not None and ours.is_directory == base.is_directory):
            return
        now = self._now(path)
        if now is None:
            self._entries[path] = None
        elif ours is not None and now.is_directory == ours.is_directory:
            return
        elif base.is_directory != now.is_directory or not (base.is_directory or self._is_still(now, base, path)):
            self._conflict(path)
        else:
            self._step()
            self._unlink(path, base)

    def _unlink(self, path: str, base: Entry) -> None:
        parent, name = split(path)
        directory = self._root.directory(parent)
        try:
            (os.rmdir if base.is_directory else os.unlink)(name, dir_fd=directory)
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
            self._conflict(path)  # the user has put something into it
        else:
            self._entries[path] = None

    def _make_directory(self, path: str, change: Change) -> None:
        base, ours, now = change.base, change.ours, self._root.seen(path)
        if path in self._conflicts or ours is None:
            return
        parent, name = split(path)
        directory = self._root.directory_if_any(parent)
        if now is None:
            if directory is None or _is_directory(base):
                self._conflict(path)
                return
            self._step()
            copying.make_directory(directory, name, os.fstat(self._upper.directory(path)))
        elif not stat.S_ISDIR(now.st_mode) or (
            base is not None and base.is_directory and now.st_mode not in _on_the_way(base.mode, ours.mode)
        ):
            self._conflict(path)
            return
        else:
            self._step()
            self._set_mode(path, now.st_mode | _OURS)
        self._entries[path] = Entry(ours.mode)

    def _put(self, path: str, ours: Entry, temporary: str) -> None:
        parent, name = split(path)
        directory = self._root.directory_if_any(parent)
        if path in self._conflicts:
            return
        if directory is None:
            self._conflict(path)
            return
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=directory)
        base = self._changes[path].base
        exchange = Exchange(directory, name, f"{temporary}-ready")
        exchange.recover(lambda which, found: self._is_known(directory, which, found, path))
        looked_at, now = seen(directory, name), self._now(path)
        if not is_same(now, ours):
            if not self._is_still(now, base, path) and not (now is None and _is_directory(base)):
                self._conflict(path)
                return
            self._step()
            copied = copying.copy(self._upper.directory(parent), name, directory, temporary, sync=self._sync_each)
            self._step()
            if ours.is_hashed and copied != ours.content:
                os.unlink(temporary, dir_fd=directory)
                raise Damaged(
                    f"what the agent wrote to {path!r} is not what it was when it was looked at",
                    hint="the disk may have lost it in a power cut; discard that iteration",
                )
            if ours.mode & _POWER and stat.S_ISREG(ours.mode):
                os.chmod(temporary, stat.S_IMODE(ours.mode), dir_fd=directory)  # the user's own, come back
            if not exchange.put(temporary, looked_at, self._step):
                self._conflict(path)  # the user has saved something there since it was looked at
                return
        if found := seen(directory, name):
            self._entries[path] = entry_of(found, ours.content)

    def _set_mode(self, path: str, mode: int) -> None:
        found = self._root.seen(path)
        if found is not None and stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) != stat.S_IMODE(mode):
            self._step()
            parent, name = split(path)
            os.chmod(name, stat.S_IMODE(mode), dir_fd=self._root.directory(parent))

    def _now(self, path: str) -> Entry | None:
        """What is there; not read if it is what it was."""
        parent, name = split(path)
        directory = self._root.directory_if_any(parent)
        found = seen(directory, name)
        if directory is None or found is None:
            return None
        change = self._changes[path]
        if change.base is not None and looks_like(change.base, found, self._settled):
            return change.base
        return recognised(self._reading.entry(directory, name, found, path), change.base, change.ours)

    def _is_known(self, directory: int, name: str, found: os.stat_result, path: str) -> bool:
        """Whether something is what was there before the iteration, or what is to be there after it."""
        change = self._changes[path]
        now = recognised(self._reading.entry(directory, name, found, path), change.base, change.ours)
        return any(known is not None and is_same(now, known) for known in (change.base, change.ours))

    def _is_still(self, now: Entry | None, base: Entry | None, path: str) -> bool:
        return path not in self._refused and is_same(now, base)

    def _conflict(self, path: str) -> None:
        """Theirs stays, ours is kept aside."""
        ours = self._changes[path].ours
        aside = self._kept_aside(path) if ours is not None and not ours.is_directory else None
        self._conflicts[path] = Conflict(path, "changed" if ours is not None else "deleted", aside)
        self._entries[path] = self._now(path)

    def _kept_aside(self, path: str) -> Path | None:
        target = self._aside / path
        parent, name = split(path)
        with contextlib.suppress(OSError):  # a path that is too long; the user's version is what counts
            target.parent.mkdir(mode=_OURS, parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            with Beneath(target.parent) as place:
                copying.copy(self._upper.directory(parent), name, place.root, name)
            return target
        return None


def recognised(now: Entry, *known: Entry | None) -> Entry:
    """What is there; if it cannot be read, the one of these that has its mode, size and time."""
    if now.is_hashed or now.is_directory:
        return now
    signs = (now.mode, now.size, now.mtime)
    return next((entry for entry in known if entry and (entry.mode, entry.size, entry.mtime) == signs), now)


def _is_directory(entry: Entry | None) -> bool:
    return entry is not None and entry.is_directory


def _on_the_way(*modes: int) -> set[int]:
    """Modes that a directory has during a merge."""
    return {*modes, *(mode | _OURS for mode in modes)}
