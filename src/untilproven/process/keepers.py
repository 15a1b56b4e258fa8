"""The runner's keepers: one for each program that runs, and one that is kept for the next."""

import contextlib
import os
import select
import signal
import socket
import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from untilproven.process import adoption, kernel, sweep
from untilproven.process.keeper import (
    CLEARED,
    STARTED,
    Pipes,
    ask_to_clear,
    handle_of_program,
    keep,
    send_order,
    send_room,
)
from untilproven.process.lookup import Order

if TYPE_CHECKING:
    from untilproven.process.keeper import Around
    from untilproven.process.walls import Interior

_ALL_SIGNALS = signal.valid_signals()
_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE = sweep.PATIENCE


class Keeper:
    """A keeper process, seen from the runner."""

    def __init__(self, marker: str, around: "Around | None" = None) -> None:
        self.marker = marker
        self.since = _now()
        """What it leaves to us if it is killed was not started before this, in ticks of the system's clock: its
        program, or, within walls, the process that starts programs there."""
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            try:
                self.pid = _fork(theirs.fileno(), marker, around)
            except OSError:
                self._orders.close()
                raise
        self.end = os.pidfd_open(self.pid)
        self._walled = around is not None
        self._clear, self._clearing = True, False

    def start(self, order: Order, pipes: Pipes) -> None:
        """Raises BrokenPipeError if somebody has killed it."""
        if not self._walled:
            self.since = _now()
        send_order(self._orders, order, pipes)

    def furnish(self, interior: "Interior") -> None:
        """Have it furnish a room, while the runner goes on; if that fails, its next program is refused."""
        with contextlib.suppress(OSError):  # somebody has killed it, as `start` will find
            send_room(self._orders, interior)
        self._clear = False

    def handle_of(self, program: int) -> int:
        """A handle of the program that it has just started. Raises ProcessLookupError if there is none any more."""
        return os.pidfd_open(program) if program else handle_of_program(self._orders)

    def clear(self) -> None:
        """Have its room cleared, if there is one; `is_clear` waits for that."""
        if not self._clear:
            with contextlib.suppress(OSError):  # somebody has killed it
                ask_to_clear(self._orders)
                self._clearing = True

    def is_clear(self) -> bool:
        """Whether it is there, and can furnish another room."""
        if self._clearing:
            self._clearing, self._clear = False, self._heard() == CLEARED
        return self._clear and not _is_ready(self.end, 0)

    def _heard(self) -> bytes:
        """What it answers. A handle of a program that nobody asked for may come before."""
        if not _is_ready(self._orders.fileno(), _PATIENCE):
            kernel.send(self.end, signal.SIGKILL)
        said = STARTED
        with contextlib.suppress(OSError):
            while said == STARTED:
                said = self._orders.recv(1)
        return said

    def dismiss(self) -> None:
        """Let it go, or collect it if it was killed; nothing of its program may be left by now."""
        if self.collect() != 0:
            adoption.Orphans(since=self.since, program=0).end()
        adoption.forget(self.pid)

    def collect(self) -> int:
        """How it ended, in the form of waitpid."""
        self._orders.close()
        status = 0
        with contextlib.suppress(ChildProcessError):  # collected already, by a program that ignores SIGCHLD
            _, status = os.waitpid(self.pid, 0)
        os.close(self.end)
        return status


class Stable:
    """Where a keeper whose program has ended waits for the next one: a fork of the runner is not cheap."""

    def __init__(self) -> None:
        self._idle: dict[str, Keeper] = {}
        self.open = True

    def take(self, marker: str) -> Keeper:
        """One that waits, or a new one."""
        return self._idle.pop(marker, None) or self.new(marker)

    def new(self, marker: str) -> Keeper:
        return Keeper(marker)

    def give_back(self, keeper: Keeper) -> None:
        """It is free again: nothing of its program is left."""
        if self.open and keeper.marker not in self._idle:
            self._idle[keeper.marker] = keeper
        else:
            keeper.dismiss()

    def close(self) -> None:
        self.open = False
        while self._idle:
            self.let_go(self._idle.popitem()[1])

    def let_go(self, keeper: Keeper) -> None:
        keeper.dismiss()


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


def _now() -> int:
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)


def _is_ready(fd: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _fork(orders: int, marker: str, around: "Around | None") -> int:
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
            keep(orders, marker, runner, around)
        adoption.remember(keeper)
        return keeper
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
