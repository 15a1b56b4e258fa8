"""What is dropped: gone at once under its name, and taken away by a process of its own, for nobody waits for it."""

import contextlib
import gc
import os
import select
import signal
import warnings
from pathlib import Path
from typing import NoReturn

from untilproven.process import kernel
from untilproven.process.keeper import keep_only
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
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._sweeper, 0)
            self._sweeper = 0
        remove(self._path)
        self._made = self._full = False

    def _hire(self) -> None:
        theirs, ours = os.pipe()
        os.set_blocking(ours, False)
        runner = os.getpid()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # see process/keepers.py
                self._sweeper = os.fork()
            if not self._sweeper:
                _sweep(theirs, self._path, runner)
        except OSError:
            os.close(ours)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.close(theirs)
        self._line = ours


def _sweep(line: int, path: Path, runner: int) -> NoReturn:
    """The life of the sweeper, in the fork with all signals blocked; it ends with the runner."""
    try:
        gc.disable()  # a finaliser of the runner's objects would close numbers that are ours now
        line = keep_only(line)
        kernel.set_name(b"ralph-sweeper")
        kernel.signal_when_parent_dies(signal.SIGKILL)
        if os.getppid() == runner:
            while _is_time(line):
                with contextlib.suppress(OSError):
                    for name in os.listdir(path):  # noqa: PTH208  done for every iteration
                        remove(path / name)
    finally:
        os._exit(0)


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
