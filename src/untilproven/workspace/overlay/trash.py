"""What is dropped: gone at once under its name, and taken away when there is time for it."""

import contextlib
import os
from pathlib import Path

from untilproven.workspace.overlay.removal import remove


class Trash:
    """A directory beside what is dropped. What a killed process left in it goes with the first thing dropped here."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._made = False
        self._count = 0
        self._full = False

    def take(self, path: Path) -> None:
        """What does not exist is dropped already."""
        if not os.path.lexists(path):
            return
        if not self._made:
            remove(self._path)
            self._path.mkdir(mode=0o700)
            self._made = True
        self._count += 1
        path.rename(self._path / str(self._count))
        self._full = True

    def empty(self) -> None:
        """For a moment in which nobody waits for us; what resists is tried again by `remove`."""
        if self._full:
            self._full = False
            with contextlib.suppress(OSError):
                for name in os.listdir(self._path):  # noqa: PTH208  done for every iteration
                    remove(self._path / name)

    def remove(self) -> None:
        """Nothing is left of it."""
        remove(self._path)
        self._made = self._full = False
