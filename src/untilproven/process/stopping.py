"""The graded stop: from a wish, through the signals a program may answer, to the one it cannot."""

import contextlib
import os
import time

from untilproven.model.program import Grades
from untilproven.process import keeper
from untilproven.process.launch import KEEPER_PATIENCE, Running

_NEVER = float("inf")


class GradedStop:
    def __init__(self, running: Running, grades: Grades) -> None:
        self._running = running
        self._program_ended = False
        gentle = ((keeper.INTERRUPT, grades.interrupt), (keeper.TERMINATE, grades.terminate))
        self._steps = [step for step in gentle if step[1] > 0]
        self._steps.append((keeper.KILL, KEEPER_PATIENCE))
        self.because = ""
        """Why it is being stopped; the first reason stands."""
        self.due = _NEVER
        """When `go_on` is to be called next."""

    def begin(self, because: str, *, at_once: bool = False) -> None:
        first = not self.because
        self.because = self.because or because
        if self._program_ended:
            return
        if at_once:
            self._steps = [step for step in self._steps if step[0] == keeper.KILL]
        if first or (at_once and self._steps):
            self.due = 0.0
            self.go_on()

    def program_ended(self) -> None:
        """From here on the keeper works by itself; if it does not come to an end, somebody has stopped it."""
        self._program_ended = True
        self._steps.clear()
        self.due = time.monotonic() + KEEPER_PATIENCE

    def go_on(self) -> None:
        """Take the next step if its time has come. The last one is to do without the keeper."""
        now = time.monotonic()
        if now < self.due:
            return
        if not self._steps:
            self._running.kill_keeper()
            self.due = _NEVER
            return
        request, seconds = self._steps.pop(0)
        with contextlib.suppress(BrokenPipeError):  # the keeper is gone, which is seen elsewhere
            os.write(self._running.control, request)
        self.due = now + seconds
