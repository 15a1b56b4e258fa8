"""What the tree was before somebody was let at it: on disk first, so that any process can put it back."""

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from untilproven.errors import Damaged
from untilproven.store import files
from untilproven.workspace import manifest
from untilproven.workspace.manifest import Manifest

_LARGEST = 64 * files.MIB


class Before(NamedTuple):
    """A tree, and what a walk does not tell of it."""

    tree: Manifest
    mode: int
    """Of the root itself."""
    special: frozenset[str]
    """What is neither file, link nor directory, and the user's own."""
    closed: frozenset[str]
    """What could not be read or looked into."""


class _Stored(msgspec.Struct, frozen=True, array_like=True, tag="mark-1"):
    mode: int
    special: tuple[bytes, ...]
    closed: tuple[bytes, ...]


class Mark:
    """A directory with a tree in it; it is there only once it is whole."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        return self.path.is_dir()

    def save(self, before: Before) -> None:
        """From now on it survives everything."""
        half = self._beside("new")
        with files.explained(self.path):
            _remove(half)
            half.mkdir(mode=0o700)
        manifest.save(before.tree, half / "tree")
        told = _Stored(before.mode, tuple(map(os.fsencode, before.special)), tuple(map(os.fsencode, before.closed)))
        files.replace(half / "rest", msgspec.msgpack.encode(told), durable=True)
        self.drop()
        with files.explained(self.path):
            half.rename(self.path)
        files.sync_directory(self.path.parent)

    def load(self) -> Before:
        tree = manifest.load(self.path / "tree")
        try:
            told = msgspec.msgpack.decode(files.read(self.path / "rest", _LARGEST), type=_Stored)
        except (msgspec.MsgspecError, OSError) as error:
            raise Damaged(f"{self.path / 'rest'} does not tell what the tree was like: {error}") from error
        return Before(
            tree, told.mode, frozenset(map(os.fsdecode, told.special)), frozenset(map(os.fsdecode, told.closed))
        )

    def drop(self) -> None:
        """Gone at once, whenever this is killed."""
        old = self._beside("old")
        with files.explained(self.path):
            _remove(old)
            with contextlib.suppress(FileNotFoundError):
                self.path.rename(old)
            _remove(old)

    def _beside(self, word: str) -> Path:
        """Beside the marks, and never taken for one."""
        return self.path.parent.parent / f".{self.path.name}.{word}"


def _remove(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        for inner in list(path.iterdir()):
            inner.unlink()
        path.rmdir()
