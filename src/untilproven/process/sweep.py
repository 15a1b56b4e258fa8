"""Ending a set of processes that may grow, hide and resist while it is being ended."""

import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from untilproven.process import kernel, table
from untilproven.process.table import Process

PATIENCE = 10.0
"""Seconds after which what is still there cannot be ended by us at all."""

_ROUNDS_OF_FREEZING = 50
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.02


class Swept(NamedTuple):
    killed: frozenset[tuple[int, int]]
    """Pid and start of each process that was sent SIGKILL."""
    survivors: int
    """How many are still there: of another user, or stuck in the kernel."""


def send(process: Process, number: int) -> bool:
    """Signal exactly this process; False if it belongs to somebody else. A pid in use by another one is not hit."""
    try:
        pidfd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return True
    try:
        now = table.look_up(process.pid)
        if now is not None and now.start == process.start:
            kernel.send(pidfd, number)
    except PermissionError:
        return False
    finally:
        os.close(pidfd)
    return True


def send_all(processes: Iterable[Process], number: int) -> None:
    for process in processes:
        send(process, number)


def end_all(find: Callable[[], list[Process]], patience: float = PATIENCE) -> Swept:
    """End what `find` finds, again and again, until it finds nothing twice in a row.

    Twice, because a process that loses its parent during one look may be missing from that look.
    """
    give_up = time.monotonic() + patience
    killed: set[tuple[int, int]] = set()
    refused: set[tuple[int, int]] = set()
    pause, looked_in_vain = _SHORTEST_PAUSE, 0
    while True:
        left = [process for process in find() if (process.pid, process.start) not in refused]
        looked_in_vain = 0 if left else looked_in_vain + 1
        if looked_in_vain == 2 or time.monotonic() > give_up:
            return Swept(frozenset(killed), len(left) + len(refused))
        if any((process.pid, process.start) not in killed for process in left):
            for process in _frozen(find):
                name = (process.pid, process.start)
                (killed if send(process, signal.SIGKILL) else refused).add(name)
        else:
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)


def _frozen(find: Callable[[], list[Process]]) -> list[Process]:
    """Stop them all before the first is killed: a stopped one cannot fork into the place that a dead one leaves."""
    stopped: dict[tuple[int, int], Process] = {}
    for _ in range(_ROUNDS_OF_FREEZING):
        new = [process for process in find() if (process.pid, process.start) not in stopped]
        if not new:
            break
        for process in new:
            send(process, signal.SIGSTOP)
            stopped[process.pid, process.start] = process
    return list(stopped.values())
