"""What a stack of layers shows, to somebody who is outside of it: the rules are those of the kernel's overlay."""

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from untilproven.process import beneath, patterns
from untilproven.process.patterns import Listing
from untilproven.workspace.overlay import attributes
from untilproven.workspace.overlay.beneath import DIRECTORY, seen

_TOP = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class View:
    """The layers, the topmost first; the last is the tree beneath. What is `hidden` shows nothing."""

    def __init__(self, layers: Sequence[Path], hidden: frozenset[str] = frozenset()) -> None:
        self._layers = layers
        self._hidden = hidden

    def look(self, path: PurePosixPath) -> os.stat_result | None:
        """What is known of a regular file; None if there is none, or a link is on the way to it."""
        with self._merged(path.parts[:-1]) as directories:
            found = self._file(directories, path)
            return found[1] if found else None

    def read(self, path: PurePosixPath, limit: int) -> bytes | None:
        """What a regular file says; None also if it is larger than that, or cannot be read."""
        with self._merged(path.parts[:-1]) as directories:
            found = self._file(directories, path)
            if found is None:
                return None
            try:
                return beneath.read_in(found[0], path.name, limit)
            except OSError:
                return None

    def find(self, pattern: str) -> list[PurePosixPath]:
        """The regular files whose paths match; a directory that cannot be listed has none."""
        return [PurePosixPath(path) for path in patterns.find(pattern, self._listing)]

    def _file(self, directories: list[int], path: PurePosixPath) -> tuple[int, os.stat_result] | None:
        if not path.name or path.name == ".." or str(path) in self._hidden:
            return None
        top = next(_stack(directories, path.name), None)
        return top if top and stat.S_ISREG(top[1].st_mode) else None

    def _listing(self, path: str) -> Listing:
        shown = Listing([], [])
        decided = set(self._hidden_in(path))
        with self._merged(PurePosixPath(path).parts) as directories:
            for directory in directories:
                is_layer = not self._is_bottom(directory, path)
                with contextlib.suppress(OSError), os.scandir(directory) as items:
                    for item in items:
                        if item.name not in decided:
                            decided.add(item.name)
                            _show(item, directory, shown, is_layer=is_layer)
        return shown

    def _is_bottom(self, directory: int, path: str) -> bool:
        try:
            return os.path.samestat(os.fstat(directory), (self._layers[-1] / path).lstat())
        except OSError:
            return False

    def _hidden_in(self, path: str) -> Iterator[str]:
        for hidden in self._hidden:
            parent, _, name = hidden.rpartition("/")
            if parent == path:
                yield name

    @contextlib.contextmanager
    def _merged(self, parts: tuple[str, ...]) -> Iterator[list[int]]:
        """A directory as its parts in the layers, the topmost first; none if it is no directory."""
        directories: list[int] = []
        try:
            for layer in self._layers:
                directories.append(os.open(layer, _TOP))  # noqa: PERF401  those that were opened must be closed
            for at, part in enumerate(parts):
                inner: list[int] = []
                try:
                    if part != ".." and not part.startswith("/") and "/".join(parts[: at + 1]) not in self._hidden:
                        _enter(directories, part, inner)
                finally:
                    _close(directories)
                    directories = inner
            yield directories
        finally:
            _close(directories)


def _stack(directories: list[int], name: str) -> Iterator[tuple[int, os.stat_result]]:
    """What a name stands for, from the top: all that follows a first directory shows in it, as far as that is one."""
    for directory in directories:
        try:
            found = seen(directory, name)
            if found is None:
                continue
            if attributes.is_marked_deleted(directory, name, found):
                return
        except (OSError, ValueError):
            return  # what cannot be looked at hides what is beneath it
        yield directory, found
        if not stat.S_ISDIR(found.st_mode) or attributes.is_opaque(directory, name):
            return


def _show(item: "os.DirEntry[str]", directory: int, shown: Listing, *, is_layer: bool) -> None:
    """By its kind alone where that is enough: what lies at the bottom is many files, and no marks."""
    if item.is_dir(follow_symlinks=False):
        shown.directories.append(item.name)
    elif item.is_file(follow_symlinks=False):
        found = item.stat(follow_symlinks=False) if is_layer else None
        if found is None or not attributes.is_marked_deleted(directory, item.name, found):
            shown.files.append(item.name)


def _enter(directories: list[int], name: str, inner: list[int]) -> None:
    for directory, found in _stack(directories, name):
        if not stat.S_ISDIR(found.st_mode):
            return
        try:
            inner.append(os.open(name, DIRECTORY, dir_fd=directory))
        except OSError:
            return  # what cannot be entered hides what is beneath it


def _close(directories: list[int]) -> None:
    while directories:
        os.close(directories.pop())
