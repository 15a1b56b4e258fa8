"""Directories that a room has left as they were given to it are given to the next one: making and removing them is a
good part of what a room costs."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from untilproven.workspace.overlay.spreading import flags_of

_PRIVATE = 0o700
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OF_THE_LAYER = frozenset({"trusted.overlay.uuid", "user.overlay.uuid"})
"""What the kernel writes on the top of a layer when it is first mounted, and no program sees."""


class Untouched:
    """What was given to rooms by this process. `drop` takes away what cannot be given again."""

    def __init__(self, drop: Callable[[Path], None]) -> None:
        self._drop = drop
        self._given: dict[Path, tuple[int, ...]] = {}

    def give(self, path: Path, mode: int) -> None:
        """An empty directory with this mode, in which nothing tells whether a program was there before."""
        if not self._is_as_given(path, mode):
            self._drop(path)
            os.mkdir(path, _PRIVATE)  # noqa: PTH102  done for every room
            if mode != _PRIVATE:
                os.chmod(path, mode)  # noqa: PTH101  the same
        fd = os.open(path, _DIRECTORY)
        try:
            os.utime(fd)  # a time that a program can set could be a message to the next
            self._given[path] = _signs(fd)
        finally:
            os.close(fd)

    def _is_as_given(self, path: Path, mode: int) -> bool:
        given = self._given.pop(path, None)
        if given is None or given[0] != mode:
            return False
        try:
            fd = os.open(path, _DIRECTORY)
        except OSError:
            return False
        try:
            return _signs(fd) == given and not os.listdir(fd) and _OF_THE_LAYER.issuperset(os.listxattr(fd))  # noqa: PTH208
        finally:
            os.close(fd)


def _signs(fd: int) -> tuple[int, ...]:
    """All that a program can change of an empty directory, but for its attributes."""
    found = os.fstat(fd)
    mode = stat.S_IMODE(found.st_mode)
    return mode, found.st_uid, found.st_gid, found.st_ino, found.st_size, found.st_mtime_ns, flags_of(fd)
