"""The runner's own children: its keepers, and what it inherits when one of them is killed."""

import contextlib
import os

from untilproven.process import kernel, sweep, table
from untilproven.process.sweep import Swept
from untilproven.process.table import Process

_live: set[int] = set()
_subreaper_before: list[bool] = []


def expect_orphans() -> None:
    """Before a keeper is forked: orphans are to come to us, not to the init of the system."""
    if not _subreaper_before:
        _subreaper_before.append(kernel.is_subreaper())
        kernel.set_subreaper(True)


def remember(keeper: int) -> None:
    _live.add(keeper)


def forget(keeper: int) -> None:
    """After a keeper and all it kept are gone; with the last one this process is again what it was before."""
    _live.discard(keeper)
    if not _live and _subreaper_before:
        kernel.set_subreaper(_subreaper_before.pop())


class Orphans:
    """What a dead keeper left to us.

    Told from other children of this process by three signs: started no earlier than the program, in another session
    than ours (the program began its own), and no keeper itself. A child that other code of this process put into a
    session of its own in the meantime looks the same; the keeper of a running program must be killed for that to
    matter.
    """

    def __init__(self, *, since: int, program: int) -> None:
        self._since = since
        self._program = program
        self._us, self._session = os.getpid(), os.getsid(0)
        self.program_status: int | None = None

    def end(self) -> Swept:
        return sweep.end_all(self._living)

    def _living(self) -> list[Process]:
        family = table.descendants(self._us, self._is_orphan)
        for process in family:
            if not process.alive and process.parent == self._us:
                self._reap(process.pid)
        return [process for process in family if process.alive]

    def _is_orphan(self, process: Process) -> bool:
        return process.start >= self._since and process.session != self._session and process.pid not in _live

    def _reap(self, pid: int) -> None:
        with contextlib.suppress(ChildProcessError):
            reaped, status = os.waitpid(pid, os.WNOHANG)
            if reaped == self._program:
                self.program_status = status
