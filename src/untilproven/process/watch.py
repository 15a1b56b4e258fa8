"""Watching a running program to its end: output, limits, and the caller's wishes."""

import os
import select
import time
from collections.abc import Callable, Sequence

from untilproven.model.program import OVER, Ending, Grades, Limits, Stop
from untilproven.process.keepers import COMMON, Stable
from untilproven.process.launch import Report, Running, start
from untilproven.process.pump import Output, Pump
from untilproven.process.records import Program
from untilproven.process.stopping import GradedStop

Until = Callable[[], Stop | None]

_LONGEST_TURN = 0.5
_SHORTEST_TURN = 0.05


def run(
    program: Program,
    *,
    output: Output,
    limits: Limits = Limits(),  # noqa: B008  immutable
    grades: Grades = Grades(),  # noqa: B008  immutable
    until: Until = lambda: None,
    wake: Sequence[int] = (),
    stable: Stable = COMMON,
    beside: Until = lambda: None,
) -> Ending:
    """Run a program to its end, and with it everything that it started.

    `output` gets each chunk as it comes. `until` is called at least every half second, and at once when one of the
    files in `wake` can be read (it must then read it); it may answer with a `Stop`. If either raises, all is ended.
    Both may go on talking to a program whose stdin is a `Speech`. `beside` is called once, while the program starts.
    """
    with start(program, stable, beside) as running:
        if running.refusal:
            return Ending(not_started=running.refusal, seconds=time.monotonic() - running.began)
        poll = select.poll()
        pump = Pump(running, program.stdin, output, limits.output, poll)
        return _Watch(running, pump, GradedStop(running, grades), limits, until, wake, poll).to_the_end()


class _Watch:
    def __init__(
        self,
        running: Running,
        pump: Pump,
        stop: GradedStop,
        limits: Limits,
        until: Until,
        wake: Sequence[int],
        poll: select.poll,
    ) -> None:
        self._running, self._pump, self._stop = running, pump, stop
        self._limits, self._until, self._wake = limits, until, wake
        self._poll = poll
        self._last_asked = running.began
        self._watched_since = time.monotonic()
        self._program_runs = True
        for fd in (running.report_end, running.program_end, *wake):
            if fd >= 0:
                poll.register(fd, select.POLLIN)

    def to_the_end(self) -> Ending:
        if self._running.asked:
            self._stop.begin(f"asked: {self._running.asked.reason}", at_once=self._running.asked.now)
        while self._turn():
            pass
        self._stop.program_ended()
        report = self._running.settle()
        self._pump.drain()
        if self._pump.over_limit:
            self._stop.begin("output")
        return self._ending(report)

    def _turn(self) -> bool:
        """Serve what is ready, then what is due; False once the keeper is done or gone."""
        self._pump.prepare()
        ready = {fd for fd, _ in self._poll.poll(self._longest_wait() * 1000)}
        self._pump.serve(ready)
        if self._running.report_end in ready:
            return False
        if self._running.program_end in ready:
            self._poll.unregister(self._running.program_end)
            self._program_runs = False
            self._stop.program_ended()
        self._ask(urgent=not ready.isdisjoint(self._wake))
        self._enforce()
        self._stop.go_on()
        return True

    def _longest_wait(self) -> float:
        due = min(self._last_asked + _LONGEST_TURN, self._stop.due, self._wall_is_over(), self._idle_is_over())
        return max(due - time.monotonic(), 0.0)

    def _wall_is_over(self) -> float:
        """Before it was watched, it may have had to wait until somebody reads what it prints."""
        return _after(self._watched_since, self._limits.wall if self._may_be_stopped else None)

    def _idle_is_over(self) -> float:
        return _after(self._pump.last_output, self._limits.idle if self._may_be_stopped else None)

    @property
    def _may_be_stopped(self) -> bool:
        return self._program_runs and not self._stop.because

    def _ask(self, *, urgent: bool) -> None:
        now = time.monotonic()
        if urgent or now - self._last_asked >= _SHORTEST_TURN:
            self._last_asked = now
            wish = self._until()
            if wish is not None:
                self._stop.begin(f"asked: {wish.reason}", at_once=wish.now)

    def _enforce(self) -> None:
        now = time.monotonic()
        if self._pump.over_limit:
            self._stop.begin("output")
        elif now >= self._wall_is_over():
            self._stop.begin("wall")
        elif now >= self._idle_is_over():
            self._stop.begin("idle")
        elif self._may_be_stopped and now >= self._pump.patience_is_over:
            self._stop.begin(OVER)

    def _ending(self, report: Report) -> Ending:
        status = report.status
        code = None if status is None else os.waitstatus_to_exitcode(status)
        return Ending(
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            stopped_because=self._stop.because or ("keeper" if report.keeper_died else ""),
            seconds=time.monotonic() - self._running.began,
            stragglers=report.stragglers,
            survivors=report.survivors,
        )


def _after(moment: float, seconds: float | None) -> float:
    return float("inf") if seconds is None else moment + seconds
