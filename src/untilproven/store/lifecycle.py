"""Starting, continuing and burying loops: the steps that touch a loop and the registry together."""

import contextlib
import os
from collections.abc import Callable

from msgspec import UNSET, UnsetType

from untilproven.core import naming
from untilproven.core.beginning import continued_state, new_state
from untilproven.core.text import text
from untilproven.core.transition import move
from untilproven.errors import IllegalTransition, UsageError
from untilproven.model import events
from untilproven.model.fields import PauseReason
from untilproven.model.iteration import Usage
from untilproven.model.plan import Allowance, Plan
from untilproven.model.state import LoopConfiguration, LoopState, ProcessIdentity
from untilproven.model.status import HAS_PROCESS, Status
from untilproven.store import clock, process, reader
from untilproven.store.layout import Project, StateDirectory
from untilproven.store.registry import open_registry
from untilproven.store.survey import make_room
from untilproven.store.vouch import Voucher
from untilproven.store.writer import LoopWriter, create_loop, open_loop, remove_loop


def create_state(
    project: Project,
    task: str,
    *,
    completion_criteria: str | UnsetType = UNSET,
    configuration: LoopConfiguration | None = None,
    plan: Plan | UnsetType = UNSET,
    allowance: Allowance | UnsetType = UNSET,
    loop_id: str | None = None,
    task_file: bytes | None = None,
    runner: ProcessIdentity | None = None,
    time: clock.Clock = clock.now,
) -> LoopWriter:
    """Source 000 create_state: cap check, id, directory, state file and registration under one lock.

    `task_file` is the whole task, where `task` is only its beginning. `runner` is who drives the loop, if that is not
    this process.
    """
    directory = project.state
    directory.make()
    with contextlib.ExitStack() as undo:
        with open_registry(directory, time=time) as registry:
            make_room(registry, time)
            state = new_state(
                _unused_id(directory, task, loop_id),
                task=text(task),
                completion_criteria=completion_criteria,
                configuration=configuration,
                plan=plan,
                allowance=allowance,
                owner=owner(),
                working_directory=text(str(project.root)),
                process=runner or process.this_process(),
                at=time(),
            )
            writer = _made(directory, state, task_file, undo, time)
            registry.register_loop(writer.state)
        undo.pop_all()
    return writer


def _made(
    directory: StateDirectory,
    state: LoopState,
    task_file: bytes | None,
    undo: contextlib.ExitStack,
    time: clock.Clock,
) -> LoopWriter:
    """A new loop that vanishes again if it cannot be registered."""
    writer = create_loop(directory, state, task_file=task_file, time=time)
    undo.callback(remove_loop, writer.loop)
    undo.callback(writer.close)
    return writer


def continue_loop(
    project: Project,
    loop_id: str,
    *,
    configuration: LoopConfiguration | None = None,
    allowance: Allowance | UnsetType = UNSET,
    task_file: bytes | None = None,
    time: clock.Clock = clock.now,
) -> LoopWriter:
    """A new loop that carries on from one that crashed, failed or was aborted, in its slot if it still has one."""
    directory = project.state
    with (
        open_registry(directory, time=time) as registry,
        open_loop(directory, loop_id, time=time) as old,
        contextlib.ExitStack() as undo,
    ):
        _refuse_second_continuation(directory, old)
        state = continued_state(
            old.state,
            _unused_id(directory, old.state.task or "task", None),
            process=process.this_process(),
            at=time(),
            configuration=configuration,
            allowance=allowance,
        )
        if any(entry.loop_id == loop_id for entry in registry.active):
            registry.deregister_loop(loop_id)
        else:
            make_room(registry, time)
        writer = _made(directory, state, task_file, undo, time)
        registry.register_loop(writer.state)
        registry.write()
        undo.pop_all()
        # Last, because it cannot be undone: an old loop must not point to one that was never made.
        old.record(events.LoopContinued(resumed_as=state.loop_id))
    return writer


def _refuse_second_continuation(directory: StateDirectory, old: LoopWriter) -> None:
    """A loop that took over from this one may exist although a kill kept the old one from saying so."""
    if old.state.resumed_as:
        return
    for seen in reader.all_views(directory, archived=True):
        if seen.state.resumed_from == old.state.loop_id and not seen.foreign:
            old.record(events.LoopContinued(resumed_as=seen.state.loop_id))
            return


