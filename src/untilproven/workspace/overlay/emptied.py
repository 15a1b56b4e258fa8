"""What is /tmp for an agent serves the next one as well, if there is little to take out of it: making and removing
directories is a good part of what a room costs. Agents may leave one another messages; they have a HOME for that."""

import os
import stat
from itertools import islice
from pathlib import Path

from untilproven.store.spreading import flags_of

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FEW = 8


class Emptied:
    """A directory that holds nothing but another one, which is empty."""

    def __init__(self) -> None:
        self._signs: list[tuple[object, ...]] = []

    def remember(self, path: Path, inner: str) -> None:
        """As it was made."""
        self._signs = []
        for each in (path, path / inner):
            fd = os.open(each, _DIRECTORY)
            self._signs.append(_signs(fd))
            os.close(fd)

    def is_as_new(self, path: Path, inner: str) -> bool:
        """Whether nothing tells it now from what was remembered: a few files in the inner one are taken out."""
        if not self._signs:
            return False
        opened: list[int] = []
        try:
            opened.append(os.open(path, _DIRECTORY))
            if _signs(opened[0]) != self._signs[0] or _few_in(opened[0]) != [inner]:
                return False
            opened.append(os.open(inner, _DIRECTORY, dir_fd=opened[0]))
            names = _few_in(opened[1])
            if _signs(opened[1]) != self._signs[1] or len(names) > _FEW:
                return False
            for name in names:
                os.unlink(name, dir_fd=opened[1])
        except OSError:
            return False
        finally:
            for fd in opened:
                os.close(fd)
        return True


def _few_in(directory: int) -> list[str]:
    with os.scandir(directory) as listing:
        return [item.name for item in islice(listing, _FEW + 1)]


def _signs(fd: int) -> tuple[object, ...]:
    """What a program can change of a directory besides what is in it and its times."""
    found = os.fstat(fd)
    return stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, flags_of(fd), os.listxattr(fd)
