"""What lasts no longer than an iteration: empty directories, made while the one before is at work."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from untilproven.store import files

_PRIVATE = 0o700


class Passing:
    """It lies together, away from that of the last iteration: a file system may look at all that was deleted beside a
    new file of late before it makes it, and every room makes and deletes dozens.

    What one iteration asks for is made ready for the next. `drop` takes away what is there.
    """

    def __init__(self, place: Path, drop: Callable[[Path], None]) -> None:
        self.path = place / "passing"
        self.coming = place / "coming"
        self._drop = drop
        self._wanted: dict[str, int] = {}
        self._ready: dict[str, int] = {}
        """What lies there and was not asked for yet."""
        self._prepared: dict[str, int] | None = None

    def begin(self) -> None:
        """A new iteration: nothing is left of what the last one had for itself alone."""
        self._drop(self.path)
        with files.explained(self.path):
            if self._prepared:
                os.rename(self.coming, self.path)  # noqa: PTH104  done for every iteration
            else:
                self._drop(self.coming)
                os.mkdir(self.path, _PRIVATE)  # noqa: PTH102  the same
        self._ready, self._prepared = self._prepared or {}, None

    def end(self) -> None:
        """Nothing is left of it, nor of what was made ready."""
        for path in (self.path, self.coming):
            self._drop(path)
        self._ready, self._prepared = {}, None

    def directory(self, name: str, mode: int = _PRIVATE) -> Path:
        """A directory with nothing in it."""
        path = self.path / name
        if self._ready.pop(name, None) != mode:
            self._drop(path)
            with files.explained(path):
                _make(path, mode)
        self._wanted[name] = mode
        return path

    def prepare(self) -> None:
        """For the next iteration, when there is time; what fails now is made, or explained, then."""
        if self._prepared or not self._wanted:
            return
        with contextlib.suppress(OSError):
            _make(self.coming, _PRIVATE)
            for name, mode in self._wanted.items():
                _make(self.coming / name, mode)
            self._prepared = self._wanted.copy()


def _make(path: Path, mode: int) -> None:
    os.mkdir(path, _PRIVATE)  # noqa: PTH102  done dozens of times in every iteration
    if mode != _PRIVATE:
        os.chmod(path, mode)  # noqa: PTH101  the same
