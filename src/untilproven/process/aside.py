"""A fork of the runner that does one thing beside it, keeps nothing of it, and ends with it."""

import gc
import os
import signal
import warnings
from collections.abc import Callable
from typing import NoReturn

from untilproven.process import kernel
from untilproven.process.keeper import keep_only


def fork(name: bytes, line: int, life: Callable[[int], object]) -> int:
    """Its pid. Of all open files it has this one, and calls `life` with it; no signal reaches it that can be refused.
    Raises OSError if there can be no more processes."""
    runner = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        with warnings.catch_warnings():
            # From 3.12 on a fork beside other threads warns; what is forked here uses nothing that one can hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if not pid:
            _live(name, line, life, runner)
        return pid
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _live(name: bytes, line: int, life: Callable[[int], object], runner: int) -> NoReturn:
    try:
        gc.freeze()  # a finaliser of the runner's objects would close numbers that are ours now
        line = keep_only(line)
        kernel.set_name(name)
        kernel.signal_when_parent_dies(signal.SIGKILL)
        if os.getppid() == runner:
            life(line)
    finally:
        os._exit(0)
