"""Reading what may be hostile, as far as it must be read to know it again."""

import os
import stat
from hashlib import sha256

from untilproven.store.files import MIB

LARGEST_FILE = 64 * MIB
_CHUNK = MIB
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OF_NOTHING = sha256().hexdigest()


class NotWhatItWas(OSError):
    """It was a regular file of a size that can be read, a moment ago."""


def hash_of_link(directory: int, name: str) -> str:
    return sha256(os.fsencode(os.readlink(name, dir_fd=directory))).hexdigest()


def hash_of_file(directory: int, name: str, seen: os.stat_result) -> tuple[os.stat_result, str]:
    """What stat says when it is opened, and the hash of what is read from then on."""
    if not seen.st_size:
        return seen, _OF_NOTHING
    fd = os.open(name, _FLAGS, dir_fd=directory)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise NotWhatItWas("it is no regular file any more")
        return found, _hash_of_rest(fd, found.st_size)
    finally:
        os.close(fd)


def _hash_of_rest(fd: int, size: int) -> str:
    data = os.read(fd, min(size, _CHUNK) + 1)
    if len(data) == size:  # one more byte was asked for, so this is all
        return sha256(data).hexdigest()
    total, left = sha256(data), LARGEST_FILE - len(data)
    while data and left >= 0:
        data = os.read(fd, _CHUNK)
        total.update(data)
        left -= len(data)
    if data:
        raise NotWhatItWas("it grows faster than it can be read")
    return total.hexdigest()
