"""`--interactive`: whoever sits at the terminal is asked at every gate, and what they say is recorded as theirs."""

import os
import select
import sys
import termios
from collections.abc import Callable
from functools import partial
from typing import Literal

from untilproven.cli import abort, gate, output
from untilproven.config.settings import Origin
from untilproven.core.decide import UNPROVEN, WAITING
from untilproven.core.text import text
from untilproven.errors import UsageError
from untilproven.model.fields import Decision, PauseReason
from untilproven.runtime import starting
from untilproven.runtime.deciding import Opened, Undecided, decide, is_late, open_gates
from untilproven.runtime.notifying import GATE, Notifier, notifier_of
from untilproven.store import reader
from untilproven.store.layout import LoopDirectory, Project
from untilproven.store.reader import LoopView
from untilproven.store.writer import LoopWriter

Answer = Literal["approve", "reject", "abort", "wait"]
_ANSWERS: tuple[Answer, ...] = ("approve", "reject", "abort", "wait")
_QUESTION = "approve, reject, abort, or wait (leave it as it is)? "
_WHY = "why, for the record (Enter for no reason): "
_LOOK_SECONDS = 1.0
_TYPED_BYTES = 4096


def refuse_without_a_terminal(wanted: Origin, *, detach: bool, as_json: bool) -> None:
    """Nobody can be asked where nobody can answer; `wanted` is who set it."""
    why = ""
    if detach:
        why = "--detach leaves this terminal"
    elif as_json:
        why = "--json prints for a program"
    elif not sys.stdin.isatty():
        why = "stdin is no terminal"
    elif not sys.stdout.isatty():
        why = "stdout is no terminal"
    if why:
        raise UsageError(
            f"nobody can be asked at gates: {why} (`interactive` is set by: {wanted})",
            hint="leave it away, or give --no-interactive; a gate is then answered with `ralph gate`",
        )


def attended(project: Project, begin: Callable[[], LoopWriter], run: Callable[[LoopWriter, bool], int]) -> int:
    """Run a loop, ask at each of its gates, and go on with the answer, until it ends or is left waiting.

    `run` is told whether it has run this loop before.
    """
    again = False
    while True:
        try:
            writer = begin()
        except Undecided as waiting:
            loop_id, code = str(waiting.details["loop_id"]), waiting.exit_code
        else:
            loop_id = writer.state.loop_id
            code, again = run(writer, again), True
            begin = partial(starting.take_up, project, loop_id)
        view = reader.view(project.state, loop_id)
        if code != WAITING or view.state.pause_reason is not PauseReason.GATE:
            return code
        try:
            said = _asked(project, view)
        except (EOFError, KeyboardInterrupt):
            output.line("")
            said = "wait", ""
        match said:
            case "wait", _:
                output.note(f"it waits; to decide: ralph gate show {loop_id}")
                return code
            case "abort", why:
                decide(project.state, loop_id, Decision.ABORT, why)
                return abort.end(project, view) or UNPROVEN
            case ("approve" | "reject") as answer, why:
                decide(project.state, loop_id, Decision(answer), why)


def _asked(project: Project, view: LoopView) -> tuple[Answer, str] | None:
    """What the person says, and why; None if the gate was settled meanwhile, by somebody elsewhere or its deadline."""
    settled = _Settled(view.directory, notifier_of(view.state, view.directory, project.root, output.warn))
    for opened in settled.gates:
        gate.tell(view, opened)
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)  # what was typed before anybody asked is no answer
    while (typed := _typed(_QUESTION, settled)) is not None:
        meant = [answer for answer in _ANSWERS if typed and answer.startswith(typed.lower())]
        if meant == ["wait"]:
            return "wait", ""
        if len(meant) == 1:
            why = _typed(_WHY, settled)
            return None if why is None else (meant[0], why)
    output.line("")
    return None


class _Settled:
    """Whether a loop's gates need no answer any more; as long as they do, it is said again from time to time.

    Looks into the journal only when it has grown.
    """

    gates: tuple[Opened, ...]

    def __init__(self, loop: LoopDirectory, notifier: Notifier | None) -> None:
        self._loop, self._notifier = loop, notifier
        self._size = -1
        self._look()
        self._reminders = sum(opened.reminders for opened in self.gates)

    def __call__(self) -> bool:
        self._look()
        self._remind()
        return not self.gates or any(map(is_late, self.gates))

    def _look(self) -> None:
        size = self._loop.journal.stat().st_size
        if size != self._size:
            self._size, self.gates = size, open_gates(self._loop)

    def _remind(self) -> None:
        due = sum(opened.reminders for opened in self.gates)
        if self._notifier and due > self._reminders:
            last = self.gates[-1].gate
            self._notifier.tell("gate.waiting", last.message, last.iteration, GATE)
        self._reminders = due


def _typed(question: str, over: Callable[[], bool]) -> str | None:
    """A line; None once it is over. Raises EOFError when nothing more can come."""
    sys.stdout.write(question)
    sys.stdout.flush()
    while not over():
        if select.select([sys.stdin], [], [], _LOOK_SECONDS)[0]:
            try:
                data = os.read(sys.stdin.fileno(), _TYPED_BYTES)
            except OSError as gone:  # the terminal has hung up
                raise EOFError from gone
            if not data:
                raise EOFError
            return text(data.decode("utf-8", "replace")).strip()
    return None
