"""Reading what may be hostile, and writing so that a kill at any instant leaves the old file or the new one."""

import contextlib
import errno
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from untilproven.errors import Damaged, Foreign, StoreFailed

MIB = 1024 * 1024
READ_LIMIT = 64 * MIB


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file to read: no link is followed, no pipe waited for."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _link(path) from error
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise Damaged(f"{path} is not a regular file")
    return os.fdopen(fd, "rb")


def read(path: Path, limit: int = READ_LIMIT) -> bytes:
    """The bytes of a regular file, if it is not larger than can be believed."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise Damaged(f"{path} has {size} bytes; more than {limit} is not believed")
        return file.read(min(size + 1, limit))  # asking for more would make room for it first


def append_to(path: Path) -> BinaryIO:
    """Open a file to add to it; no link is followed."""
    with explained(path):
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    return os.fdopen(fd, "ab")


def replace(path: Path, data: bytes, *, durable: bool, keep_previous: bool = False, spare: Path | None = None) -> None:
    """Put a file in place atomically. The caller holds the lock that makes it the only writer.

    `durable` also survives a power cut; what can be derived again from the journal need not. `spare` is a file that
    nobody needs any more: writing over it is quicker than making a new one.
    """
    name = str(path)  # text, because a running loop does this all the time
    parent, _, last = name.rpartition("/")
    temporary = f"{parent}/.{last}.tmp" if parent else f".{last}.tmp"
    with explained(path):
        try:
            fd = _opened_again(spare, temporary) if spare else -1
            if fd < 0:
                fd = _opened_anew(temporary)
            try:
                write_all(fd, data)
                if spare:
                    os.ftruncate(fd, len(data))
                if durable:
                    os.fsync(fd)
            finally:
                os.close(fd)
            if keep_previous:
                _keep(path)
            os.replace(temporary, name)  # noqa: PTH105
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
            raise
        if durable:
            sync_directory(path.parent)


def _opened_anew(temporary: str) -> int:
    """What somebody left there who was killed is in nobody's way."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(temporary, flags, 0o644)
    except FileExistsError:
        os.unlink(temporary)  # noqa: PTH108
        return os.open(temporary, flags, 0o644)


def _opened_again(spare: Path, temporary: str) -> int:
    """The spare file under its new name, to be written over; -1 if there is none, or somebody else has a name for it
    too."""
    try:
        os.rename(spare, temporary)  # noqa: PTH104
        fd = os.open(temporary, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        return -1
    found = os.fstat(fd)
    if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
        return fd
    os.close(fd)
    os.unlink(temporary)  # noqa: PTH108
    return -1


def _keep(path: Path) -> None:
    """The file as it was becomes `.bak`, with no moment at which it is missing."""
    backup, temporary = backup_of(path), path.with_name(f".{path.name}.bak.tmp")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    try:
        os.link(path, temporary, follow_symlinks=False)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS, errno.EXDEV}:
            raise
        # A file system without hard links.
        _copy(path, temporary)
    temporary.replace(backup)


def _copy(path: Path, target: Path) -> None:
    fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        write_all(fd, read(path))
    finally:
        os.close(fd)


def backup_of(path: Path) -> Path:
    return path.with_name(path.name + ".bak")


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def sync_directory(path: Path) -> None:
    """Make a new name in this directory survive a power cut."""
    with explained(path):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def make_directory(path: Path, mode: int = 0o755) -> None:
    """Make a directory if it is missing; a link or a file in its place is refused."""
    with explained(path):
        while True:
            try:
                return path.mkdir(mode)
            except FileExistsError:
                refuse_link(path)
                if path.is_dir():
                    return None
                if os.path.lexists(path):
                    raise StoreFailed(f"{path} is in the way: a directory is needed there") from None
            # It was there and has just been removed by somebody else.


def refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise _link(path)


def _link(path: Path) -> Foreign:
    return Foreign(f"{path} is a symbolic link; it is not followed", hint=f"look at it: ls -l {path}")


class explained:  # noqa: N801  used like a function, and too often for a generator
    """Turn what the file system says into what the user can do."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):
            raise _explain(error, self._path) from error


def _explain(error: OSError, path: Path) -> StoreFailed:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return StoreFailed(
                f"no room left to write {path}",
                hint=f"nothing was lost; free some space (df {path.parent}) and run the command again",
            )
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return StoreFailed(
                f"cannot write {path}: {os.strerror(error.errno)}",
                hint=f"check who owns it and how it is mounted: ls -ld {path.parent}",
            )
        case errno.ENOENT | errno.ENOTDIR | errno.ESTALE:
            return StoreFailed(
                f"{path.parent} is gone: it was moved or deleted",
                hint="put it back, or start again in the directory where the project is now",
            )
    return StoreFailed(f"cannot write {path}: {error.strerror or error}")
