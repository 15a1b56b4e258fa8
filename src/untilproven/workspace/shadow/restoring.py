"""Putting a tree back: only what differs is touched, and it can be stopped anywhere and done again."""

import ctypes
import errno
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from untilproven.errors import Damaged
from untilproven.process import kernel
from untilproven.store import files
from untilproven.workspace.entry import Entries, Entry
from untilproven.workspace.overlay.beneath import Beneath, seen, split

_OURS = 0o700
_REFUSED = {errno.EACCES, errno.EPERM, errno.ENOTEMPTY, errno.EISDIR, errno.EEXIST}

Save = Callable[[int, str, str, bool], None]
"""Called before a file goes: the directory it is in, its name, its path, and whether it has changed since it was looked
at."""


def differs(now: Entry | None, wanted: Entry | None) -> bool:
    """Whether something is to be done to make one of the other."""
    if now is wanted:
        return False
    if now is None or wanted is None or now.mode != wanted.mode or now.content != wanted.content:
        return True
    return not now.is_directory and now.mtime != wanted.mtime


class Restoration:
    """From the tree as it was found `now` to the one that is `wanted`."""

    def __init__(
        self,
        root: Path,
        now: Mapping[str, Entry],
        wanted: Mapping[str, Entry],
        *,
        bring: Callable[[str, Entry, int, str], None],
        save: Save,
        opened: Mapping[str, int] | None = None,
    ) -> None:
        self._root = root
        self._now = now
        self._wanted = wanted
        self._bring = bring
        self._save = save
        self._opened = dict(opened or {})
        self._changed = sorted(path for path in now.keys() | wanted.keys() if differs(now.get(path), wanted.get(path)))
        self.left: set[str] = set()
        """What could not be put back."""

    def carry_out(self) -> None:
        """First what goes, from the deepest up; then directories, then what is in them, then modes."""
        with files.explained(self._root), Beneath(self._root) as tree:
            for path in sorted({split(path)[0] for path in self._changed} - {""}):
                self._try(self._open, tree, path)
            for path in reversed(self._changed):
                self._try(self._remove, tree, path)
            for path in self._changed:
                self._try(self._make_directory, tree, path)
            for at, path in enumerate(self._changed):
                self._try(self._put, tree, path, f".ralph-restore-{at}")
            directories = {path for path in self._changed if _is_directory(self._wanted.get(path))}
            for path in sorted(directories | self._opened.keys(), reverse=True):
                self._try(self._set_mode, tree, path)
            if self._changed:
                kernel.libc().syncfs(ctypes.c_int(tree.root))

    def _try(self, what: Callable[..., None], tree: Beneath, path: str, *further: str) -> None:
        """What the file system refuses for one path is no reason to leave the others."""
        try:
            what(tree, path, *further)
        except (Damaged, NotADirectoryError, FileNotFoundError):
            self.left.add(path)
        except OSError as error:
            if error.errno not in _REFUSED:
                raise
            self.left.add(path)

    def _open(self, tree: Beneath, path: str) -> None:
        found = tree.seen(path)
        if found is None or not stat.S_ISDIR(found.st_mode) or found.st_mode & _OURS == _OURS or not os.getuid():
            return
        self._opened.setdefault(path, stat.S_IMODE(found.st_mode))
        self._chmod(tree, path, found.st_mode | _OURS)

    def _remove(self, tree: Beneath, path: str) -> None:
        """What is to be nothing, or a directory instead of a file, or the other way round."""
        now, wanted = self._now.get(path), self._wanted.get(path)
        if now is None or (wanted is not None and wanted.is_directory == now.is_directory):
            return
        parent, name = split(path)
        directory = tree.directory_if_any(parent)
        found = seen(directory, name)
        if directory is None or found is None:
            return
        if stat.S_ISDIR(found.st_mode) != now.is_directory:
            self.left.add(path)
            return
        if now.is_directory:
            os.rmdir(name, dir_fd=directory)
        else:
            self._save(directory, name, path, _has_changed(now, found))
            os.unlink(name, dir_fd=directory)
        self._opened.pop(path, None)

    def _make_directory(self, tree: Beneath, path: str) -> None:
        if not _is_directory(self._wanted.get(path)) or path in self.left:
            return
        parent, name = split(path)
        directory = tree.directory(parent)
        found = seen(directory, name)
        if found is None:
            os.mkdir(name, _OURS, dir_fd=directory)
            _own_like(directory, name, os.fstat(directory))
        elif not stat.S_ISDIR(found.st_mode):
            self.left.add(path)
        elif os.getuid() and found.st_mode & _OURS != _OURS:
            self._chmod(tree, path, found.st_mode | _OURS)

    def _put(self, tree: Beneath, path: str, temporary: str) -> None:
        now, wanted = self._now.get(path), self._wanted.get(path)
        if wanted is None or wanted.is_directory or path in self.left:
            return
        parent, name = split(path)
        directory = tree.directory(parent)
        found = seen(directory, name)
        if found is not None and now is not None and _is_content(now, wanted) and not _has_changed(now, found):
            if stat.S_ISREG(wanted.mode):
                os.chmod(name, stat.S_IMODE(wanted.mode), dir_fd=directory)
            os.utime(name, ns=(wanted.mtime, wanted.mtime), dir_fd=directory, follow_symlinks=False)
            self._opened.pop(path, None)
            return
        self._bring(path, wanted, directory, temporary)
        try:
            _own_like(directory, temporary, found or os.fstat(directory), wanted)
            if found is not None:
                self._save(directory, name, path, now is None or _has_changed(now, found))
            os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        except OSError:
            os.unlink(temporary, dir_fd=directory)
            raise
        self._opened.pop(path, None)

    def _set_mode(self, tree: Beneath, path: str) -> None:
        wanted = self._wanted.get(path)
        found = tree.seen(path)
        if found is None or stat.S_ISLNK(found.st_mode):
            return
        mode = stat.S_IMODE(wanted.mode) if wanted is not None else self._opened.get(path, found.st_mode)
        if stat.S_IMODE(found.st_mode) != stat.S_IMODE(mode):
            self._chmod(tree, path, mode)

    def _chmod(self, tree: Beneath, path: str, mode: int) -> None:
        parent, name = split(path)
        os.chmod(name, stat.S_IMODE(mode), dir_fd=tree.directory(parent))


def changes(now: Entries, wanted: Entries) -> bool:
    """Whether there is anything to do."""
    return len(now) != len(wanted) or any(differs(now.get(path), entry) for path, entry in wanted.items())


def _is_directory(entry: Entry | None) -> bool:
    return entry is not None and entry.is_directory


def _is_content(now: Entry, wanted: Entry) -> bool:
    return stat.S_IFMT(now.mode) == stat.S_IFMT(wanted.mode) and now.content == wanted.content


def _has_changed(now: Entry, found: os.stat_result) -> bool:
    return (now.inode, now.size, now.mtime) != (found.st_ino, found.st_size, found.st_mtime_ns)


def _own_like(directory: int, name: str, like: os.stat_result, entry: Entry | None = None) -> None:
    """Only root can give files away; giving one away takes its mode's power from it."""
    if os.getuid() or not (like.st_uid or like.st_gid):
        return
    os.chown(name, like.st_uid, like.st_gid, dir_fd=directory, follow_symlinks=False)
    if entry is not None and stat.S_ISREG(entry.mode):
        os.chmod(name, stat.S_IMODE(entry.mode), dir_fd=directory)
