"""A loop with a plan, a terminal to watch it in, and a screen that obeys what is written to it."""

import codecs
import fcntl
import os
import pty
import re
import struct
import termios
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from msgspec import UNSET
from msgspec.structs import replace

from support import MOMENT, SetClock
from untilproven.contract import Watcher
from untilproven.core.beginning import new_state
from untilproven.model import events
from untilproven.model.iteration import Action, Complete, Continue, Fate, FileChange, IterationResult, Usage
from untilproven.model.persistence import TestResults
from untilproven.model.plan import Allowance, Plan, PlannedCheck
from untilproven.model.receipt import Proof
from untilproven.model.state import LoopState
from untilproven.model.status import Status
from untilproven.store import journal
from untilproven.store.layout import Project
from untilproven.store.process import this_process
from untilproven.store.registry import open_registry
from untilproven.store.writer import LoopWriter, create_loop

LOOP = "ralph-fix-the-tests-a1b2c3d4"
HOSTILE = "a\x1b[2J\x1b]0;owned\x07\x9b31m\u202eb\u2066c\nd\re\x00" + "long " * 2000

PLAN = Plan(
    agent="command",
    agent_cmd="./agent.sh --fast",
    task_hash="0" * 64,
    checks=(PlannedCheck(line="pytest -q"), PlannedCheck(line="make test", role="auto_test", why="found in Makefile")),
    promise="DONE",
)
ALLOWANCE = Allowance(iterations=5, seconds=8 * 3600.0)


def begin(
    project: Project,
    *,
    task: str = "Fix the failing tests\nand more",
    plan: Plan = PLAN,
    allowance: Allowance = ALLOWANCE,
    loop_id: str = LOOP,
    time: SetClock | None = None,
) -> LoopWriter:
    """A real loop that was started with this plan; whoever asks for it closes it."""
    clock = time or SetClock()
    state = new_state(
        loop_id, task=task, owner="me", working_directory=str(project.root), process=this_process(), at=MOMENT
    )
    project.state.make()
    with open_registry(project.state, time=clock) as registry:
        writer = create_loop(project.state, replace(state, plan=plan, allowance=allowance), time=clock)
        registry.register_loop(writer.state)
    return writer


class Stage:
    """Records as a driver does, and lets a watcher see it."""

    def __init__(self, writer: LoopWriter, watcher: Watcher | None = None) -> None:
        self.writer = writer
        self.watcher = watcher
        self.agent_seq = 0

    @property
    def state(self) -> LoopState:
        return self.writer.state

    def record(self, *happened: events.Event) -> None:
        before = self.state.journal_seq or 0
        self.writer.record(*happened, durable=False)
        self.show(before)

    def move(self, to: Status, **how: object) -> None:
        before = self.state.journal_seq or 0
        self.writer.transition_status(to, **how)  # type: ignore[arg-type]
        self.show(before)

    def show(self, since: int = 0) -> None:
        for found in journal.scan(self.writer.loop.journal, self.writer.loop.loop_id):
            if isinstance(found, events.Entry) and found.header.seq > since and self.watcher:
                self.watcher.happened(found, self.state)

    def agent(self, event: events.AgentEvent) -> None:
        """Streamed, and kept under outputs/, but not in the journal."""
        entry = events.Entry(journal.header_of(LOOP, self.state.journal_seq or 1, MOMENT, event), event)
        with self.writer.loop.output(event.iteration).open("ab") as file:
            file.write(journal.encode(entry))
        if self.watcher:
            self.watcher.happened(entry, self.state)

    def control(self) -> None:
        self.record(check(0, failed=2))
        self.record(
            events.CheckFinished(iteration=0, check="make test", kind="command", passed=True, duration_seconds=0.5)
        )

    def iteration(self, number: int, *, failed: int = 2, claim: str = "", said: IterationResult | None = None) -> None:
        self.record(events.IterationStarted(iteration=number, tree="a" * 40))
        self.agent(action(number, "read", "src/module.py"))
        self.agent(text(number, "I look at the module.\nThen I change it."))
        self.agent(action(number, "write", "src/module.py"))
        self.record(
            events.IterationObserved(
                iteration=number,
                delta=(FileChange(path="src/module.py", change="modified"),),
                actions=(Action(kind="read", target="src/module.py"), Action(kind="write", target="src/module.py")),
                tree=f"{number:040d}",
                claim=claim or UNSET,
                result=said or (Complete() if claim else Continue(reason="")),
                usage=USED,
                duration_seconds=72.0,
            )
        )
        self.record(check(number, failed=failed))
        self.record(finished(number))

    def finish(self) -> None:
        self.move(Status.COMPLETING, reason="pytest -q failed before the work and passes now")
        self.move(Status.COMPLETED)
        self.record(
            events.LoopFinished(
                status=Status.COMPLETED,
                exit_code=0,
                iterations=self.state.iteration,
                proof=Proof.RED_TO_GREEN,
                reason="pytest -q failed before the work and passes now",
            )
        )


