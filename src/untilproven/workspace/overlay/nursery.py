"""Where the directories of an iteration are made.

A file system may look at all that was deleted beside a new file of late before it makes it, and every room makes and
deletes dozens. So those of one iteration lie together, and away from those of the last.
"""

import contextlib
import fcntl
import os
import struct
from pathlib import Path

_GET_FLAGS, _SET_FLAGS, _SPREAD = 0x80086601, 0x40086602, 0x20000
"""Of ext2 and its successors, on machines of 64 bits: directories in this one have nothing to do with each other."""


def spread(path: Path) -> None:
    """Have the directories in one lie apart, where the file system knows how."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            (flags,) = struct.unpack("l", fcntl.ioctl(fd, _GET_FLAGS, struct.pack("l", 0)))
            if not flags & _SPREAD:
                fcntl.ioctl(fd, _SET_FLAGS, struct.pack("l", flags | _SPREAD))
    finally:
        os.close(fd)


class Nursery:
    """A directory in which others are made, to be moved to where they belong; they stay close to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._born = f"{path}/born"

    def make(self, path: str) -> None:
        """A new directory; without a nursery, anywhere."""
        try:
            os.mkdir(self._born, 0o700)  # noqa: PTH102  done for every iteration
        except FileNotFoundError:
            os.mkdir(path, 0o700)  # noqa: PTH102  the same
        else:
            os.rename(self._born, path)  # noqa: PTH104  the same
