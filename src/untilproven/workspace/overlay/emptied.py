"""What is /tmp for an agent serves the next one as well, if there is little to take out of it: making and removing
directories is a good part of what a room costs. Agents may leave one another messages; they have a HOME for that."""

import os
import stat
from pathlib import Path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FEW = 8


def emptied(temporary: Path, mode: int, inner: str, inner_mode: int) -> bool:
    """Whether nothing is in it now but this directory, and nothing in that; both with these modes and no attributes."""
    try:
        fd = os.open(temporary, _DIRECTORY)
    except OSError:
        return False
    try:
        return _is_plain(fd, mode) and os.listdir(fd) == [inner] and _is_emptied(fd, inner, inner_mode)  # noqa: PTH208
    finally:
        os.close(fd)


def _is_emptied(parent: int, name: str, mode: int) -> bool:
    try:
        fd = os.open(name, _DIRECTORY, dir_fd=parent)
    except OSError:
        return False
    try:
        if not _is_plain(fd, mode) or len(names := os.listdir(fd)) > _FEW:  # noqa: PTH208
            return False
        for each in names:
            os.unlink(each, dir_fd=fd)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def _is_plain(fd: int, mode: int) -> bool:
    return stat.S_IMODE(os.fstat(fd).st_mode) == mode and not os.listxattr(fd)