USED = Usage(total_tokens=1200, cost_usd=0.25, cost_source="agent")


def check(iteration: int, *, failed: int) -> events.CheckFinished:
    return events.CheckFinished(
        iteration=iteration,
        check="pytest -q",
        kind="tests",
        passed=not failed,
        output="F.\n2 failed" if failed else "..",
        tests=TestResults(total=14, passed=14 - failed, failed=failed, skipped=0),
        duration_seconds=1.0,
    )


def action(iteration: int, kind: str, target: str) -> events.AgentEvent:
    return events.AgentEvent(iteration=iteration, kind="action", data={"kind": kind, "target": target})


def text(iteration: int, words: str) -> events.AgentEvent:
    return events.AgentEvent(iteration=iteration, kind="text", text=words)


def finished(number: int, *, fate: Fate = Fate.KEPT, result: IterationResult | None = None) -> events.IterationFinished:
    return events.IterationFinished(
        iteration=number,
        result=result or Continue(reason=""),
        fate=fate,
        counted=True,
        progressed=True,
        duration_seconds=73.0,
        usage=USED,
    )


class Screen:
    """What a terminal shows after obeying what was written; anything it does not know is a failure."""

    KNOWN = re.compile(r"\x1b\[(\?25[lh]|\d*A|J|[\d;]*m|\?1049[hl]|H|K)")

    def __init__(self, columns: int, rows: int = 200) -> None:
        self.columns = columns
        self.rows = rows
        self.lines: list[list[str]] = [[]]
        self.row = self.column = 0
        self.cursor_shown = True
        self.bells = 0

    def obey(self, data: str) -> None:
        place = 0
        while place < len(data):
            if found := self.KNOWN.match(data, place):
                self._command(found[1])
                place = found.end()
                continue
            self._character(data[place])
            place += 1

    def _command(self, command: str) -> None:
        if command.startswith("?25"):
            self.cursor_shown = command.endswith("h")
        elif command.endswith("A"):
            self.row = max(self.row - int(command[:-1] or 1), 0)
        elif command == "J":
            self.lines = [*self.lines[: self.row], self.lines[self.row][: self.column]]

    def _character(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self._down()
        elif character == "\a":
            self.bells += 1
        else:
            assert character.isprintable(), f"{character!r} reached the terminal"
            wide = 2 if unicodedata.east_asian_width(character) in "WF" else 1
            if self.column + wide > self.columns:
                self._down()
                self.column = 0
            line = self.lines[self.row]
            line += [" "] * (self.column - len(line))
            line[self.column : self.column + wide] = [character, *[""] * (wide - 1)]
            self.column += wide

    def _down(self) -> None:
        self.row += 1
        while len(self.lines) <= self.row:
            self.lines.append([])

    @property
    def shown(self) -> list[str]:
        return ["".join(line).rstrip() for line in self.lines]


class Tty:
    """Both ends of a terminal: a stream to write to, and a screen that shows what arrived."""

    def __init__(self, columns: int, rows: int) -> None:
        self.master, slave = pty.openpty()
        self.stream: TextIO = os.fdopen(slave, "w", encoding="utf-8")
        self.screen = Screen(columns, rows)
        self.raw = self._heard = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.resize(columns, rows)
        os.set_blocking(self.master, False)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def look(self) -> list[str]:
        """What the screen shows now."""
        while True:
            try:
                data = os.read(self.master, 65536)
            except (BlockingIOError, OSError):
                break
            if not data:
                break
            self._heard += self._decoder.decode(data)
        whole, cut = self._heard, re.search(r"\x1b(\[[\d;?]*)?$", self._heard)
        if cut:  # the rest of a command is still under way
            whole = whole[: cut.start()]
        self._heard = self._heard[len(whole) :]
        self.raw += whole
        self.screen.obey(whole)
        return self.screen.shown


@contextmanager
def terminal(columns: int = 80, rows: int = 24) -> Iterator[Tty]:
    tty = Tty(columns, rows)
    try:
        yield tty
    finally:
        for close in (tty.stream.close, lambda: os.close(tty.master)):
            try:
                close()
            except OSError:
                continue
