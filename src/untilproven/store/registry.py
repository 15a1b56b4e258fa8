"""Source 004: the list of active loops, changed only under its lock.

The registry can be made again from the loops' own states, so a damaged one is set aside and rebuilt, never
taken for empty.
"""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from untilproven.core import naming
from untilproven.core.naming import quoted
from untilproven.errors import NoSlot, NoSuchLoop, RalphError, StoreFailed
from untilproven.model import wire
from untilproven.model.registry import (
    CAP_REASON,
    LOCK_TIMEOUT_SECONDS,
    MAX_CONCURRENT_LOOPS,
    REGISTRY_VERSION,
    ActiveLoop,
    Registry,
)
from untilproven.model.state import LoopConfiguration, LoopState
from untilproven.model.status import REGISTERED, Status
from untilproven.store import clock, files, reader
from untilproven.store.layout import STATE_DIRECTORY, StateDirectory
from untilproven.store.lock import FileLock, is_locked


class RegistryView(msgspec.Struct, frozen=True):
    """The registry as found, with what is wrong with it."""

    registry: Registry
    damage: tuple[str, ...] = ()


def entry_of(state: LoopState) -> ActiveLoop:
    """How a loop stands in the registry."""
    configuration = state.configuration or LoopConfiguration()
    status = state.status
    if status not in REGISTERED:
        raise StoreFailed(f"a loop that is {status} has no place in the registry")
    return ActiveLoop(
        loop_id=state.loop_id,
        status=status.value,  # type: ignore[arg-type]  # REGISTERED is exactly the Literal
        iteration=state.iteration,
        started_at=state.started_at or state.last_updated or clock.now(),
        task=state.task,
        completion_criteria=state.completion_criteria,
        last_active=state.last_updated,
        pid=state.pid,
        owner=state.owner,
        working_directory=state.working_directory,
        state_file=f"{STATE_DIRECTORY}/loops/{state.loop_id}/state.json",
        max_iterations=configuration.max_iterations,
        timeout_minutes=configuration.timeout_minutes,
    )


def read_registry(directory: StateDirectory) -> RegistryView:
    """Look at the registry without its lock: it is only ever replaced whole."""
    damage: list[str] = []
    registry = _decoded(directory.registry, damage)
    if registry is not None:
        return RegistryView(registry)
    if not damage and not directory.registry.parent.is_dir():
        return RegistryView(_empty())
    copy = _decoded(files.backup_of(directory.registry), damage) or _empty()
    found = _from_states(directory, copy.active_loops, damage)
    if damage:
        damage.append("the registry was made again from its last good copy and the loops' own states")
    return RegistryView(replace(copy, active_loops=tuple(found)[:MAX_CONCURRENT_LOOPS]), tuple(damage))


def _decoded(path: Path, damage: list[str]) -> Registry | None:
    data = b""
    try:
        data = files.read(path)
        return wire.decode(Registry, data)
    except FileNotFoundError:
        return None
    except RalphError as error:
        damage.append(error.message)
    except OSError as error:
        # It may be quite all right, so it must not be replaced by a guess.
        raise StoreFailed(f"{path} cannot be read: {error.strerror}") from error
    except wire.UNREADABLE as error:
        later = wire.later_version(data, 2)
        if later:
            raise StoreFailed(
                f"{path} was written by a later version of this program ({quoted(later)}) and is left alone",
                hint="upgrade untilproven",
            ) from error
        damage.append(f"{path.name} is not valid: {error}")
    return None


def _from_states(directory: StateDirectory, copy: Iterable[ActiveLoop], damage: list[str]) -> list[ActiveLoop]:
    """Who is active, going by the loops themselves; those that cannot tell are taken from the registry's last copy.

    The copy is one change behind. Those that a living process holds come first, in case there are too many.
    """
    known = {entry.loop_id: entry for entry in copy}
    for loop in directory.all_loops():
        try:
            seen = reader.look(directory, loop)
        except RalphError as error:
            damage.append(error.message)
            continue
        if seen.foreign or seen.state.status is Status.CRASHED:
            continue  # a crashed loop may have been cleaned up; only the copy knows
        if seen.state.status in REGISTERED:
            known.setdefault(loop.loop_id, entry_of(seen.state))
        else:
            known.pop(loop.loop_id, None)
    return sorted(known.values(), key=lambda entry: (not _held(directory, entry.loop_id), entry.started_at))


def _held(directory: StateDirectory, loop_id: str) -> bool:
    """Whether a living process runs the loop: it holds the lock."""
    return is_locked(directory.loop(loop_id).lock)


