"""Going down into directories by descriptor, so that no name on the way can lead anywhere else."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

MOST_HELD = 64
"""How many directories stay open for those that wait below them; others are reached from the root again."""

_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _Held:
    """An open directory with others below it that wait; closed, its descriptor is -1."""

    __slots__ = ("fd", "waiting")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.waiting = 0

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Descent:
    """Gives the root, then every directory that was named to `below`, each with a descriptor or why there is none."""

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._here = _Held(os.dup(self._root))
        self._held: dict[_Held, None] = {}
        self._waiting: list[tuple[_Held, str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for held in (self._here, *self._held):
            held.close()
        os.close(self._root)

    def __iter__(self) -> Iterator[tuple[str, int | OSError]]:
        yield "", self._here.fd
        self._hold()
        while self._waiting:
            parent, path = self._waiting.pop()
            try:
                fd = self._enter(parent, path)
            except OSError as error:
                self._release(parent)
                yield path, error
                continue
            self._release(parent)
            self._here = _Held(fd)
            yield path, fd
            self._hold()

    def below(self, paths: Sequence[str]) -> None:
        """Directories in the one that was given last, by their paths from the root."""
        self._here.waiting = len(paths)
        self._waiting.extend((self._here, path) for path in paths)

    def _enter(self, parent: _Held, path: str) -> int:
        if parent.fd >= 0:
            return os.open(path.rpartition("/")[2], _FLAGS, dir_fd=parent.fd)
        directory = os.dup(self._root)
        for part in path.split("/"):
            try:
                inner = os.open(part, _FLAGS, dir_fd=directory)
            finally:
                os.close(directory)
            directory = inner
        return directory

    def _hold(self) -> None:
        """Keep the one given last if others wait below it; once too many are kept, the oldest is closed."""
        if not self._here.waiting:
            self._here.close()
            return
        self._held[self._here] = None
        if len(self._held) > MOST_HELD:
            oldest = next(iter(self._held))
            oldest.close()
            del self._held[oldest]

    def _release(self, parent: _Held) -> None:
        parent.waiting -= 1
        if not parent.waiting:
            parent.close()
            self._held.pop(parent, None)
