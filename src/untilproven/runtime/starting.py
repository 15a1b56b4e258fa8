"""Starting a loop, and going on with one that stopped: in place, or as a new loop that takes over."""

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256

import msgspec
from msgspec import UNSET, UnsetType

from untilproven.agents.factory import agent_of
from untilproven.checks.factory import planned_checks
from untilproven.contract import Agent, Watcher, Workspace
from untilproven.core.decide import bounds, spent
from untilproven.core.limits import reached
from untilproven.core.text import cut
from untilproven.errors import Damaged, IllegalTransition, NoAgent, RalphError
from untilproven.model import events
from untilproven.model.fields import Decision
from untilproven.model.plan import Allowance, Plan
from untilproven.model.state import LoopConfiguration, LoopState
from untilproven.model.status import CONTINUABLE, TERMINAL, Status
from untilproven.process import keepers
from untilproven.process.leftovers import end_leftovers
from untilproven.runtime.control.requests import clear_pauses
from untilproven.runtime.control.server import Bell
from untilproven.runtime.deciding import approved_gate, is_known, pass_gates, permit, refuse_undecided
from untilproven.runtime.driver import Cast, Driver
from untilproven.runtime.hooks import Hooks, LoopHooks
from untilproven.runtime.meter import usage_in
from untilproven.runtime.notifying import notifier_of
from untilproven.runtime.planning import hash_of
from untilproven.runtime.signals import Interrupts
from untilproven.runtime.wishes import Wishes
from untilproven.store import files, reader
from untilproven.store.journal import scan
from untilproven.store.layout import LoopDirectory, Project
from untilproven.store.lifecycle import adopt_loop, continue_loop, create_state
from untilproven.store.lock import FileLock, is_locked
from untilproven.store.reader import LoopView
from untilproven.store.writer import LoopWriter, foreign, open_loop
from untilproven.workspace.factory import require, workspace_of

SHOWN_BYTES = 4096
"""How much of the task stands in state.json; the whole is in task.md."""

_TASK_LIMIT = 64 * files.MIB


