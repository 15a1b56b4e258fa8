"""Bytes by what they are: whatever is kept to be brought back lies here under its hash."""

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import stat
from collections.abc import Collection, Iterator
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from untilproven.errors import Damaged
from untilproven.process import kernel
from untilproven.store import files
from untilproven.workspace.entry import Entry

_PRIVATE = 0o700
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = files.MIB
_CLONE = 0x40049409
"""FICLONE: the new file shares the old one's blocks until one of them is written to."""
_WORTH_CLONING = files.MIB
_SYNCED_ONE_BY_ONE = 16
_NO_LINK = {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS, errno.EACCES}


class Objects:
    """Bytes of files by their content, private to the user; written once, never changed.

    One process at a time writes here: whoever owns the place has a lock for it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._unsynced: list[str] = []

    def has(self, content: str) -> bool:
        """Whether the bytes that `Entry.content` names are here."""
        return (self.path / _name_of(content)).exists()

    def put(self, directory: int, name: str, entry: Entry) -> None:
        """Copy the bytes of a file, or a link's target, in; `Damaged` if they are not what the entry says."""
        if self._is_whole(entry):
            return
        if stat.S_ISLNK(entry.mode):
            self._write_down(os.fsencode(os.readlink(name, dir_fd=directory)), entry, name)
            return
        try:
            source = os.open(name, _READ, dir_fd=directory)
        except PermissionError:
            self._link(directory, name, entry)  # its mode forbids even its owner to read it
            return
        try:
            self._copy(source, entry, name)
        finally:
            os.close(source)

    def take(self, directory: int, name: str, entry: Entry) -> None:
        """The same for a file in a private layer that nobody will write to again: a second name, where that can be."""
        if self._is_whole(entry):
            return
        if stat.S_ISREG(entry.mode):
            try:
                self._link(directory, name, entry)
            except OSError as error:
                if error.errno not in _NO_LINK:
                    raise
            else:
                return
        self.put(directory, name, entry)

    def add(self, data: bytes, entry: Entry) -> None:
        """The same for bytes that are at hand."""
        if not self._is_whole(entry):
            self._write_down(data, entry, "what is kept")

    def bring(self, entry: Entry, directory: int, as_name: str) -> None:
        """Make a new file or link of what is here, with the entry's mode and time; `Damaged` if it is not whole."""
        with self._opened(entry) as source:
            if stat.S_ISLNK(entry.mode):
                target = _read_all(source)
                _verify(entry, sha256(target).hexdigest(), as_name)
                make_link(target, entry, directory, as_name)
                return
            copied = os.open(as_name, _NEW, 0o600, dir_fd=directory)
            try:
                _verify_copy(entry, copied, _pour(source, copied, entry.size), as_name)
                finish(copied, entry)
            except BaseException:
                os.unlink(as_name, dir_fd=directory)
                raise
            finally:
                os.close(copied)

    def read(self, entry: Entry, limit: int) -> bytes | None:
        """What is in an object; None if it is larger than that."""
        if entry.size > limit:
            return None
        with self._opened(entry) as source:
            data = _read_all(source)
        if entry.is_hashed:
            _verify(entry, sha256(data).hexdigest(), entry.content)
        return data

    def sync(self) -> None:
        """Whatever was put here since survives a power cut from now on."""
        names, self._unsynced = self._unsynced, []
        if not names:
            return
        with files.explained(self.path):
            if len(names) > _SYNCED_ONE_BY_ONE:
                kernel.libc().syncfs(ctypes.c_int(self._directory))
                return
            for name in names:
                fd = _opened(self._directory, name)
                try:
                    os.fsync(fd)
                finally:
                    os.close(fd)
            os.fsync(self._directory)

    def sweep(self, live: Collection[str]) -> int:
        """Remove all whose content is not named, and what a killed process left half; how many bytes that frees."""
        spared = {_name_of(content) for content in live}
        freed = 0
        with contextlib.suppress(FileNotFoundError), os.scandir(self.path) as listing:
            for item in list(listing):
                if item.name not in spared:
                    found = item.stat(follow_symlinks=False)
                    freed += found.st_size if found.st_nlink == 1 else 0
                    os.unlink(item.path)  # noqa: PTH108
        return freed

    def close(self) -> None:
        """Let go of the directory; it is opened again when it is needed."""
        if "_directory" in self.__dict__:
            os.close(self.__dict__.pop("_directory"))

    @cached_property
    def _directory(self) -> int:
        with files.explained(self.path):
            self.path.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            return os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def _is_whole(self, entry: Entry) -> bool:
        """A power cut can leave a name without its bytes."""
        try:
            found = os.stat(_name_of(entry.content), dir_fd=self._directory, follow_symlinks=False)
        except FileNotFoundError:
            return False
        if stat.S_ISREG(found.st_mode) and found.st_size == entry.size:
            return True
        os.unlink(_name_of(entry.content), dir_fd=self._directory)
        return False

    def _link(self, directory: int, name: str, entry: Entry) -> None:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode) or found.st_size != entry.size:
            raise _not_what_it_was(name)
        own = _name_of(entry.content)
        os.link(name, own, src_dir_fd=directory, dst_dir_fd=self._directory, follow_symlinks=False)
        self._unsynced.append(own)

    def _copy(self, source: int, entry: Entry, name: str) -> None:
        if not stat.S_ISREG(os.fstat(source).st_mode):
            raise _not_what_it_was(name)
        with self._new(entry) as copied:
            total = _pour(source, copied, entry.size)
            if entry.is_hashed:
                _verify_copy(entry, copied, total, name)
            else:
                found = os.fstat(source)
                if entry.content != f"{found.st_size} bytes of {found.st_mtime_ns}":
                    raise _not_what_it_was(name)

    def _write_down(self, data: bytes, entry: Entry, name: str) -> None:
        if entry.is_hashed:
            _verify(entry, sha256(data).hexdigest(), name)
        with self._new(entry) as copied:
            files.write_all(copied, data)

    @contextlib.contextmanager
    def _new(self, entry: Entry) -> Iterator[int]:
        """A file that becomes the object once it is whole."""
        own, temporary = _name_of(entry.content), f".{os.urandom(8).hex()}"
        fd = os.open(temporary, _NEW, 0o600, dir_fd=self._directory)
        try:
            try:
                yield fd
            finally:
                os.close(fd)
            os.rename(temporary, own, src_dir_fd=self._directory, dst_dir_fd=self._directory)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=self._directory)
            raise
        self._unsynced.append(own)

    @contextlib.contextmanager
    def _opened(self, entry: Entry) -> Iterator[int]:
        try:
            fd = _opened(self._directory, _name_of(entry.content))
        except FileNotFoundError:
            raise Damaged(f"{self.path / _name_of(entry.content)} is missing: what was kept is not there") from None
        try:
            yield fd
        finally:
            os.close(fd)


