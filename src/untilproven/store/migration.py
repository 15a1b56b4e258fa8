"""Sources 000 and 004, migration: a legacy loop file becomes a loop of ours; the file itself stays as it is."""

import contextlib
import hashlib
import os
import secrets
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec.structs import replace

from untilproven.core import legacy, naming
from untilproven.core.lenient import DEEPEST, too_deep
from untilproven.errors import Damaged, RalphError, UsageError
from untilproven.model import wire
from untilproven.model.state import LoopState
from untilproven.model.status import TERMINAL, Status
from untilproven.store import clock, files, reader
from untilproven.store.layout import STATE_DIRECTORY, LoopDirectory, Project, StateDirectory
from untilproven.store.lifecycle import owner
from untilproven.store.registry import OpenRegistry, open_registry, read_registry
from untilproven.store.survey import make_room
from untilproven.store.writer import create_loop, remove_loop

LEGACY_FILES = (f"{STATE_DIRECTORY}/current-loop.json", ".aiwg/ralph-external/session-state.json")
LEGACY_LIMIT = 4 * files.MIB
"""Every state.json of the loop carries what the file held; real ones have some ten kB."""
SNAPSHOT_LIMIT = 64 * files.MIB


class UnknownShape(UsageError):
    """A file in the place of a legacy one that no known tool wrote."""

    kind = "unknown_shape"


class Outcome(StrEnum):
    MIGRATED = "migrated"
    ALREADY = "already"
    """There is such a loop; nothing was written, or only what an interrupted migration had left undone."""
    PLANNED = "planned"


