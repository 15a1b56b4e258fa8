"""What is dropped: gone at once under its name, and taken away by a process of its own, for nobody waits for it."""

import contextlib
import os
import select
from pathlib import Path

from untilproven.process import aside
from untilproven.workspace.overlay.removal import remove

_OURS = 0o700
_WORD = b"."
_CALM_MS = 50
_ENOUGH = 500
"""Taking things away holds up whoever makes new ones: it waits for a moment of calm, but not for ever."""


class Trash:
    """A directory beside what is dropped. What a killed process left in it goes with the first thing dropped here."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._made = False
        self._count = 0
        self._full = False
        self._sweeper = 0
        self._line = -1

    def take(self, path: Path) -> None:
        """What does not exist is dropped already."""
        if not os.path.lexists(path):
            return
        if not self._made:
            remove(self._path)
            self._path.mkdir(mode=0o700)
            self._made = True
        self._count += 1
        self._full = True
        there = f"{self._path}/{self._count}"
        try:
            os.rename(path, there)  # noqa: PTH104  done again and again in every iteration
        except PermissionError:
            if path.is_symlink():
                raise
            path.chmod(_OURS)  # a directory that moves must be writable itself
            os.rename(path, there)  # noqa: PTH104  the same

    def empty(self) -> None:
        """Have it all taken away while we go on; what resists is tried again by `remove`."""
        if not self._full:
            return
        self._full = False
        with contextlib.suppress(OSError):
            if not self._sweeper:
                self._hire()
            os.write(self._line, _WORD)

    def remove(self) -> None:
        """Nothing is left of it, and nobody is at work in it."""
        if self._sweeper:
            os.close(self._line)
            with contextlib.suppress(OSError):
                _remove_every_other(self._path, 0)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._sweeper, 0)
            self._sweeper = 0
        remove(self._path)
        self._made = self._full = False

    def _hire(self) -> None:
        theirs, ours = os.pipe()
        os.set_blocking(ours, False)
        try:
            self._sweeper = aside.fork(b"ralph-sweeper", theirs, lambda line: _sweep(line, self._path))
        except OSError:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        self._line = ours


def _sweep(line: int, path: Path) -> None:
    while _is_time(line):
        with contextlib.suppress(OSError):
            for name in os.listdir(path):  # noqa: PTH208  done for every iteration
                remove(path / name)
    with contextlib.suppress(OSError):
        _remove_every_other(path, 1)


def _remove_every_other(path: Path, which: int) -> None:
    """What is left at the end is shared by two: most of the time each of them waits for the disk."""
    for name in os.listdir(path):  # noqa: PTH208  they may be many
        if ord(name[-1]) % 2 == which:
            remove(path / name)


def _is_time(line: int) -> bool:
    """Waits until there is something to do and time for it; False once nobody wants it any more."""
    poll = select.poll()
    poll.register(line, select.POLLIN)
    words = 0
    while not words or (words < _ENOUGH and poll.poll(_CALM_MS)):
        heard = len(os.read(line, _ENOUGH))
        if not heard:
            return False
        words += heard
    return True
