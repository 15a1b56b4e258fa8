"""Reaching things beneath a directory by descriptor: no link on the way is followed, and no path is too long."""

import errno
import os
from pathlib import Path
from types import TracebackType
from typing import Self

_ROOT = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
DIRECTORY = _ROOT | os.O_NOFOLLOW


def split(path: str) -> tuple[str, str]:
    """The directory a path lies in, and its name there."""
    parent, _, name = path.rpartition("/")
    return parent, name


def opened(root: int, path: str, *, force: bool = False) -> int:
    """A directory beneath another one; the root itself for the empty path. By force, modes are no obstacle."""
    directory = os.dup(root)
    for part in path.split("/") if path else ():
        try:
            inner = _forced(part, directory) if force else os.open(part, DIRECTORY, dir_fd=directory)
        finally:
            os.close(directory)
        directory = inner
    return directory


def _forced(name: str, parent: int) -> int:
    try:
        return os.open(name, DIRECTORY, dir_fd=parent)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=parent)
        return os.open(name, DIRECTORY, dir_fd=parent)


def seen(directory: int | None, name: str) -> os.stat_result | None:
    """What stat says of a name; None if there is no such thing."""
    if directory is None:
        return None
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None


class Beneath:
    """A directory and all below it; the one that was asked for last stays open for the next question."""

    def __init__(self, root: Path | int, *, force: bool = False) -> None:
        self.root = os.dup(root) if isinstance(root, int) else os.open(root, _ROOT)
        self._force = force
        self._path: str | None = None
        self._fd = -1

    def directory(self, path: str) -> int:
        """Open until the next one is asked for."""
        if path != self._path:
            self._forget()
            self._fd = opened(self.root, path, force=self._force)
            self._path = path
        return self._fd

    def directory_if_any(self, path: str) -> int | None:
        try:
            return self.directory(path)
        except OSError as error:
            if error.errno in _NOT_THERE:
                return None
            raise

    def seen(self, path: str) -> os.stat_result | None:
        parent, name = split(path)
        return seen(self.directory_if_any(parent), name)

    def _forget(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd, self._path = -1, None

    def close(self) -> None:
        self._forget()
        os.close(self.root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
