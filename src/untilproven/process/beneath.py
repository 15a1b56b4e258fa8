"""Files beneath a directory, seen from outside: no link is followed, nothing is waited for, nothing large is read."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from untilproven.process import patterns
from untilproven.process.patterns import Listing

_TOP = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_BELOW = _TOP | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def look(root: Path, path: PurePosixPath) -> os.stat_result | None:
    """What is known of a regular file; None if there is none, or a link is on the way to it."""
    try:
        with _directory(root, path.parts[:-1]) as directory:
            found = os.stat(path.name, dir_fd=directory, follow_symlinks=False)
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def read(root: Path, path: PurePosixPath, limit: int) -> bytes | None:
    """What a regular file says; None also if it is larger than that."""
    try:
        with _directory(root, path.parts[:-1]) as directory:
            return read_in(directory, path.name, limit)
    except (OSError, ValueError):
        return None


def read_in(directory: int, name: str, limit: int) -> bytes | None:
    """The same for a name in an open directory; what cannot be opened raises."""
    fd = os.open(name, _FILE, dir_fd=directory)
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_size > limit:
            return None
        data = file.read(min(found.st_size, limit) + 1)
    return data if len(data) <= limit else None


def find(root: Path, pattern: str) -> list[PurePosixPath]:
    """The regular files whose paths match; a directory that cannot be listed has none."""

    def listing(path: str) -> Listing:
        names = Listing([], [])
        try:
            with _directory(root, PurePosixPath(path).parts) as directory, os.scandir(directory) as items:
                for item in items:
                    if item.is_dir(follow_symlinks=False):
                        names.directories.append(item.name)
                    elif item.is_file(follow_symlinks=False):
                        names.files.append(item.name)
        except OSError:
            return Listing([], [])
        return names

    return [PurePosixPath(path) for path in patterns.find(pattern, listing)]


@contextlib.contextmanager
def _directory(root: Path, parts: tuple[str, ...]) -> Iterator[int]:
    directory = os.open(root, _TOP)
    try:
        for part in parts:
            if part == ".." or part.startswith("/"):
                raise ValueError(f"{part} leads out of the directory")
            inner = os.open(part, _BELOW, dir_fd=directory)
            os.close(directory)
            directory = inner
        yield directory
    finally:
        os.close(directory)
