"""The driver: asks the core what is next, does it, records what happened, and asks again.

It can be killed at any instant. Whoever takes over folds the journal and asks the same question.
"""

import select
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from untilproven.contract import Agent, Check, Conflict, Supervision, Watcher, Workspace
from untilproven.core.course import Course, fold
from untilproven.core.decide import UNPROVEN, Wish, decide, failed
from untilproven.core.gates import conflict_gate, given_back
from untilproven.core.redaction import Redaction
from untilproven.errors import Damaged
from untilproven.model import commands, events
from untilproven.model.hooks import Anomaly
from untilproven.model.iteration import Fate, FileChange
from untilproven.model.plan import Plan
from untilproven.model.program import Stop
from untilproven.model.state import LoopState
from untilproven.model.status import Status
from untilproven.runtime import attempt, checking
from untilproven.runtime.delivering import Delivery
from untilproven.runtime.gauges import Gauges
from untilproven.runtime.hooks import Hooks, task_of
from untilproven.runtime.wishes import Wishes
from untilproven.store import clock
from untilproven.store.heartbeat import Heartbeat
from untilproven.store.journal import scan
from untilproven.store.layout import Project
from untilproven.store.writer import LoopWriter
from untilproven.workspace import environment

if TYPE_CHECKING:
    from untilproven.guard.jury import Jury
    from untilproven.runtime.settling import Settling

_NAP = 0.5
_LIMIT_SECONDS = 60.0
"""How long a provider is waited for that does not say how long, or that was wrong about it; then twice as long each
time."""
_NOTHING_KEPT = "without a room nothing is kept of the tree as it was"
_PATIENCE = 0.1
"""Seconds for which state.json may stand while iterations go by faster."""


_ANSWERS = {
    ("none", False): "it goes on",
    ("pause", False): "it will pause at the end of this iteration; Ctrl-C again stops it now",
    ("pause", True): "it is being stopped now",
    ("abort", True): "it is being aborted",
}


class Cast(msgspec.Struct, frozen=True, kw_only=True):
    """Who takes part in a loop."""

    project: Project
    task: str
    agent: Agent
    workspace: Workspace
    checks: Mapping[str, Check]
    hooks: Hooks
    watchers: tuple[Watcher, ...] = ()


