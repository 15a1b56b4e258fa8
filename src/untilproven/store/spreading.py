"""Having the directories in one lie apart on the disk."""

import contextlib
import fcntl
import os
import struct
from pathlib import Path

_GET_FLAGS, _SET_FLAGS, _SPREAD = 0x80086601, 0x40086602, 0x20000
"""Of ext2 and its successors, on machines of 64 bits: directories in this one have nothing to do with each other."""


def spread(path: Path) -> None:
    """From now on, where the file system knows how. What is deleted in one of them then delays nobody who makes a file
    in another: ext4 without a journal looks at all that was deleted nearby of late, each time."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            flags = _flags(fd)
            if not flags & _SPREAD:
                fcntl.ioctl(fd, _SET_FLAGS, struct.pack("l", flags | _SPREAD))
    finally:
        os.close(fd)


def flags_of(fd: int) -> int:
    """What `chattr` sets; 0 where the file system has none."""
    try:
        return _flags(fd)
    except OSError:
        return 0


def _flags(fd: int) -> int:
    (flags,) = struct.unpack("l", fcntl.ioctl(fd, _GET_FLAGS, struct.pack("l", 0)))
    return int(flags)
