"""Starting, continuing and burying loops: the steps that touch a loop and the registry together."""

import contextlib
import getpass
import os
import secrets

import msgspec
from msgspec import UNSET, UnsetType

from untilproven.core import naming
from untilproven.core.beginning import continued_state, new_state
from untilproven.core.stale import is_stale
from untilproven.errors import Busy, Damaged, IllegalTransition, NoSuchLoop, RalphError, StoreFailed
from untilproven.model import events
from untilproven.model.fields import PauseReason
from untilproven.model.registry import MAX_CONCURRENT_LOOPS, ActiveLoop
from untilproven.model.state import LoopConfiguration, LoopState
from untilproven.model.status import HAS_PROCESS, REGISTERED, Status
from untilproven.store import clock, files, process, reader
from untilproven.store.layout import LoopDirectory, Project, StateDirectory
from untilproven.store.registry import OpenRegistry, open_registry
from untilproven.store.vouch import Voucher
from untilproven.store.writer import LoopWriter, create_loop, lock_of, open_loop, remove_loop


class StaleLoop(msgspec.Struct, frozen=True):
    """What the stale check found, and whether it took the loop out of the registry."""

    loop_id: str
    status: Status
    removed: bool


def create_state(
    project: Project,
    task: str,
    *,
    completion_criteria: str | UnsetType = UNSET,
    configuration: LoopConfiguration | None = None,
    loop_id: str | None = None,
    time: clock.Clock = clock.now,
) -> LoopWriter:
    """Source 000 create_state: cap check, id, directory, state file and registration under one lock."""
    directory = project.state
    directory.make()
    with contextlib.ExitStack() as undo:
        with open_registry(directory, time=time) as registry:
            make_room(registry, time)
            state = new_state(
                _unused_id(directory, task, loop_id),
                task=task,
                completion_criteria=completion_criteria,
                configuration=configuration,
                owner=owner(),
                working_directory=str(project.root),
                process=process.this_process(),
                at=time(),
            )
            writer = _made(directory, state, undo, time)
            registry.register_loop(writer.state)
        undo.pop_all()
    return writer


def _made(directory: StateDirectory, state: LoopState, undo: contextlib.ExitStack, time: clock.Clock) -> LoopWriter:
    """A new loop that vanishes again if it cannot be registered."""
    writer = create_loop(directory, state, time=time)
    undo.callback(remove_loop, writer.loop)
    undo.callback(writer.close)
    return writer


def continue_loop(
    project: Project,
    loop_id: str,
    *,
    configuration: LoopConfiguration | None = None,
    time: clock.Clock = clock.now,
) -> LoopWriter:
    """A new loop that carries on from one that crashed, failed or was aborted, in its slot if it still has one."""
    directory = project.state
    with contextlib.ExitStack() as undo:
        with open_registry(directory, time=time) as registry, open_loop(directory, loop_id, time=time) as old:
            state = continued_state(
                old.state,
                _unused_id(directory, old.state.task or "task", None),
                process=process.this_process(),
                at=time(),
                configuration=configuration,
            )
            if any(entry.loop_id == loop_id for entry in registry.active):
                registry.deregister_loop(loop_id)
            else:
                make_room(registry, time)
            writer = _made(directory, state, undo, time)
            registry.register_loop(writer.state)
            old.record(events.LoopContinued(resumed_as=state.loop_id))
        undo.pop_all()
    return writer


def adopt_loop(project: Project, loop_id: str, *, time: clock.Clock = clock.now) -> LoopWriter:
    """Take over a loop whose process is dead: same id, new process, the unfinished iteration is discarded."""
    directory = project.state
    with open_registry(directory, time=time) as registry, contextlib.ExitStack() as undo:
        writer = undo.enter_context(open_loop(directory, loop_id, time=time))
        if writer.state.status not in HAS_PROCESS:
            raise IllegalTransition(f"{loop_id} is {writer.state.status}; only a loop that was running is taken over")
        if all(entry.loop_id != loop_id for entry in registry.active):
            # Its process died after it was made and before it was registered.
            make_room(registry, time)
            registry.register_loop(writer.state)
        me = process.this_process()
        vouch = Voucher(directory.home).code(loop_id, writer.state.started_with or "", me)
        unfinished = writer.state.iteration_in_progress
        writer.record(events.LoopAdopted(process=me, vouch=vouch, discarded_iteration=unfinished))
        registry.update_heartbeat(writer.state)
        undo.pop_all()
    return writer


def abort_loop(directory: StateDirectory, loop_id: str, *, time: clock.Clock = clock.now) -> LoopState:
    """End a loop that nobody runs, and free its slot. One that is being run is refused as busy."""
    with open_loop(directory, loop_id, time=time) as writer:
        match writer.state.status:
            case Status.CRASHED:
                with open_registry(directory, time=time) as registry:
                    if any(entry.loop_id == loop_id for entry in registry.active):
                        registry.deregister_loop(loop_id)
                return writer.state
            case Status.COMPLETING:
                return writer.transition_status(Status.FAILED, reason="aborted_by_user")
            case _:
                return writer.transition_status(Status.ABORTED, reason="aborted_by_user")