class UsedUp(RalphError):
    """There is nothing left of what the loop may use."""

    kind = "limit"
    exit_code = 4


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A loop to be started."""

    task: str
    plan: Plan
    allowance: Allowance
    configuration: LoopConfiguration
    loop_id: str | None = None


def begin(project: Project, wanted: Wanted) -> LoopWriter:
    """Register a new loop, once everything it needs is known to be there."""
    rehearse(project, wanted.plan)
    with _tree_alone(project, wanted.plan) as alone:
        return alone(_created(project, wanted))


def _created(project: Project, wanted: Wanted) -> LoopWriter:
    return create_state(
        project,
        cut(wanted.task, SHOWN_BYTES),
        completion_criteria="; ".join(check.line for check in wanted.plan.checks if check.role == "until") or UNSET,
        configuration=wanted.configuration,
        plan=wanted.plan,
        allowance=wanted.allowance,
        loop_id=wanted.loop_id,
        task_file=_task_file(wanted.task),
    )


def take_up(
    project: Project,
    loop_id: str,
    *,
    allowance: Allowance | UnsetType = UNSET,
    configuration: LoopConfiguration | None = None,
) -> LoopWriter:
    """Go on with a loop that nobody runs. What its dead runner left running is ended first."""
    seen = reader.resolve(project.state, loop_id)
    plan = _plan(seen)
    refuse_undecided(seen.directory)
    rehearse(project, plan)
    _refuse_if_used_up(seen.state, allowance)
    if is_locked(project.state.loop(seen.state.loop_id).lock):
        open_loop(project.state, seen.state.loop_id).close()  # says who runs it
    if plan.task_id:
        from untilproven.runtime import queued  # noqa: PLC0415  only loops of the queue

        queued.refuse_taken(project, plan.task_id, seen.state.loop_id)
    with _tree_alone(project, plan) as alone:
        return alone(_taken_up(project, loop_id, seen, allowance=allowance, configuration=configuration))


@contextlib.contextmanager
def _tree_alone(project: Project, plan: Plan) -> Iterator[Callable[[LoopWriter], LoopWriter]]:
    """Without a room, what two loops do in one tree could not be told apart: one would be proven by the other's work.

    Yields what ties the tree to the loop that gets it.
    """
    if plan.sandbox != "none":
        yield lambda writer: writer
        return
    project.state.make()
    name = sha256(os.fsencode(project.root)).hexdigest()[:16]
    lock = FileLock(
        project.state.path / f"tree-{name}.lock",
        timeout=0.25,
        what=f"{project.root}: another loop works on these files without a room, so it",
    )
    lock.acquire()
    given = False

    def to(writer: LoopWriter) -> LoopWriter:
        nonlocal given
        writer.hold(lock)
        given = True
        return writer

    try:
        yield to
    finally:
        if not given:
            lock.release()


def _refuse_if_used_up(state: LoopState, allowance: Allowance | UnsetType) -> None:
    """A loop that ended at a limit would end there again at once, as another loop."""
    stop = reached(bounds(allowance or state.allowance), spent(state))
    if stop and state.status in CONTINUABLE:
        raise UsedUp(
            f"the limit of {stop.limit} of {state.loop_id} is used up: {stop.observed:g} of {stop.allowed:g}",
            hint="raise it: --max-iterations, --timeout, --max-cost or --max-tokens",
        )


def _taken_up(
    project: Project,
    loop_id: str,
    seen: LoopView,
    *,
    allowance: Allowance | UnsetType,
    configuration: LoopConfiguration | None,
) -> LoopWriter:
    task = task_of(project.state.loop(seen.state.loop_id), seen.state)
    if seen.state.status in CONTINUABLE:
        end_leftovers(seen.state.loop_id)
        try:
            return _continued(project, seen.state.loop_id, task, allowance=allowance, configuration=configuration)
        except IllegalTransition:
            if reader.resolve(project.state, loop_id).state.loop_id == seen.state.loop_id:
                raise
        # Another loop has taken over, and what it came to, or who runs it, is seen by looking again.
        again = reader.resolve(project.state, loop_id)
        return _taken_up(project, loop_id, again, allowance=allowance, configuration=configuration)
    loop = project.state.loop(seen.state.loop_id)
    writer = adopt_loop(project, seen.state.loop_id, usage=lambda unfinished: usage_in(loop.output(unfinished)))
    try:
        clear_pauses(project.state, seen.state.loop_id)
        pass_gates(writer)
        end_leftovers(seen.state.loop_id)
        _bring_control(project, writer)
        changes = {"allowance": allowance, "configuration": configuration}
        given = {key: msgspec.to_builtins(value) for key, value in changes.items() if value}
        if given:
            writer.update_state(given)
    except BaseException:
        writer.close()
        raise
    return writer


def _plan(seen: LoopView) -> Plan:
    """Only what the first line of a journal says, which this user wrote, is ever run."""
    state = seen.state
    if seen.foreign:
        raise foreign(state.loop_id)
    if state.status is Status.COMPLETED:
        raise IllegalTransition(f"{state.loop_id} is completed", hint="start a new loop with `ralph run`")
    if not state.plan:
        raise Damaged(
            f"{state.loop_id} was not started by `ralph run`: it does not say which agent and checks to run",
            hint="start a new loop for the same task with `ralph run`",
        )
    if state.plan.session:
        raise IllegalTransition(
            f"{state.loop_id} lives in a session of {state.plan.agent}, and goes on there",
            hint="start it again in a session: /ralph",
        )
    return state.plan


def _continued(
    project: Project,
    loop_id: str,
    task: str,
    *,
    allowance: Allowance | UnsetType,
    configuration: LoopConfiguration | None,
) -> LoopWriter:
    writer = continue_loop(
        project, loop_id, allowance=allowance, configuration=configuration, task_file=_task_file(task)
    )
    try:
        _bring_control(project, writer)
    except BaseException:
        writer.close()
        raise
    return writer


def _bring_control(project: Project, writer: LoopWriter) -> None:
    """A loop that takes over from another is measured against its control and its start: how things were before any
    work.

    What could not be run then is tried again, as long as there has been no work.
    """
    before = writer.state.resumed_from
    if not before:
        return
    if writer.state.plan and writer.state.plan.sandbox != "none":
        from untilproven.workspace.snapshots.shelf import inherit  # noqa: PLC0415  few loops take over

        inherit(project.root, before, writer.state.loop_id)
    known = _control(writer.loop)
    with contextlib.suppress(FileNotFoundError):
        found = [check for name, check in _control(project.state.loop(before)).items() if name not in known]
        if found := [check for check in found if writer.state.start_tree or not check.broken]:
            writer.record(*found)
    _bring_approved(project.state.loop(before), writer)


def _bring_approved(before: LoopDirectory, writer: LoopWriter) -> None:
    """What was held back at the end of the loop before, and was let through since, is where this one begins."""
    gate = approved_gate(before)
    if gate is None or is_known(writer.loop, gate):
        return
    writer.record(gate, events.GateDecided(gate_id=gate.gate_id, decision=Decision.APPROVE, by="human"))
    permit(writer, gate)


def _control(loop: LoopDirectory) -> dict[str, events.CheckFinished]:
    return {
        found.event.check: found.event
        for found in scan(loop.journal, loop.loop_id)
        if isinstance(found, events.Entry)
        and isinstance(found.event, events.CheckFinished)
        and found.event.iteration == 0
    }


def rehearse(project: Project, plan: Plan) -> None:
    """Everything that can be found out before anything is written."""
    require(plan.sandbox)
    if plan.commit:
        from untilproven.workspace.git import committing  # noqa: PLC0415  few loops commit

        committing.rehearse(project.root)
    agent = agent_of(plan, project.root)
    if why := agent.missing(project.root):
        raise NoAgent(f"the agent cannot be started: {why}", hint="install it, or name another with --agent-cmd")


def _task_file(task: str) -> bytes:
    return task.encode("utf-8", "surrogatepass")


def task_of(loop: LoopDirectory, state: LoopState) -> str:
    """The whole task, if it is still the one that the loop was started with."""
    wanted = state.plan.task_hash if state.plan else ""
    with contextlib.suppress(FileNotFoundError):
        task = files.read(loop.task, _TASK_LIMIT).decode("utf-8", "surrogatepass")
        if hash_of(task) == wanted:
            return task
    if state.task and hash_of(state.task) == wanted:
        return state.task
    raise Damaged(
        f"the task of {state.loop_id} is not the one it was started with: {loop.task} was changed or lost",
        hint="start a new loop with `ralph run`",
    )


@contextlib.contextmanager
def driving(
    project: Project, writer: LoopWriter, *, watchers: tuple[Watcher, ...] = (), hooks: LoopHooks | None = None
) -> Iterator[Driver]:
    """Everything around a loop while it runs: control from elsewhere, signals, hooks."""
    state = writer.state
    plan = state.plan
    if not plan:
        raise Damaged(f"{state.loop_id} has no plan")
    with contextlib.ExitStack() as stack:
        stack.enter_context(keepers.kept())
        stack.enter_context(writer)
        bell = stack.enter_context(Bell(project.state, state.loop_id))
        interrupts = stack.enter_context(Interrupts())
        for watcher in watchers:
            stack.callback(watcher.close)
        notifier = notifier_of(state, writer.loop, project.root, partial(_noted, watchers))
        agent = agent_of(plan, project.root)
        agent.move_in(state.loop_id)
        workspace = workspace_of(plan, project, state.loop_id)
        stack.callback(_leave, project, workspace, agent, writer)
        checks = planned_checks(plan.checks, task_id=plan.task_id or state.loop_id, root=project.root)
        cast = Cast(
            project=project,
            task=task_of(writer.loop, state),
            agent=agent,
            workspace=workspace,
            checks={check.name: check for check in checks},
            hooks=Hooks(
                hooks or LoopHooks(),
                plan.hooks or {},
                writer.loop.hook_log,
                project.root,
                state.loop_id,
                state.loop_id,
            ),
            watchers=(*watchers, *([notifier] if notifier else [])),
        )
        yield Driver(writer, cast, Wishes(bell, interrupts))


def _noted(watchers: tuple[Watcher, ...], words: str) -> None:
    for watcher in watchers:
        watcher.noted(words)


def _leave(project: Project, workspace: Workspace, agent: Agent, writer: LoopWriter) -> None:
    """A loop that has ended needs its rooms no more; what was kept of its iterations stays."""
    if writer.state.status not in TERMINAL:
        workspace.close()
        return
    workspace.forget()
    agent.move_out(writer.state.loop_id)
    if workspace.kind == "overlay":
        from untilproven.runtime.restoring import sweep_rooms  # noqa: PLC0415  not before the end

        sweep_rooms(project)
