"""A loop for an agent without hooks: it starts one, reports, says that it is done, and looks, by calling tools."""

import os
import time

import msgspec
from msgspec.structs import replace

from untilproven.errors import Busy, NoSuchLoop, UsageError
from untilproven.model.session import SessionLoopState
from untilproven.model.state import ProcessIdentity
from untilproven.session import audit, storage
from untilproven.session.engine import Answer, Heard, SessionLoop
from untilproven.session.place import SessionPlace
from untilproven.session.records import StartLoopOptions
from untilproven.store import reader
from untilproven.store.layout import Project

AGENT = "mcp"


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool answers: how the loop stands, and what to do next."""

    loop: str
    status: str
    iteration: int
    max_iterations: int
    message: str
    requirements: tuple[str, ...] = ()
    """What `ralph_complete` must bring evidence for."""
    checks: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """Why a completion was not looked at."""


class Tools:
    """Of one server. A loop is known by its id, and only those that were started by tools are touched."""

    def __init__(self, project: Project, runner: ProcessIdentity) -> None:
        self._project = project
        self._runner = runner

    def start(
        self,
        task: str,
        until: list[str] | None = None,
        max_iterations: int | None = None,
        *,
        trust_promise: bool = False,
    ) -> Told:
        from untilproven.session.starting import start  # noqa: PLC0415  slow to load

        options = StartLoopOptions(until=until or (), max_iterations=max_iterations, trust_promise=trust_promise)
        place = SessionPlace(self._project.state, f"mcp-{os.urandom(8).hex()}")
        begun = start(self._project, place, task, options, agent=AGENT, runner=self._runner)
        return Told(
            loop=begun.loop_id,
            status="running",
            iteration=1,
            max_iterations=begun.state.max_iterations,
            message="\n\n".join((begun.prompt, *begun.notes)),
            requirements=audit.requirements_in(task),
            checks=begun.checks,
        )

    def report(self, loop: str, summary: str) -> Told:
        """One iteration is over, and the work is not done."""
        if not summary.strip():
            raise UsageError("say what was done in this iteration")
        return self._heard(loop, Heard(words=lambda _: summary, at=time.time(), runner=self._runner))

    def complete(self, loop: str, summary: str, shown: list[audit.Shown]) -> Told:
        """The agent says that it is done. The checks decide; without an audit of every requirement they are not run."""
        place, state = self._place(loop)
        problems = audit.missing(audit.requirements_in(state.prompt), shown, self._project.root)
        if problems:
            told = self._told(loop, place, "the completion was not looked at: bring evidence for every requirement")
            return replace(told, problems=tuple(problems))
        claim = audit.as_claim(summary, shown)
        return self._heard(loop, Heard(words=lambda _: summary, at=time.time(), claim=claim, runner=self._runner))

    def look(self, loop: str) -> Told:
        place = self._known(loop)
        return self._told(loop, place, "")

    def cancel(self, loop: str) -> Told:
        from untilproven.session.ending import cancel  # noqa: PLC0415  seldom needed

        place = self._known(loop)
        cancel(self._project, place)
        return self._told(loop, place, "cancelled")

    def _heard(self, loop_id: str, heard: Heard) -> Told:
        place, _ = self._place(loop_id)
        loop = SessionLoop(self._project, place)
        try:
            loop.lock()
            answer = loop.turn(heard)
            if answer.kind == "prompt":
                loop.delivered(answer)
        except Busy:
            answer = Answer(note="another call for this loop is at work")
        finally:
            loop.close()
            loop.unlock()
        return self._told(loop_id, place, answer.prompt or answer.note or "nothing to do: the loop is paused")

    def _told(self, loop_id: str, place: SessionPlace, message: str) -> Told:
        seen = reader.view(self._project.state, loop_id).state
        state = storage.load(place)
        allowed = seen.allowance.iterations if seen.allowance else 0
        return Told(
            loop=loop_id,
            status=seen.status.value,
            iteration=state.iteration if state else max(seen.iteration, 1),
            max_iterations=allowed,
            message=message or seen.reason or f"the loop is {seen.status.value}",
            requirements=audit.requirements_in(state.prompt if state else seen.task or ""),
            checks=tuple(check.line for check in seen.plan.checks) if seen.plan else (),
        )

    def _known(self, loop_id: str) -> SessionPlace:
        seen = reader.view(self._project.state, loop_id)
        plan = seen.state.plan
        if seen.foreign or not plan or not plan.session or plan.agent != AGENT:
            raise NoSuchLoop(f"{loop_id} was not started by a tool of this server", hint="ralph_start starts one")
        return SessionPlace(self._project.state, plan.session)

    def _place(self, loop_id: str) -> tuple[SessionPlace, SessionLoopState]:
        place = self._known(loop_id)
        state = storage.load(place)
        if state is None or not state.active:
            seen = reader.view(self._project.state, loop_id).state
            raise NoSuchLoop(f"{loop_id} is {seen.status.value}: {seen.reason or 'it has ended'}", hint="ralph_start")
        return place, state