def pause_loop(directory: StateDirectory, loop_id: str, *, time: clock.Clock = clock.now) -> LoopState:
    """Set a loop aside whose process is gone: it keeps its slot and is not marked crashed."""
    with open_loop(directory, loop_id, time=time) as writer:
        return writer.transition_status(Status.PAUSED, reason="paused by the user", pause_reason=PauseReason.USER)


def check_stale_loops(
    directory: StateDirectory, *, cleanup: bool = False, time: clock.Clock = clock.now
) -> list[StaleLoop]:
    """Source 004 check_stale_loops: mark what crashed, and on request take crashed loops out of the registry."""
    with open_registry(directory, time=time) as registry:
        crashed = _survey(registry, time).crashed
        if cleanup:
            for loop_id in crashed:
                registry.deregister_loop(loop_id)
    return [StaleLoop(loop_id, Status.CRASHED, removed=cleanup) for loop_id in crashed]


class _Survey(msgspec.Struct):
    """The registered loops by what can be done with their slots."""

    living: list[str] = msgspec.field(default_factory=list)
    crashed: list[str] = msgspec.field(default_factory=list)
    not_ours: list[str] = msgspec.field(default_factory=list)


def _survey(registry: OpenRegistry, time: clock.Clock) -> _Survey:
    """Compare the registry with the loops' own states: drop what has ended, mark what has crashed."""
    found = _Survey()
    _clear_unborn(registry)
    for entry in registry.active:
        try:
            seen = reader.view(registry.directory, entry.loop_id)
        except NoSuchLoop:
            registry.deregister_loop(entry.loop_id)
            continue
        except Damaged:
            (found.living if _held(registry.directory, entry.loop_id) else found.crashed).append(entry.loop_id)
            continue
        if seen.foreign:
            found.not_ours.append(entry.loop_id)
        elif seen.state.status not in REGISTERED:
            registry.deregister_loop(entry.loop_id)
        elif seen.state.status is Status.CRASHED or _marked_crashed(registry, entry, seen, time):
            found.crashed.append(entry.loop_id)
        else:
            found.living.append(entry.loop_id)
    return found


def _clear_unborn(registry: OpenRegistry) -> None:
    """Remove what is left of loops whose maker died before the first line: nobody was told of them.

    Loops are made under the registry's lock, which is ours now, so none of them is still being made.
    """
    for loop in registry.directory.all_loops():
        if _never_began(loop):
            remove_loop(loop)


def _never_began(loop: LoopDirectory) -> bool:
    """Whether all there is are empty directories, a lock and a first line that was never finished."""
    unfinished = {loop.lock, loop.journal, loop.path / ".state.json.tmp", loop.path / ".state.json.bak.tmp"}
    try:
        if any(path.is_symlink() or not (path.is_dir() or path in unfinished) for path in loop.path.rglob("*")):
            return False
        with files.open_regular(loop.journal) as file:
            return b"\n" not in file.read()
    except FileNotFoundError:
        return True
    except (OSError, RalphError):
        return False


def _marked_crashed(registry: OpenRegistry, entry: ActiveLoop, seen: reader.LoopView, time: clock.Clock) -> bool:
    """Whether this loop is stale; if so, its journal, state and entry say so from now on."""
    written = clock.from_timestamp(seen.written_at)
    if not is_stale(seen.state.status, seen.liveness, now=time(), heartbeat=entry.last_active, state_written=written):
        return False
    try:
        with open_loop(registry.directory, entry.loop_id, time=time) as writer:
            message = f"the process that ran it (pid {seen.state.pid or 'unknown'}) is gone"
            registry.refresh(writer.record(events.StatusChanged(to=Status.CRASHED, reason="stale", error=message)))
    except Busy:
        return False  # somebody holds it, so somebody is alive
    return True


def _held(directory: StateDirectory, loop_id: str) -> bool:
    """Whether some process holds the loop's lock."""
    try:
        with lock_of(directory.loop(loop_id)):
            return False
    except Busy:
        return True


def make_room(registry: OpenRegistry, time: clock.Clock) -> None:
    """Refuse a fifth loop, unless one of the four has ended, has crashed, or was never ours."""
    survey = _survey(registry, time)
    if len(registry.active) < MAX_CONCURRENT_LOOPS:
        return
    for loop_id in (*survey.not_ours, *survey.crashed):
        registry.deregister_loop(loop_id)
        return
    raise registry.full()


def _unused_id(directory: StateDirectory, task: str, wanted: str | None) -> str:
    if wanted is not None:
        if directory.loop(wanted).path.exists():
            raise StoreFailed(f"there is a loop {wanted} already", hint="choose another --loop-id")
        return naming.loop_id(wanted)
    while True:
        name = naming.new_loop_id(task, secrets.token_hex(4))
        if not directory.loop(name).path.exists():
            return name


def owner() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
