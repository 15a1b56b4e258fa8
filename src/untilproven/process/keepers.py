"""The runner's keepers: one for each program that runs, and one that is kept for the next."""

import contextlib
import os
import signal
import socket
import time
import warnings
from collections.abc import Iterator

from untilproven.process import adoption
from untilproven.process.keeper import Pipes, keep, send_order
from untilproven.process.lookup import Order

_ALL_SIGNALS = signal.valid_signals()
_TICKS = os.sysconf("SC_CLK_TCK")


class Keeper:
    """A keeper process, seen from the runner."""

    def __init__(self, marker: str) -> None:
        self.marker = marker
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            try:
                self.pid = _fork(theirs.fileno(), marker)
            except OSError:
                self._orders.close()
                raise
        self.end = os.pidfd_open(self.pid)
        self.since = 0
        """When its program was started, in ticks of the system's clock."""

    def start(self, order: Order, pipes: Pipes) -> None:
        """Raises BrokenPipeError if somebody has killed it."""
        self.since = int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)
        send_order(self._orders, order, pipes)

    def dismiss(self) -> None:
        """Let it go, or collect it if it was killed; nothing of its program may be left by now."""
        self.collect()
        adoption.forget(self.pid)

    def collect(self) -> None:
        self._orders.close()
        with contextlib.suppress(ChildProcessError):  # collected already, by a program that ignores SIGCHLD
            os.waitpid(self.pid, 0)
        os.close(self.end)


_idle: dict[str, Keeper] = {}
_open = 0


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Within this, a keeper whose program has ended waits for the next one: a fork of the runner is not cheap."""
    global _open  # noqa: PLW0603  one runner has one set of children
    _open += 1
    try:
        yield
    finally:
        _open -= 1
        if not _open:
            for marker in list(_idle):
                _idle.pop(marker).dismiss()


def take(marker: str) -> Keeper:
    """One that waits, or a new one."""
    return _idle.pop(marker, None) or Keeper(marker)


def give_back(keeper: Keeper) -> None:
    """It is free again: nothing of its program is left."""
    if _open and keeper.marker not in _idle:
        _idle[keeper.marker] = keeper
    else:
        keeper.dismiss()


def _fork(orders: int, marker: str) -> int:
    """Fork with all signals blocked, so that none of the runner's handlers ever runs in the keeper."""
    adoption.expect_orphans()
    runner = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ALL_SIGNALS)
    try:
        with warnings.catch_warnings():
            # From 3.12 on a fork beside other threads warns; the keeper uses nothing that another thread can hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            keeper = os.fork()
        if keeper == 0:
            keep(orders, marker, runner)
        adoption.remember(keeper)
        return keeper
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
