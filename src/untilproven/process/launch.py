"""Starting a program under a keeper, and taking over from a keeper that was killed."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple, Self

from untilproven.model.program import Stop
from untilproven.process import adoption, kernel, leftovers, sweep
from untilproven.process.keeper import Pipes
from untilproven.process.keepers import COMMON, Keeper, Stable
from untilproven.process.lookup import CannotStart, Order, order
from untilproven.process.records import Program

KEEPER_PATIENCE = sweep.PATIENCE + 5.0
"""Seconds within which a keeper has ended everything, unless somebody stopped or broke it."""

_REPORT_SIZE = 65536


class Report(NamedTuple):
    """How it ended; the status is in the form of waitpid."""

    status: int | None = None
    stragglers: int = 0
    survivors: int = 0
    keeper_died: bool = False


def start(program: Program, stable: Stable = COMMON, beside: Callable[[], Stop | None] = lambda: None) -> "Running":
    """Start a program under a keeper of its own. Use it in a `with`: leaving that ends all of it.

    What is to be done `beside` is done once the keeper has its order, and before it is heard.
    """
    kernel.require()
    running = Running(stable, marker=program.marker or leftovers.new_marker(), merged=program.merged)
    try:
        wanted = order(program)
    except CannotStart as reason:
        running.refusal = str(reason)
        return running
    try:
        wanted = wanted._replace(env=leftovers.marked(wanted.env, running.marker))
        running.launch(wanted, has_stdin=bool(program.stdin), beside=beside)
    except BaseException:
        running.close()
        raise
    return running


class Running:
    """A program that was started, or `refusal`, which says why not."""

    def __init__(self, stable: Stable, *, marker: str, merged: bool) -> None:
        self.marker = marker
        self._stable = stable
        self.began = time.monotonic()
        self.pid = 0
        """0 too within walls, where it has another number."""
        self.refusal = ""
        self.asked: Stop | None = None
        """What was wished of it before it was heard of."""
        self.stdin = self.stdout = self.stderr = -1
        self.control = self.program_end = -1
        self.report_end = -1
        """Can be read when the keeper is done with the program, or dead."""
        self._merged = merged
        self._report_text = b""
        self._keeper: Keeper | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def launch(self, wanted: Order, *, has_stdin: bool, beside: Callable[[], Stop | None]) -> None:
        given, self.stdin = _pipe_to_program() if has_stdin else (os.open(os.devnull, os.O_RDONLY), -1)
        self.stdout, out = _pipe_from_program()
        self.stderr, err = (-1, os.dup(out)) if self._merged else _pipe_from_program()
        self.report_end, report = os.pipe()
        control, self.control = os.pipe()
        theirs = Pipes(os.memfd_create("order"), report, control, given, out, err)
        try:
            self._hand_over(wanted, theirs)
        except OSError as error:
            self.refusal = f"{wanted.argv[0]}: cannot fork: {error.strerror}"
            return
        finally:
            for fd in theirs:
                os.close(fd)
        self.asked = beside()
        self._hear_of_start()

    def _hand_over(self, wanted: Order, theirs: Pipes) -> None:
        """To a keeper that waits, unless somebody has killed it."""
        self._keeper = self._stable.take(self.marker)
        try:
            self._keeper.start(wanted, theirs)
        except BrokenPipeError:
            self._keeper.dismiss()
            self._keeper = self._stable.new(self.marker)
            self._keeper.start(wanted, theirs)

    def _hear_of_start(self) -> None:
        """A keeper that says nothing was killed or stopped, perhaps by the program; `settle` takes over from it."""
        self._await_keeper()
        while b"\n" not in self._report_text and (chunk := os.read(self.report_end, _REPORT_SIZE)):
            self._report_text += chunk
        line, _, self._report_text = self._report_text.partition(b"\n")
        word, _, rest = line.decode(errors="replace").partition(" ")
        if word == "refused":
            self.refusal = rest
        elif word == "started" and self._keeper:
            self.pid = int(rest)
            with contextlib.suppress(ProcessLookupError):
                self.program_end = self._keeper.handle_of(self.pid)

    def kill_keeper(self) -> None:
        """For one that somebody has stopped: it cannot do its work, and what it keeps becomes ours."""
        if self._keeper:
            kernel.send(self._keeper.end, signal.SIGKILL)

    def settle(self) -> Report:
        """Wait until nothing of the program is left. A keeper that is not yet at it is told to end all at once."""
        self._close("control", "stdin")
        keeper = self._keeper
        if keeper is None:
            return Report()
        told = self._told()
        self._keeper = None
        if told is None:
            keeper.collect()
            report = self._take_over(keeper)
            adoption.forget(keeper.pid)
            return report
        if told.survivors:
            keeper.dismiss()
        else:
            self._stable.give_back(keeper)
        return told

    def _await_keeper(self) -> None:
        poll = select.poll()
        poll.register(self.report_end, select.POLLIN)
        if not poll.poll(KEEPER_PATIENCE * 1000):
            self.kill_keeper()

    def _told(self) -> Report | None:
        """What the keeper says at the end; None if it died before."""
        if self.refusal:
            return Report()
        while b"\n" not in self._report_text:
            self._await_keeper()
            chunk = os.read(self.report_end, _REPORT_SIZE)
            if not chunk:
                break
            self._report_text += chunk
        match self._report_text.split():
            case [b"ended", status, stragglers, survivors]:
                return Report(None if status == b"None" else int(status), int(stragglers), int(survivors))
        return None

    def _take_over(self, keeper: Keeper) -> Report:
        """What the killed keeper kept became ours: end it, and take the program's status ourselves."""
        orphans = adoption.Orphans(since=keeper.since, program=self.pid)
        swept = orphans.end()
        stragglers = sum(pid != self.pid for pid, _ in swept.killed)
        return Report(orphans.program_status, stragglers, swept.survivors, keeper_died=True)

    def close(self) -> None:
        try:
            self.settle()
        finally:
            self._close("stdout", "stderr", "program_end", "report_end")

    def close_stdin(self) -> None:
        self._close("stdin")

    def _close(self, *names: str) -> None:
        for name in names:
            fd: int = getattr(self, name)
            if fd >= 0:
                setattr(self, name, -1)
                os.close(fd)


def _pipe_to_program() -> tuple[int, int]:
    theirs, ours = os.pipe()
    os.set_blocking(ours, False)
    return theirs, ours


def _pipe_from_program() -> tuple[int, int]:
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    return ours, theirs
