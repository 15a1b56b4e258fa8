"""The agent says that it is done: the guard looks at what has changed, the checks run, and the core decides."""

import contextlib
import time
from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.checks.factory import planned_checks
from untilproven.contract import Agent, Emit, Turn, Worked
from untilproven.core import prompt, telling, verdict
from untilproven.core.decide import LIMIT, Wish, decide
from untilproven.errors import Damaged
from untilproven.model import commands, events
from untilproven.model.iteration import Continue
from untilproven.model.session import SessionLoopState
from untilproven.model.status import TERMINAL, Status
from untilproven.process import keepers
from untilproven.runtime import checking
from untilproven.runtime.control import requests
from untilproven.runtime.driver import Cast, Driver
from untilproven.runtime.hooks import Hooks, LoopHooks
from untilproven.runtime.wishes import Wishes
from untilproven.session import constants
from untilproven.store import clock, files
from untilproven.store.layout import Project, StateDirectory
from untilproven.store.writer import LoopWriter
from untilproven.workspace.factory import workspace_of
from untilproven.workspace.standing.workspace import StandingWorkspace

_LISTED = 1_000


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it: go on, done, at the limit, ended otherwise, waiting for a human, or out of time."""

    kind: Literal["continue", "done", "limit", "failed", "paused", "late"]
    words: str
    prompt: str = ""


class Deadline(Wishes):
    """What another terminal wants of the loop, and the time by which a hook must have answered."""

    def __init__(self, directory: StateDirectory, loop_id: str, seconds: float) -> None:
        self._directory, self._loop_id = directory, loop_id
        self._until = time.monotonic() + seconds

    @property
    def late(self) -> bool:
        return time.monotonic() >= self._until

    @property
    def fds(self) -> tuple[int, ...]:
        return ()

    def current(self) -> Wish:
        request = requests.pending(self._directory, self._loop_id)
        if request and request.do == "abort":
            return Wish(do="abort", now=True)
        if self.late or (request and request.now):
            return Wish(do="pause", now=True)
        return Wish(do="pause") if request else Wish()

    def granted(self) -> None:
        requests.clear_all(self._directory, self._loop_id)

    @property
    def exit_code(self) -> int:
        return 0


class _Present:
    """The agent is there already: nobody starts it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def missing(self, root: object) -> str:  # noqa: ARG002  it is there
        return ""

    def move_in(self, loop_id: str) -> None:
        """It lives with the user."""

    def move_out(self, loop_id: str) -> None:
        """It stays."""

    def work(self, turn: Turn, room: object, emit: Emit) -> Worked:  # noqa: ARG002  the contract's
        raise Damaged("this loop goes on in its own session")


class SessionDriver(Driver):
    """Carries out what the core wants, up to the point where the agent is to work again."""

    wishes: Deadline

    def settle(self) -> Settled:
        while True:
            move = decide(self.state, self.course, self.wishes.current())
            match move.command:
                case commands.RunAgent():
                    self._happened(move.events)
                    return Settled(kind="continue", words=self._why(), prompt=self.first_prompt())
                case commands.Pause() if self.wishes.late:
                    return Settled(kind="late", words="the checks took too long and were stopped, nothing is proven")
                case commands.Pause(words=words):
                    self.pause(move.command, move.events)
                    return Settled(kind="paused", words=words)
                case commands.SleepUntil():
                    return Settled(kind="paused", words="it waits for a limit to pass")
            code = self._carry_out(move)
            if code is not None:
                return self._over(code)

    def _over(self, code: int) -> Settled:
        reason = self.state.reason or ""
        if self.state.status is Status.COMPLETED:
            return Settled(kind="done", words=reason)
        return Settled(kind="limit" if code == LIMIT else "failed", words=reason or f"it is {self.state.status}")

    def _why(self) -> str:
        last = self.course.last
        if self.course.discarded:
            return self.course.discarded
        return verdict.judge(self.course, last).reason if last else ""

    def first_prompt(self) -> str:
        told = telling.briefing(
            self.state, self.course, task=self.cast.task, index={}, can_discard=False, advice=self.cast.workspace.advice
        )
        heading = f"[RALPH LOOP - ITERATION {told.iteration}/{told.max_iterations}]"
        return f"{heading}\n\n{prompt.first_prompt(told)}"

    def observe(self, claim: str, seconds: float) -> None:
        """What the session has changed since it was last looked at, and what the agent says of it."""
        number = self.state.iteration_in_progress or self.state.iteration + 1
        if not self.state.iteration_in_progress:
            self.record(events.IterationStarted(iteration=number))
        workspace = self.cast.workspace
        delta = workspace.delta() if workspace.can_discard else None
        self.record(
            events.IterationObserved(
                iteration=number,
                delta=delta.changes[:_LISTED] if delta else (),
                tree=delta.tree if delta else UNSET,
                result=Continue(reason="it stopped"),
                claim=claim or UNSET,
                notes=(delta.notes or UNSET) if delta else UNSET,
                duration_seconds=round(seconds, 3),
            )
        )

    def make_up_for_control(self) -> None:
        """What could not be run before the work is run on the tree as it was then."""
        workspace, left = self.cast.workspace, verdict.control_wanted(self.course)
        if left and isinstance(workspace, StandingWorkspace) and workspace.can_turn_back:
            with workspace.turned_back():
                checking.run(self, 0, left)


@contextlib.contextmanager
def driving(project: Project, writer: LoopWriter, task: str, seconds: float) -> Iterator[SessionDriver]:
    """Everything around a session's loop while something is decided about it."""
    state = writer.state
    plan = state.plan
    if not plan:
        raise Damaged(f"{state.loop_id} has no plan")
    workspace = workspace_of(plan, project, state.loop_id)
    checks = planned_checks(plan.checks, task_id=state.loop_id, root=project.root)
    agent: Agent = _Present(plan.agent)
    hooks = Hooks(LoopHooks(), {}, writer.loop.hook_log, project.root, state.loop_id, state.loop_id)
    cast = Cast(
        project=project,
        task=task,
        agent=agent,
        workspace=workspace,
        checks={check.name: check for check in checks},
        hooks=hooks,
    )
    with keepers.kept():
        try:
            with contextlib.closing(
                SessionDriver(writer, cast, Deadline(project.state, state.loop_id, seconds))
            ) as driver:
                # The journal lies within the agent's reach: a verdict that it has on this tree already is found again.
                driver.course = replace(driver.course, verdicts=())
                yield driver
        finally:
            (workspace.forget if writer.state.status in TERMINAL else workspace.close)()


def settle(project: Project, writer: LoopWriter, state: SessionLoopState, claim: str) -> Settled:
    """What becomes of the loop now that the agent has stopped."""
    began = state.last_iteration_at or state.started_at
    seconds = max((clock.now() - began).total_seconds(), 0.0)
    with driving(project, writer, state.prompt, constants.DEADLINE_SECONDS) as driver:
        driver.make_up_for_control()
        driver.observe(claim, seconds)
        settled = driver.settle()
    if settled.prompt:
        files.replace(writer.loop.prompt(state.iteration + 1), settled.prompt.encode("utf-8", "replace"), durable=False)
    return settled
