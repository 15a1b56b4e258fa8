"""Walking a tree: no link is followed, nothing but regular files is opened, and only what may have changed is read."""

import errno
import os
import stat
import time
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from untilproven.errors import StoreFailed
from untilproven.store.files import MIB
from untilproven.workspace import contents
from untilproven.workspace.descent import Descent
from untilproven.workspace.entry import Entries, Entry, Note
from untilproven.workspace.manifest import Manifest, tree_hash

BUDGET = 1024 * MIB
"""How many bytes one walk reads at most."""

SPECIAL = "neither file, link nor directory, so it is left out and never opened"
LARGE = f"larger than {contents.LARGEST_FILE // MIB} MiB, so a change is told by size and time only"
OVER_BUDGET = f"more than {BUDGET // MIB} MiB of files are new: of the rest a change is told by size and time only"
UNREADABLE = "cannot be read, so a change is told by size and time only"
UNSEEN = "cannot be looked into, so what was last known of it is taken to be still there"
PRIVILEGED = "runs with the rights of its owner or group (setuid, setgid)"

_TICK = 100_000_000
"""Nanoseconds within which a file can change twice and bear the same times; clocks of file systems are coarse."""

_VANISHED = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}


def walk(root: Path, exclude: Collection[PurePosixPath] = (), before: Manifest | None = None) -> Manifest:
    """The tree as it is now. What bears the same times, size and inode as in the manifest before is not read again.

    The directories above an excluded path are not listed themselves: they are made for what is in them.
    """
    return _Walk(exclude, before).over(root)


class _Walk:
    def __init__(self, exclude: Collection[PurePosixPath], before: Manifest | None) -> None:
        self._began = time.time_ns()
        self._excluded = frozenset(str(path) for path in exclude)
        self._unlisted = frozenset(str(parent) for path in exclude for parent in path.parents)
        self._before = before
        self._known: Entries = before.entries if before else {}
        self._settled = before.began - _TICK if before else 0
        self._budget = BUDGET
        self._entries: Entries = {}
        self._notes: list[Note] = []
        self._closed: set[str] = set()
        self._same = before is not None

    def over(self, root: Path) -> Manifest:
        try:
            descent = Descent(root)
        except OSError as error:
            raise StoreFailed(
                f"cannot look into {root}: {error.strerror}", hint=f"look at it: ls -ld {root}"
            ) from error
        with descent:
            for path, opened in descent:
                if isinstance(opened, OSError):
                    self._unseen(path, opened)
                    continue
                try:
                    descent.below(self._look(opened, path + "/" if path else ""))
                except OSError as error:
                    self._unseen(path, error)
        if self._closed:
            self._keep_what_is_closed()
        same = self._same and len(self._entries) == len(self._known)
        tree = self._before.tree if same and self._before else tree_hash(self._entries)
        return Manifest(self._entries, self._began, tree, tuple(self._notes))

    def _look(self, directory: int, prefix: str) -> list[str]:
        """Take in what one directory has; the directories in it."""
        excluded, known, settled, entries = self._excluded, self._known, self._settled, self._entries
        below = []
        with os.scandir(directory) as listing:
            for item in listing:
                path = prefix + item.name
                if path in excluded:
                    continue
                try:
                    found = item.stat(follow_symlinks=False)
                except OSError as error:
                    self._unseen(path, error)
                    continue
                was = known.get(path)
                if (
                    was is not None
                    and was.ctime == found.st_ctime_ns
                    and was.mtime == found.st_mtime_ns
                    and was.size == found.st_size
                    and was.inode == found.st_ino
                    and was.mode == found.st_mode
                    and was.ctime < settled
                ):
                    entries[path] = was
                elif stat.S_ISDIR(found.st_mode):
                    below.append(path)
                    self._take_directory(path, found.st_mode, was)
                else:
                    self._take(directory, item.name, path, found, was)
        return below

    def _take_directory(self, path: str, mode: int, was: Entry | None) -> None:
        if path not in self._unlisted:
            self._put(path, Entry(mode), was)

    def _take(self, directory: int, name: str, path: str, found: os.stat_result, was: Entry | None) -> None:
        kind = stat.S_IFMT(found.st_mode)
        try:
            if kind == stat.S_IFREG:
                entry = self._file(directory, name, path, found, was)
            elif kind == stat.S_IFLNK:
                entry = _entry(found, contents.hash_of_link(directory, name))
            else:
                self._notes.append(Note(SPECIAL, path))
                return
        except FileNotFoundError:
            return
        except OSError:
            self._notes.append(Note(UNREADABLE, path))
            entry = _unread(found)
        self._put(path, entry, was)

    def _file(self, directory: int, name: str, path: str, found: os.stat_result, was: Entry | None) -> Entry:
        if found.st_mode & (stat.S_ISUID | stat.S_ISGID):
            self._notes.append(Note(PRIVILEGED, path))
        if found.st_size > contents.LARGEST_FILE:
            self._notes.append(Note(LARGE, path))
            return _unread(found)
        affordable = found.st_size <= self._budget
        if was is not None and (not affordable or not was.is_hashed) and was == _entry(found, was.content):
            return was  # as well known as it was before; known in another way, it would seem to have changed
        if not affordable:
            self._notes.append(Note(OVER_BUDGET))
            return _unread(found)
        self._budget -= found.st_size
        return _entry(*contents.hash_of_file(directory, name, found))

    def _put(self, path: str, entry: Entry, was: Entry | None) -> None:
        if was == entry:
            self._entries[path] = was
        else:
            self._entries[path] = entry
            self._same = False

    def _unseen(self, path: str, error: OSError) -> None:
        """What vanished is gone; what is closed to us is not."""
        if error.errno not in _VANISHED:
            self._notes.append(Note(UNSEEN, path))
            self._closed.add(path)

    def _keep_what_is_closed(self) -> None:
        for path, entry in self._known.items():
            if path not in self._entries and self._is_closed(path):
                self._entries[path] = entry

    def _is_closed(self, path: str) -> bool:
        while path and path not in self._closed:
            path = path.rpartition("/")[0]
        return path in self._closed


def _entry(found: os.stat_result, content: str) -> Entry:
    return Entry(found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, content)


def _unread(found: os.stat_result) -> Entry:
    return _entry(found, f"{found.st_size} bytes of {found.st_mtime_ns}")
