"""Who is in the registry, and who should be: loops that ended, crashed, never began, or are not ours."""

from datetime import datetime

import msgspec

from untilproven.core.stale import is_stale
from untilproven.errors import Busy, Foreign, NoSuchLoop, RalphError
from untilproven.model import events
from untilproven.model.registry import MAX_CONCURRENT_LOOPS
from untilproven.model.status import REGISTERED, TERMINAL, Status
from untilproven.store import clock, files, reader
from untilproven.store.layout import LoopDirectory, StateDirectory
from untilproven.store.registry import OpenRegistry, open_registry
from untilproven.store.writer import lock_of, open_loop, remove_loop


class StaleLoop(msgspec.Struct, frozen=True):
    """What the stale check found, and whether it took the loop out of the registry."""

    loop_id: str
    status: Status
    removed: bool


def check_stale_loops(
    directory: StateDirectory, *, cleanup: bool = False, time: clock.Clock = clock.now
) -> list[StaleLoop]:
    """Source 004 check_stale_loops: mark what crashed, and on request take crashed loops out of the registry."""
    with open_registry(directory, time=time) as registry:
        crashed = _survey(registry, time).crashed
        orphans = _mark_orphans(registry, time)
        if cleanup:
            for loop_id in crashed:
                registry.deregister_loop(loop_id)
    found = [StaleLoop(loop_id, Status.CRASHED, removed=cleanup) for loop_id in crashed]
    return found + [StaleLoop(loop_id, Status.CRASHED, removed=True) for loop_id in orphans]


def make_room(registry: OpenRegistry, time: clock.Clock) -> None:
    """Refuse a fifth loop, unless one of the four has ended, has crashed, or was never ours."""
    survey = _survey(registry, time)
    if len(registry.active) < MAX_CONCURRENT_LOOPS:
        return
    for loop_id in (*survey.not_ours, *survey.crashed):
        registry.deregister_loop(loop_id)
        return
    raise registry.full()


class _Survey(msgspec.Struct):
    """The registered loops whose slots can be had."""

    crashed: list[str] = msgspec.field(default_factory=list)
    not_ours: list[str] = msgspec.field(default_factory=list)


def _survey(registry: OpenRegistry, time: clock.Clock) -> _Survey:
    """Compare the registry with the loops' own states: drop what has ended, mark what has crashed.

    One loop that cannot be read, or that leads elsewhere, must not keep the others from being looked at.
    """
    found = _Survey()
    _clear_unborn(registry)
    for entry in registry.active:
        try:
            _place(registry, entry.loop_id, found, time)
        except NoSuchLoop:
            registry.deregister_loop(entry.loop_id)
        except Foreign:
            found.not_ours.append(entry.loop_id)
        except RalphError:
            if not _held(registry.directory, entry.loop_id):
                found.crashed.append(entry.loop_id)
    return found


def _place(registry: OpenRegistry, loop_id: str, found: _Survey, time: clock.Clock) -> None:
    seen = reader.view(registry.directory, loop_id)
    (entry,) = (entry for entry in registry.active if entry.loop_id == loop_id)
    if seen.foreign:
        if not _held(registry.directory, loop_id):
            found.not_ours.append(loop_id)
    elif seen.state.status not in REGISTERED:
        registry.deregister_loop(loop_id)
    elif seen.state.status is Status.CRASHED or _marked_crashed(registry, seen, entry.last_active, time):
        if entry.state is not Status.CRASHED:
            registry.refresh(reader.view(registry.directory, loop_id).state)
        found.crashed.append(loop_id)
    elif entry.state is not seen.state.status:
        registry.refresh(seen.state)  # a kill came between the journal and the registry


def _mark_orphans(registry: OpenRegistry, time: clock.Clock) -> list[str]:
    """Loops of ours that should be running, are not registered, and whose maker is dead."""
    registered = {entry.loop_id for entry in registry.active}
    return [
        seen.state.loop_id
        for seen in reader.all_views(registry.directory)
        if seen.state.loop_id not in registered
        and not seen.foreign
        and seen.state.status not in TERMINAL
        and _marked_crashed(registry, seen, msgspec.UNSET, time)
    ]


def _marked_crashed(
    registry: OpenRegistry,
    seen: reader.LoopView,
    heartbeat: datetime | msgspec.UnsetType,
    time: clock.Clock,
) -> bool:
    """Whether this loop is stale; if so, its journal and state say so from now on."""
    written = clock.from_timestamp(seen.written_at)
    if not is_stale(seen.state.status, seen.liveness, now=time(), heartbeat=heartbeat, state_written=written):
        return False
    message = f"the process that ran it (pid {seen.state.pid or 'unknown'}) is gone"
    try:
        with open_loop(registry.directory, seen.state.loop_id, time=time) as writer:
            writer.record(events.StatusChanged(to=Status.CRASHED, reason="stale", error=message))
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
    except RalphError:
        return False


def _clear_unborn(registry: OpenRegistry) -> None:
    """Remove what is left of loops whose maker died before the first line: nobody was told of them.

    Loops are made under the registry's lock, which is ours now, so none of them is still being made.
    """
    for loop in registry.directory.all_loops():
        if never_began(loop):
            remove_loop(loop)


def never_began(loop: LoopDirectory) -> bool:
    """Whether all there is are empty directories, a lock, the task and a first line that was never finished."""
    if loop.state.exists():
        return False
    temporary = (loop.path / name for name in (".task.md.tmp", ".state.json.tmp", ".state.json.bak.tmp"))
    unfinished = {loop.lock, loop.task, loop.journal, *temporary}
    try:
        if any(path.is_symlink() or not (path.is_dir() or path in unfinished) for path in loop.path.rglob("*")):
            return False
        with files.open_regular(loop.journal) as file:
            return b"\n" not in file.read()
    except FileNotFoundError:
        return True
    except (OSError, RalphError):
        return False