def _empty() -> Registry:
    return Registry(
        version=REGISTRY_VERSION,
        max_concurrent_loops=MAX_CONCURRENT_LOOPS,
        active_loops=(),
        registry_path=f"{STATE_DIRECTORY}/registry.json",
    )


class OpenRegistry:
    """The registry while its lock is held. Changes are written when the block ends without an error."""

    def __init__(self, directory: StateDirectory, found: RegistryView, time: clock.Clock) -> None:
        self.directory = directory
        self.damage = found.damage
        self._time = time
        self._registry = found.registry
        self._loops = {entry.loop_id: entry for entry in found.registry.active_loops}
        self._changed = self._lasting = bool(found.damage)

    @property
    def active(self) -> list[ActiveLoop]:
        return list(self._loops.values())

    def register_loop(self, state: LoopState) -> None:
        """Add a loop; the caller has written its state file."""
        loop_id = naming.loop_id(state.loop_id)
        if loop_id in self._loops:
            raise StoreFailed(f"{loop_id} is registered already")
        if not self.directory.loop(loop_id).state.is_file():
            raise StoreFailed(f"{loop_id} has no state file to register")
        if len(self._loops) >= MAX_CONCURRENT_LOOPS:
            raise self.full()
        self._put(entry_of(state), lasting=True)

    def deregister_loop(self, loop_id: str) -> None:
        if self._loops.pop(loop_id, None) is None:
            raise NoSuchLoop(f"{loop_id} is not in the registry")
        self._changed = self._lasting = True

    def update_heartbeat(self, state: LoopState) -> None:
        """Say that a loop is alive and how far it is; its status too, as long as that has a place here."""
        known = self._loops.get(state.loop_id)
        if known is None:
            raise NoSuchLoop(f"{state.loop_id} is not in the registry")
        beat = replace(entry_of(state), last_active=self._time(), extra=known.extra)
        self._put(beat, lasting=beat.status != known.status)

    def full(self) -> NoSlot:
        listed = [
            {
                "loop_id": entry.loop_id,
                "status": entry.status,
                "iteration": entry.iteration,
                "task": entry.task or "",
                "pid": entry.pid or None,
            }
            for entry in self.active
        ]
        names = "\n".join(f"  {row['loop_id']}  {row['status']}, iteration {row['iteration']}" for row in listed)
        return NoSlot(
            f"{MAX_CONCURRENT_LOOPS} loops are active, and that is the most there may be ({CAP_REASON}):\n{names}",
            hint="free a slot: `ralph abort LOOP`, or `ralph status --check-stale --cleanup` if one has crashed",
            details={"active_loops": listed},
        )

    def refresh(self, state: LoopState) -> None:
        """Bring an entry in line with the loop's state; unlike a heartbeat, it says nothing about being alive."""
        known = self._loops[state.loop_id]
        self._put(replace(entry_of(state), last_active=known.last_active, extra=known.extra), lasting=True)

    def _put(self, entry: ActiveLoop, *, lasting: bool) -> None:
        self._loops[entry.loop_id] = entry
        self._changed = True
        self._lasting = self._lasting or lasting

    def write(self) -> None:
        """Put the file in place; a mere heartbeat need not survive a power cut, who is in it must."""
        if not self._changed:
            return
        if self.damage:
            self._set_aside()
        registry = replace(
            self._registry,
            active_loops=tuple(self._loops.values())[:MAX_CONCURRENT_LOOPS],
            last_updated=self._time(),
        )
        files.replace(
            self.directory.registry,
            wire.encode_pretty(registry),
            durable=self._lasting,
            keep_previous=not self.damage,
        )
        self._changed = self._lasting = False

    def _set_aside(self) -> None:
        """Keep what could not be read, for whoever wants to know what happened."""
        aside = self.directory.registry.with_name("registry.json.damaged")
        with files.explained(aside), contextlib.suppress(FileNotFoundError):
            self.directory.registry.replace(aside)


@contextlib.contextmanager
def open_registry(
    directory: StateDirectory, *, time: clock.Clock = clock.now, timeout: float = LOCK_TIMEOUT_SECONDS
) -> Iterator[OpenRegistry]:
    """Hold the registry's lock, change it, and write it at the end."""
    directory.refuse_links()
    with FileLock(directory.registry_lock, timeout=timeout, what="the registry of loops"):
        registry = OpenRegistry(directory, read_registry(directory), time)
        yield registry
        registry.write()
