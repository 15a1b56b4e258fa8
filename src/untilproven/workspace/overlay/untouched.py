"""Directories that a room has left as they were given to it are given to the next one: making and removing them is a
good part of what a room costs."""

import contextlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

from untilproven.store.spreading import flags_of

_PRIVATE = 0o700
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OF_A_LAYER = frozenset({"user.overlay.uuid" if os.getuid() else "trusted.overlay.uuid"})
"""What the kernel writes on the top of a layer when it is first mounted. No program sees it, and none can write it
through the layer; where there is no layer, it is an attribute like any other."""


class Untouched:
    """What was given to rooms by this process. `drop` takes away what cannot be given again."""

    def __init__(self, drop: Callable[[Path], None]) -> None:
        self._drop = drop
        self._given: dict[Path, tuple[int, ...]] = {}
        self._touched: set[Path] = set()

    def give(self, path: Path, mode: int, *, layer: bool = False) -> None:
        """An empty directory with this mode, in which nothing tells whether a program was there before; rooms see it
        as it is, or as what a layer has on top."""
        if not self._is_as_given(path, mode, _OF_A_LAYER if layer else frozenset()):
            self._drop(path)
            os.mkdir(path, _PRIVATE)  # noqa: PTH102  done for every room
            if mode != _PRIVATE:
                os.chmod(path, mode)  # noqa: PTH101  the same
            if layer:
                _mark(path)
        fd = os.open(path, _DIRECTORY)
        try:
            os.utime(fd)  # a time that a program can set could be a message to the next
            self._given[path] = _signs(fd)
        finally:
            os.close(fd)

    def _is_as_given(self, path: Path, mode: int, attributes: frozenset[str]) -> bool:
        given = self._given.pop(path, None)
        if given is None:
            return False
        is_same = given[0] == mode and _is_untouched(path, given, attributes)
        if not is_same:
            self._touched.add(path)
        return is_same

    def was_touched(self, path: Path) -> bool:
        """Whether any room has touched it: others are likely to do the same."""
        return path in self._touched


def _mark(path: Path) -> None:
    """As the kernel would when it first mounts the layer, and then it does not: whatever changes from now on, a program
    has changed it."""
    with contextlib.suppress(OSError):  # then the kernel cannot either
        for name in _OF_A_LAYER:
            os.setxattr(path, name, os.urandom(16))


def _is_untouched(path: Path, given: tuple[int, ...], attributes: frozenset[str]) -> bool:
    try:
        fd = os.open(path, _DIRECTORY)
    except OSError:
        return False
    try:
        return _signs(fd) == given and not os.listdir(fd) and attributes.issuperset(os.listxattr(fd))  # noqa: PTH208
    finally:
        os.close(fd)


def _signs(fd: int) -> tuple[int, ...]:
    """What a program changes of an empty directory. Whatever else it can do to one, it changes the last of the times,
    which it cannot set; but that may stand still for some milliseconds."""
    found = os.fstat(fd)
    mode, times = stat.S_IMODE(found.st_mode), (found.st_mtime_ns, found.st_ctime_ns)
    return mode, found.st_uid, found.st_gid, found.st_ino, found.st_size, flags_of(fd), *times