class Driver:
    """Drives one loop to its end, or to where a human is needed. It holds the loop's lock through its writer."""

    def __init__(self, writer: LoopWriter, cast: Cast, wishes: Wishes) -> None:
        self.writer = writer
        self.cast = cast
        self.wishes = wishes
        self.course = course_of(writer)
        self._heartbeat = Heartbeat(writer)
        self._untold: list[tuple[events.Entry, LoopState]] = []
        self._heard = Wish()
        self.without_canary: set[str] = set()
        """Checks in which no planted test is ever seen, however honest the tree."""
        self.changes: tuple[FileChange, ...] = ()
        """What the iteration under way has changed."""
        self.gauges = Gauges()
        self._delivery = Delivery(self)
        self.hooks_task = task_of(writer.state)
        self.redaction = Redaction(_unwritten(environment.secrets(), self.course.plan, cast))
        writer.redact = self.redaction.record
        writer.listener = self._hear
        writer.patience = _PATIENCE

    @cached_property
    def _settling(self) -> "Settling":
        from untilproven.runtime.settling import Settling  # noqa: PLC0415  not loaded before the agent's first turn

        return Settling(self)

    @cached_property
    def jury(self) -> "Jury":
        from untilproven.guard.jury import Jury  # noqa: PLC0415  all of the guard, not before the agent's first turn

        return Jury()

    @property
    def state(self) -> LoopState:
        return self.writer.state

    def run(self) -> int:
        """Until nothing is left to do; returns the exit code."""
        last = self.course.last
        if last:
            self._settling.make_good()
        kept = last.number if last and last.finished and last.finished.fate is Fate.KEPT else None
        kept = self.course.approved or kept
        self.open_gate(kept or 0, self.cast.workspace.recover(kept))
        if self.course.plan.task_id:
            from untilproven.runtime import queued  # noqa: PLC0415  only loops of the queue

            queued.claim(self.cast.project, self.course.plan.task_id, self.state.loop_id)
        if self.course.last is None and not self.course.control:
            self.cast.hooks.on_task_start(self.hooks_task)
        code: int | None = None
        try:
            while code is None:
                move = self._still_wanted(decide(self.state, self.course, self.wishes.current()))
                if not isinstance(move.command, commands.Deliver | commands.RunChecks):
                    self._delivery.release()
                code = self._carry_out(move)
        finally:
            self._delivery.release()
            self.close()
        stopped = self.state.status is Status.PAUSED
        return (self.wishes.exit_code if stopped else 0) or code

    def close(self) -> None:
        """Nothing of what it has started is left."""
        if "jury" in self.__dict__:
            self.jury.close()

    def _still_wanted(self, move: commands.Move) -> commands.Move:
        """Somebody may have taken the task of the queue away while it was worked on; then it is worked on no more."""
        task_id = self.course.plan.task_id
        if not task_id or not isinstance(move.command, commands.RunAgent | commands.Deliver):
            return move
        from untilproven.runtime import queued  # noqa: PLC0415  only loops of the queue

        delivered = isinstance(move.command, commands.Deliver)
        why = queued.taken_away(self.cast.project, task_id, self.state.loop_id, self.course.plan, delivered=delivered)
        return failed(f"the task was taken away: {why}", UNPROVEN) if why else move

    def alarm(self, anomalies: Iterable[Anomaly]) -> None:
        """Something looks wrong in what was learnt."""
        for anomaly in anomalies:
            self.cast.hooks.on_anomaly(replace(anomaly, iteration=self.state.iteration))

    def record(self, *happened: events.Event, durable: bool = False) -> None:
        self.writer.record(*happened, durable=durable)
        self.tell()

    def _hear(self, entry: events.Entry, state: LoopState) -> None:
        if isinstance(entry.event, events.IterationObserved):
            self.changes = entry.event.delta
        self.course = fold(self.course, entry.event)
        self._untold.append((entry, state))

    def tell(self) -> None:
        """Pass on what was recorded, outside of every lock: whoever looks on may be slow."""
        untold, self._untold = self._untold, []
        for entry, state in untold:
            self.show(entry, state)

    def show(self, entry: events.Entry, state: LoopState) -> None:
        for watcher in self.cast.watchers:
            watcher.happened(entry, state)

    def tick(self) -> None:
        """Called about twice a second while something runs."""
        self._heartbeat.tick()
        self.writer.catch_up()
        self.tell()
        for watcher in self.cast.watchers:
            watcher.tick()

    def supervision(self) -> Supervision:
        """For what is run beside the agent: it ends when somebody cannot wait."""
        return Supervision(marker=self.state.loop_id, until=self.hurry, wake=self.wishes.fds)

    def hurry(self) -> Stop | None:
        self.tick()
        wish = self.wishes.current()
        if wish != self._heard:
            self._heard = wish
            for watcher in self.cast.watchers:
                watcher.noted(_ANSWERS[wish.do, wish.now])
        return Stop(wish.do, now=wish.do == "abort") if wish.now else None

    def _carry_out(self, move: commands.Move) -> int | None:  # noqa: C901  one case for each command
        match move.command:
            case commands.RunAgent(iteration=number):
                self._happened(move.events)
                self.gauges.begin()
                attempt.run(self, number)
            case commands.Measure(iteration=number):
                from untilproven.runtime import measuring  # noqa: PLC0415  few steps of a loop

                measuring.run(self, number)
            case commands.Judge(iteration=number, checks=names):
                self._judge(number, names)
            case commands.RunChecks(iteration=number, checks=names):
                checking.run(self, number, names)
            case commands.Keep(iteration=number):
                self._settling.settle(move.events)
                self.open_gate(number, self.cast.workspace.keep(number))
            case commands.RollBack(iteration=number):
                self._settling.settle(move.events)
                self.cast.workspace.discard(number)
            case commands.Park(iteration=number):
                self._settling.settle(move.events)
                self.cast.workspace.park(number)
            case commands.BringBack(iteration=number):
                self._bring_back(number)
            case commands.Deliver() | commands.Finish():
                return self._end(move)
            case commands.Pause():
                self.pause(move.command, move.events)
            case commands.SleepUntil(at=at):
                self._sleep(at)
            case commands.Leave(exit_code=code):
                return code
        return None

    def _judge(self, number: int, names: tuple[str, ...]) -> None:
        if not self.cast.workspace.can_discard:
            skipped = events.GuardFinished(iteration=number, files=0, duration_seconds=0.0, skipped=_NOTHING_KEPT)
            self.record(skipped)
            return
        from untilproven.runtime import judging  # noqa: PLC0415  not before the agent's first turn, and all of the guard

        judging.run(self, number, names)

    def _bring_back(self, number: int) -> None:
        """What was held back, or was better than what came after it, is part of the tree again."""
        conflicts = self.cast.workspace.bring_back(number)
        self.record(events.TreeRestored(iteration=number, tree=self.cast.workspace.tree(fresh=True)), durable=True)
        self.open_gate(number, conflicts)

    def _happened(self, happened: tuple[events.Event, ...]) -> None:
        """What comes before a step, and what follows from it for a recovery that is under way."""
        if happened:
            self.record(*happened)
            self.recover(happened)

    def recover(self, happened: tuple[events.Event, ...]) -> None:
        """Take the recovery that is under way, or that is needed now, one step further."""
        from untilproven.runtime.recovering import steps  # noqa: PLC0415  not loaded before the agent's first turn

        if following := steps(self.state, self.course, happened, clock.now()):
            self.record(*following)

    def open_gate(self, iteration: int, conflicts: tuple[Conflict, ...]) -> None:
        """The user's version stays, the agent's is kept, and nobody but the user can say which it is to be; in the
        queue the agent is told first, once."""
        course = self.course
        if not conflicts or any(gate and gate.iteration == iteration for gate in (course.gate, course.returned)):
            return
        gate = conflict_gate(iteration, conflicts)
        told = [given_back(gate)] if course.plan.task_id and not course.given_back else []
        self.record(gate, *told, durable=True)

    def _end(self, move: commands.Move) -> int | None:
        """None if it cannot end yet."""
        delivers = isinstance(move.command, commands.Deliver)
        if delivers and not self._delivery.can_begin():
            return None
        if not delivers:
            self._delivery.wait_for_turn()
        from untilproven.runtime import closing  # noqa: PLC0415  not loaded before the agent's first turn

        if isinstance(move.command, commands.Finish):
            if move.command.best and not self.cast.workspace.undelivered:
                self._bring_back(move.command.best)
            return closing.finish(self, move.command, move.events)
        return closing.deliver(self, move.events)

    def pause(self, command: commands.Pause, happened: tuple[events.Event, ...]) -> None:
        """Until somebody, or a moment, lets it go on."""
        self._happened(happened)
        resume_at = command.resume_at
        if command.again and (not resume_at or self.course.limited > 1):
            # Nobody said how long, or it did not help to wait that long: we wait longer each time.
            wait = timedelta(seconds=_LIMIT_SECONDS * 2 ** max(self.course.limited - 1, 0))
            resume_at = max(resume_at or clock.now(), clock.now() + wait)
        self.writer.transition_status(
            Status.PAUSED, reason=command.words, pause_reason=command.reason, resume_at=resume_at
        )
        self.wishes.granted()
        self.tell()

    def _sleep(self, at: datetime) -> None:
        """Until then, or until somebody wants something else."""
        poll = select.poll()
        for fd in self.wishes.fds:
            poll.register(fd, select.POLLIN)
        while (left := (at - clock.now()).total_seconds()) > 0:
            poll.poll(min(left, _NAP) * 1000)
            for watcher in self.cast.watchers:
                watcher.tick()
            if self.wishes.current().do != "none":
                return
        self.writer.transition_status(Status.RUNNING, reason="resumed: the usage limit has passed")
        self.tell()


def _unwritten(secrets: dict[str, str], plan: Plan, cast: Cast) -> dict[str, str]:
    """Without what the user wrote into the task, a check or a command, or what the project's directory is called: that
    is what these are known by, and it is on record."""
    written = "\n".join((msgspec.json.encode(plan).decode(), cast.task, str(cast.project.root)))
    return {name: value for name, value in secrets.items() if value not in written}


def course_of(writer: LoopWriter) -> Course:
    """How far a loop has come, from its journal."""
    if not writer.state.plan:
        raise Damaged(
            f"{writer.state.loop_id} has no plan: this version cannot run it",
            hint="start a new loop for the same task with `ralph run`",
        )
    course = Course(plan=writer.state.plan)
    for found in scan(writer.loop.journal, writer.loop.loop_id):
        if isinstance(found, events.Entry):
            course = fold(course, found.event)
    return course
