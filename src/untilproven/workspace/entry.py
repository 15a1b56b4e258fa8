"""One thing in a tree, and what could not be taken in."""

import stat
from typing import NamedTuple

import msgspec

_LENGTH_OF_A_HASH = 64


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A regular file, a link or a directory. Of a directory only the mode counts."""

    mode: int
    """With the kind of file, as stat gives it: 0o100644, 0o120777, 0o40755."""
    size: int = 0
    mtime: int = 0
    ctime: int = 0
    inode: int = 0
    content: str = ""
    """The SHA-256 of what is in the file, or of the link's target; for what is not read, its size and time."""

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_hashed(self) -> bool:
        return len(self.content) == _LENGTH_OF_A_HASH


Entries = dict[str, Entry]


class Note(NamedTuple):
    """Something in the tree that was not looked at, and why; without a path it is about the whole."""

    reason: str
    path: str = ""
