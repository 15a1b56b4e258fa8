"""Taking in one thing of a tree, as a walk does, without following it anywhere."""

import os
import stat

from untilproven.workspace import contents
from untilproven.workspace.entry import Entry, Note
from untilproven.workspace.walk import BUDGET, LARGE, OVER_BUDGET, UNREADABLE

_KINDS = {stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR}
_READABLE = 0o400


class Reading:
    """Reads as much as a walk would; the rest is known by size and time."""

    def __init__(self) -> None:
        self.notes: set[Note] = set()
        self._budget = BUDGET

    def entry(self, directory: int, name: str, found: os.stat_result, path: str, *, ours: bool = False) -> Entry:
        """What a name in a directory is. If it is ours, a mode that forbids to read it is no obstacle."""
        kind = stat.S_IFMT(found.st_mode)
        if kind == stat.S_IFDIR:
            return Entry(found.st_mode)
        if kind == stat.S_IFLNK:
            return entry_of(found, contents.hash_of_link(directory, name))
        if kind != stat.S_IFREG:
            return entry_of(found, "")
        if found.st_size > contents.LARGEST_FILE:
            self.notes.add(Note(LARGE, path))
            return unread(found)
        if found.st_size > self._budget:
            self.notes.add(Note(OVER_BUDGET))
            return unread(found)
        self._budget -= found.st_size
        try:
            return self._hashed(directory, name, found, ours=ours)
        except PermissionError:
            self.notes.add(Note(UNREADABLE, path))
            return unread(found)

    def _hashed(self, directory: int, name: str, found: os.stat_result, *, ours: bool) -> Entry:
        if not ours or found.st_mode & _READABLE:
            return entry_of(*contents.hash_of_file(directory, name, found))
        os.chmod(name, stat.S_IMODE(found.st_mode) | _READABLE, dir_fd=directory)
        try:
            return entry_of(found, contents.hash_of_file(directory, name, found)[1])
        finally:
            os.chmod(name, stat.S_IMODE(found.st_mode), dir_fd=directory)


def is_known_kind(found: os.stat_result) -> bool:
    """A file, a link or a directory."""
    return stat.S_IFMT(found.st_mode) in _KINDS


def entry_of(found: os.stat_result, content: str) -> Entry:
    return Entry(found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, content)


def unread(found: os.stat_result) -> Entry:
    return entry_of(found, f"{found.st_size} bytes of {found.st_mtime_ns}")


def looks_like(entry: Entry, found: os.stat_result, settled: int) -> bool:
    """Whether nothing has touched it since: of a directory only the mode counts."""
    if entry.is_directory:
        return entry.mode == found.st_mode
    return entry.ctime < settled and entry == entry_of(found, entry.content)


def is_same(one: Entry | None, other: Entry | None) -> bool:
    """Whether two are alike for whoever reads them."""
    if one is None or other is None:
        return one is other
    return one.mode == other.mode and one.content == other.content