def make_link(target: bytes, entry: Entry, directory: int, as_name: str) -> None:
    """A link to there, with the entry's time."""
    os.symlink(target, os.fsencode(as_name), dir_fd=directory)
    os.utime(as_name, ns=(entry.mtime, entry.mtime), dir_fd=directory, follow_symlinks=False)


def finish(fd: int, entry: Entry) -> None:
    """Give a new file the entry's mode and time."""
    os.fchmod(fd, stat.S_IMODE(entry.mode))
    os.utime(fd, ns=(entry.mtime, entry.mtime))


def _name_of(content: str) -> str:
    if re.fullmatch("[0-9a-f]{64}", content):
        return content
    return f"unread-{sha256(content.encode()).hexdigest()}"


def _opened(directory: int, name: str) -> int:
    try:
        return os.open(name, _READ, dir_fd=directory)
    except PermissionError:
        mode = stat.S_IMODE(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
        os.chmod(name, mode | 0o400, dir_fd=directory)
        try:
            return os.open(name, _READ, dir_fd=directory)
        finally:
            os.chmod(name, mode, dir_fd=directory)


def _pour(source: int, target: int, size: int) -> str:
    """Copy all; the hash of it, or nothing if the file system did it without us."""
    if size >= _WORTH_CLONING:
        with contextlib.suppress(OSError):
            fcntl.ioctl(target, _CLONE, source)
            return ""
    total = sha256()
    while data := os.read(source, _CHUNK):
        total.update(data)
        files.write_all(target, data)
    return total.hexdigest()


def _read_all(fd: int) -> bytes:
    parts = []
    while data := os.read(fd, _CHUNK):
        parts.append(data)
    return b"".join(parts)


def _verify_copy(entry: Entry, copied: int, total: str, name: str) -> None:
    if not entry.is_hashed:
        if os.fstat(copied).st_size != entry.size:
            raise _not_what_it_was(name)
        return
    if not total:
        with open(f"/proc/self/fd/{copied}", "rb", buffering=0) as again:  # noqa: PTH123  written to only
            total = _hash_of(again.fileno())
    _verify(entry, total, name)


def _hash_of(fd: int) -> str:
    total = sha256()
    while data := os.read(fd, _CHUNK):
        total.update(data)
    return total.hexdigest()


def _verify(entry: Entry, total: str, name: str) -> None:
    if total != entry.content:
        raise _not_what_it_was(name)


def _not_what_it_was(name: str) -> Damaged:
    return Damaged(
        f"{name!r} is not what it was when it was looked at",
        hint="somebody has written to it since, or the disk has lost it",
    )