class Migration(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in one legacy file, and what became of it."""

    file: str
    outcome: Outcome
    shape: legacy.Shape
    loop_id: str | None = None
    """None when planned: a new one will be made."""
    status: Status
    reason: str | None = None
    iteration: int
    registered: bool
    kept: tuple[str, ...] = ()
    """Keys that have no place in the state and are kept under `legacy`."""
    copied: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Paths that the file names and that could not be brought along."""
    earlier: str | None = None
    """The loop that this file was migrated to when it held something else."""


class Refusal(msgspec.Struct, frozen=True):
    """A legacy file that was left alone, and why."""

    file: str
    error: RalphError


class _Found(msgspec.Struct, frozen=True):
    """A legacy file that can be converted."""

    file: str
    raw: dict[str, Any]
    shape: legacy.Shape
    origin: legacy.Origin


def migrate(project: Project, *, time: clock.Clock = clock.now, dry_run: bool = False) -> list[Migration | Refusal]:
    """Convert what legacy files there are; one that cannot be converted does not stop the other."""
    project.state.exists()  # refuses links where the state should be
    done: list[Migration | Refusal] = []
    for name in LEGACY_FILES:
        try:
            found = _find(project, name)
            if found is not None:
                done.append(_plan(project, found, time) if dry_run else _carry_out(project, found, time))
        except RalphError as error:
            done.append(Refusal(name, error))
    return done


def _find(project: Project, name: str) -> _Found | None:
    path = project.home / name
    try:
        files.refuse_link(path.parent)
        data = files.read(path, LEGACY_LIMIT)
        written_at = clock.from_timestamp(path.lstat().st_mtime)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Damaged(f"{name} cannot be read: {error.strerror}", hint=f"look at it: ls -l {path}") from error
    raw = _decoded(name, data)
    shape = legacy.recognise(raw)
    if shape is None:
        keys = ", ".join(naming.quoted(key) for key in list(raw)[:8]) or "none"
        raise UnknownShape(
            f"{name} is not a loop file of a kind this version knows (its keys: {keys}); it was left as it is",
            hint="to work on the same task, start a new loop; nothing reads the old file any more",
        )
    origin = legacy.Origin(
        migrated_from=f"{name} sha256:{hashlib.sha256(data).hexdigest()}",
        written_at=written_at,
        owner=owner(),
        working_directory=str(project.root),
    )
    return _Found(name, raw, shape, origin)


def _decoded(name: str, data: bytes) -> dict[str, Any]:
    hint = "it was left as it is; repair it, or move it away if nobody needs it"
    try:
        raw = msgspec.json.decode(data)
    except wire.UNREADABLE as error:
        raise Damaged(f"{name} is not readable as JSON: {error}", hint=hint) from error
    if not isinstance(raw, dict):
        raise Damaged(f"{name} holds no loop: a JSON object is needed, not a {type(raw).__name__}", hint=hint)
    if too_deep(raw):
        raise Damaged(f"{name} is nested more than {DEEPEST} levels deep; it is not believed", hint=hint)
    return raw


def _plan(project: Project, found: _Found, time: clock.Clock) -> Migration:
    """What would be done, without a lock and without a trace."""
    directory = project.state
    history = _History(directory, found)
    if history.loop:
        return _as_before(found, history.loop, registered=_is_registered(directory, history.loop.state))
    wanted = _free_id(directory, found.raw)
    state, copies = _converted(directory, found, wanted or _new_id(directory, found.raw), time)
    planned = _report(found, state, Outcome.PLANNED, registered=state.status not in TERMINAL, earlier=history.earlier)
    return replace(planned, loop_id=wanted, copied=tuple(copies))


def _carry_out(project: Project, found: _Found, time: clock.Clock) -> Migration:
    directory = project.state
    directory.make()
    with contextlib.ExitStack() as undo:
        with open_registry(directory, time=time) as registry:
            history = _History(directory, found)
            if history.loop:
                return _finish(registry, found, history.loop, time)
            name = _free_id(directory, found.raw) or _new_id(directory, found.raw)
            state, copies = _converted(directory, found, name, time)
            active = state.status not in TERMINAL
            if active:
                make_room(registry, time)
            with create_loop(directory, state, time=time) as writer:
                undo.callback(remove_loop, writer.loop)
                _copy(directory, copies)
                if active:
                    registry.register_loop(writer.state)
                else:
                    _make_registry(directory, time)
        undo.pop_all()
    done = _report(found, writer.state, Outcome.MIGRATED, registered=active, earlier=history.earlier)
    return replace(done, copied=tuple(copies))


class _History:
    """Whether this file was migrated before: exactly as it is now, or at an earlier time."""

    def __init__(self, directory: StateDirectory, found: _Found) -> None:
        self.loop: reader.LoopView | None = None
        self.earlier: str | None = None
        same = legacy.known_id(found.raw) if found.shape is legacy.Shape.V2 else None
        for seen in reader.all_views(directory, archived=True):
            migrated_from = seen.state.migrated_from or ""
            if migrated_from == found.origin.migrated_from or seen.state.loop_id == same:
                # Of a loop and the one that carries it on, the latter is what the user can act on.
                if self.loop is None or self.loop.state.resumed_as:
                    self.loop = seen
            elif migrated_from.startswith(f"{found.file} "):
                self.earlier = seen.state.loop_id


def _finish(registry: OpenRegistry, found: _Found, loop: reader.LoopView, time: clock.Clock) -> Migration:
    """Nothing to do, unless the first migration was killed before its last step."""
    directory, state = registry.directory, loop.state
    registered = any(entry.loop_id == state.loop_id for entry in registry.active)
    untouched = state.journal_seq == 1 and state.migrated_from == found.origin.migrated_from and not loop.foreign
    if untouched:
        _, copies = _converted(directory, found, state.loop_id, time)
        _copy(
            directory, {source: target for source, target in copies.items() if not (directory.home / target).exists()}
        )
    if untouched and not registered and state.status not in TERMINAL:
        make_room(registry, time)
        registry.register_loop(state)
        registered = True
    else:
        _make_registry(directory, time)
    return _as_before(found, loop, registered=registered)


def _as_before(found: _Found, loop: reader.LoopView, *, registered: bool) -> Migration:
    return _report(found, loop.state, Outcome.ALREADY, registered=registered, earlier=None)


def _report(found: _Found, state: LoopState, outcome: Outcome, *, registered: bool, earlier: str | None) -> Migration:
    kept = (state.extra or {}).get(legacy.KEY, {})
    return Migration(
        file=found.file,
        outcome=outcome,
        shape=found.shape,
        loop_id=state.loop_id,
        status=state.status,
        reason=state.reason or None,
        iteration=state.iteration,
        registered=registered,
        kept=tuple(key for key in kept if key != legacy.LEFT_OUT),
        left_out=tuple(kept.get(legacy.LEFT_OUT, ())),
        earlier=earlier,
    )


def _is_registered(directory: StateDirectory, state: LoopState) -> bool:
    return any(entry.loop_id == state.loop_id for entry in read_registry(directory).registry.active_loops)


def _free_id(directory: StateDirectory, raw: dict[str, Any]) -> str | None:
    known = legacy.known_id(raw)
    return known if known and not directory.loop(known).path.exists() else None


def _new_id(directory: StateDirectory, raw: dict[str, Any]) -> str:
    while True:
        name = naming.new_loop_id(legacy.task_of(raw), secrets.token_hex(4))
        if not directory.loop(name).path.exists():
            return name


def _make_registry(directory: StateDirectory, time: clock.Clock) -> None:
    """Source 004 create_registry_if_missing, also when the loop has ended and has no entry. The lock is held."""
    if not directory.registry.exists():
        registry = replace(read_registry(directory).registry, last_updated=time())
        files.replace(directory.registry, wire.encode_pretty(registry), durable=True)


def _converted(
    directory: StateDirectory, found: _Found, loop_id: str, time: clock.Clock
) -> tuple[LoopState, dict[str, str]]:
    """The state as it will be, and which files it brings along: from where, to where."""
    try:
        state = legacy.convert(found.raw, found.shape, loop_id, found.origin, at=time())
    except Damaged as error:
        raise Damaged(f"{found.file} cannot be migrated: {error.message}", hint="it was left as it is") from error
    loop = LoopDirectory(directory.loops / loop_id)
    named = legacy.paths_in(state)
    copies = {path: target for path in named if (target := _target(directory, loop, path))}
    return legacy.relocated(state, copies), copies


def _target(directory: StateDirectory, loop: LoopDirectory, path: str) -> str | None:
    """Where in the loop's directory a legacy snapshot belongs; None for what is not one, or cannot be copied."""
    match PurePosixPath(path).parts:
        case (".aiwg", "ralph", "iterations" | "checkpoints" as kind, name):
            source = directory.home / path
        case _:
            return None
    try:
        files.refuse_link(source.parent)
        with files.open_regular(source) as file:
            if file.seek(0, os.SEEK_END) > SNAPSHOT_LIMIT:
                return None
    except (OSError, ValueError, RalphError):
        return None
    return f"{STATE_DIRECTORY}/loops/{loop.loop_id}/{kind}/{name}"


def _copy(directory: StateDirectory, copies: dict[str, str]) -> None:
    for source, target in copies.items():
        try:
            data = files.read(directory.home / source, SNAPSHOT_LIMIT)
        except OSError as error:
            raise Damaged(f"{source} cannot be read any more: {error.strerror}") from error
        files.replace(directory.home / target, data, durable=True)
