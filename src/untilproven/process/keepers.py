"""The runner's keepers: one for each program that runs, and one that is kept for the next."""

import contextlib
import os
import signal
import socket
import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from untilproven.process import adoption
from untilproven.process.keeper import Pipes, keep, send_order
from untilproven.process.lookup import Order

if TYPE_CHECKING:
    from untilproven.process.walls import Walls

_ALL_SIGNALS = signal.valid_signals()
_TICKS = os.sysconf("SC_CLK_TCK")


class Keeper:
    """A keeper process, seen from the runner."""

    def __init__(self, marker: str, walls: "Walls | None" = None) -> None:
        self.marker = marker
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            try:
                self.pid = _fork(theirs.fileno(), marker, walls)
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


class Stable:
    """Where a keeper whose program has ended waits for the next one: a fork of the runner is not cheap, and a room
    costs more. Closing it lets them go, and with them what was built around them."""

    def __init__(self, walls: "Walls | None" = None) -> None:
        self._walls = walls
        self._idle: dict[str, Keeper] = {}
        self.open = True

    def take(self, marker: str) -> Keeper:
        """One that waits, or a new one."""
        return self._idle.pop(marker, None) or self.new(marker)

    def new(self, marker: str) -> Keeper:
        return Keeper(marker, self._walls)

    def give_back(self, keeper: Keeper) -> None:
        """It is free again: nothing of its program is left."""
        if self.open and keeper.marker not in self._idle:
            self._idle[keeper.marker] = keeper
        else:
            keeper.dismiss()

    def close(self) -> None:
        self.open = False
        while self._idle:
            self._idle.popitem()[1].dismiss()


COMMON = Stable()
"""For programs without walls; open only while somebody needs more than one of them."""
COMMON.open = False


_users: list[object] = []


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Within this, the keepers of programs without walls are kept for the next ones; the last to leave lets them go."""
    user = object()
    _users.append(user)
    COMMON.open = True
    try:
        yield
    finally:
        _users.remove(user)
        if not _users:
            COMMON.close()


def _fork(orders: int, marker: str, walls: "Walls | None") -> int:
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
            keep(orders, marker, runner, walls)
        adoption.remember(keeper)
        return keeper
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