def hand_over(writer: LoopWriter, runner: ProcessIdentity) -> None:
    """Another process drives the loop from now on; what is under way goes on."""
    loop_id, unfinished = writer.state.loop_id, writer.state.iteration_in_progress
    vouch = Voucher(writer.directory.home).code(loop_id, writer.state.started_with or "", runner)
    again = [events.IterationStarted(iteration=unfinished)] if unfinished else []
    writer.record(events.LoopAdopted(process=runner, vouch=vouch), *again)


def adopt_loop(
    project: Project,
    loop_id: str,
    *,
    usage: Callable[[int], Usage | UnsetType] = lambda _: UNSET,
    time: clock.Clock = clock.now,
) -> LoopWriter:
    """Take over a loop that nobody runs: same id, new process. A paused one runs again in the same step.

    What a dead process left unfinished is discarded; `usage` tells what that iteration is known to have cost, and is
    asked while nobody else can go on with it.
    """
    directory = project.state
    with contextlib.ExitStack() as undo:
        writer = undo.enter_context(open_loop(directory, loop_id, time=time))
        status = writer.state.status
        if status not in HAS_PROCESS and status is not Status.PAUSED:
            raise IllegalTransition(f"{loop_id} is {status}; only a loop that was running or paused is taken over")
        me = process.this_process()
        vouch = Voucher(directory.home).code(loop_id, writer.state.started_with or "", me)
        unfinished = writer.state.iteration_in_progress
        with open_registry(directory, time=time) as registry:
            entry = next((entry for entry in registry.active if entry.loop_id == loop_id), None)
            last_seen = entry.last_active if entry and status is not Status.PAUSED else UNSET
            happened: list[events.Event] = [
                events.LoopAdopted(
                    process=me,
                    vouch=vouch,
                    discarded_iteration=unfinished,
                    last_seen=last_seen,
                    usage=usage(unfinished) if unfinished else UNSET,
                )
            ]
            if status is Status.PAUSED:
                happened.append(events.StatusChanged(to=Status.RUNNING, reason="resumed"))
            if entry is None:
                # Its process died after it was made and before it was registered.
                make_room(registry, time)
                registry.register_loop(writer.state)
            registry.update_heartbeat(writer.record(*happened))
        undo.pop_all()
    return writer


def abort_loop(
    directory: StateDirectory,
    loop_id: str,
    *,
    before: Callable[[], None] = lambda: None,
    time: clock.Clock = clock.now,
) -> LoopState:
    """End a loop that nobody runs, and free its slot. One that is being run is refused as busy.

    `before` is called once it is sure that the loop will be ended, while nobody else can run it.
    """
    with open_loop(directory, loop_id, time=time) as writer:
        status = writer.state.status
        if status is Status.CRASHED:
            before()
            with open_registry(directory, time=time) as registry:
                if any(entry.loop_id == loop_id for entry in registry.active):
                    registry.deregister_loop(loop_id)
            return writer.state
        to = move(status, Status.FAILED if status is Status.COMPLETING else Status.ABORTED)
        before()
        return writer.transition_status(to, reason="aborted_by_user")


def pause_loop(
    directory: StateDirectory,
    loop_id: str,
    *,
    before: Callable[[], None] = lambda: None,
    time: clock.Clock = clock.now,
) -> LoopState:
    """Set a loop aside whose process is gone: it keeps its slot and is not marked crashed. `before` as above."""
    with open_loop(directory, loop_id, time=time) as writer:
        to = move(writer.state.status, Status.PAUSED)
        before()
        return writer.transition_status(to, reason="paused by the user", pause_reason=PauseReason.USER)


def _unused_id(directory: StateDirectory, task: str, wanted: str | None) -> str:
    if wanted is not None:
        if directory.loop(wanted).path.exists():
            raise UsageError(f"there is a loop {wanted} already", hint="choose another --loop-id")
        return naming.loop_id(wanted)
    while True:
        name = naming.new_loop_id(task, os.urandom(4).hex())
        if not directory.loop(name).path.exists():
            return name


def owner() -> str:
    try:
        import getpass  # noqa: PLC0415  loaded once in the life of a loop

        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
