"""Copying one thing from a directory to another, by descriptor."""

import os
import stat
from hashlib import sha256

from untilproven.workspace.overlay import attributes

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1024 * 1024
_POWER = stat.S_ISUID | stat.S_ISGID


def copy(source: int, name: str, target: int, as_name: str, *, sync: bool = False) -> str:
    """Copy a regular file or a link with its owner, mode and time; the SHA-256 of what was copied.

    A mode that forbids us to read our own file is no obstacle.
    """
    found = os.stat(name, dir_fd=source, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        return _copy_link(source, name, target, as_name, found)
    fd = _opened(source, name, found)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(f"{name} is no regular file any more")
        copied = os.open(as_name, _NEW, 0o600, dir_fd=target)
        try:
            total = _pour(fd, copied)
            _own(copied, found)
            attributes.copy_users(fd, copied)
            os.fchmod(copied, stat.S_IMODE(found.st_mode) & ~_POWER)
            os.utime(copied, ns=(found.st_atime_ns, found.st_mtime_ns))
            if sync:
                os.fsync(copied)
        finally:
            os.close(copied)
    finally:
        os.close(fd)
    return total


def _copy_link(source: int, name: str, target: int, as_name: str, found: os.stat_result) -> str:
    leads_to = os.readlink(name, dir_fd=source)
    os.symlink(leads_to, as_name, dir_fd=target)
    if not os.getuid():
        os.chown(as_name, found.st_uid, found.st_gid, dir_fd=target, follow_symlinks=False)
    os.utime(as_name, ns=(found.st_atime_ns, found.st_mtime_ns), dir_fd=target, follow_symlinks=False)
    return sha256(os.fsencode(leads_to)).hexdigest()


def make_directory(target: int, name: str, found: os.stat_result) -> None:
    """A directory like another one; it can be written to, its own mode comes when it is filled."""
    os.mkdir(name, 0o700, dir_fd=target)
    if not os.getuid():
        os.chown(name, found.st_uid, found.st_gid, dir_fd=target, follow_symlinks=False)


def _opened(source: int, name: str, found: os.stat_result) -> int:
    try:
        return os.open(name, _READ, dir_fd=source)
    except PermissionError:
        os.chmod(name, stat.S_IMODE(found.st_mode) | 0o400, dir_fd=source)
        try:
            return os.open(name, _READ, dir_fd=source)
        finally:
            os.chmod(name, stat.S_IMODE(found.st_mode), dir_fd=source)


def _pour(source: int, target: int) -> str:
    total = sha256()
    while data := os.read(source, _CHUNK):
        total.update(data)
        view = memoryview(data)
        while view:
            view = view[os.write(target, view) :]
    return total.hexdigest()


def _own(fd: int, like: os.stat_result) -> None:
    """Only root can give files away, and only root finds some in its layer that are another's."""
    if not os.getuid():
        os.fchown(fd, like.st_uid, like.st_gid)
