"""Looking at a loop without touching it: the state, where it was found, and what is wrong with it."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from untilproven.core.projection import apply
from untilproven.core.stale import Liveness
from untilproven.errors import Damaged, NoSuchLoop, RalphError
from untilproven.model import events, wire
from untilproven.model.state import LoopState
from untilproven.store import files, journal, process
from untilproven.store.layout import LoopDirectory, StateDirectory
from untilproven.store.vouch import Voucher


class LoopView(msgspec.Struct, frozen=True):
    """A loop as found on disk. `foreign` state may be shown and nothing more."""

    directory: LoopDirectory
    state: LoopState
    source: str
    damage: tuple[str, ...]
    foreign: bool
    liveness: Liveness
    written_at: float


class Replay(msgspec.Struct, frozen=True):
    """What a journal says. `state` is None when it holds no usable beginning."""

    state: LoopState | None
    seq: int
    damage: tuple[str, ...]
    torn: journal.Torn | None


def view(directory: StateDirectory, loop_id: str) -> LoopView:
    """Look at one loop; its state file, the last good copy, or the journal serves, in this order."""
    loop = directory.loop(loop_id)
    if not loop.path.is_dir():
        raise NoSuchLoop(f"there is no loop {loop_id} here", hint="`ralph status --all` lists what there is")
    return look(directory, loop)


def look(directory: StateDirectory, loop: LoopDirectory) -> LoopView:
    damage: list[str] = []
    state, source = _stored(loop, damage)
    if state is None or _behind(state, loop, damage):
        replay = replay_journal(loop)
        damage.extend(replay.damage)
        if replay.state is None and state is None:
            raise Damaged(
                f"the state of {loop.loop_id} cannot be read: " + "; ".join(damage),
                hint=f"the files are untouched in {loop.path}; iterations/ and checkpoints/ may still be good",
            )
        if replay.state is not None:
            state, source = replay.state, "events.jsonl"
    if state is None:
        raise Damaged(f"the state of {loop.loop_id} cannot be read")
    mine = Voucher(directory.home).vouches(state, started_with(loop))
    return LoopView(
        directory=loop,
        state=state,
        source=source,
        damage=tuple(damage),
        foreign=not mine,
        liveness=process.liveness(state.process) if mine else Liveness.UNKNOWN,
        written_at=_written_at(loop),
    )


def all_views(directory: StateDirectory, *, archived: bool = False) -> Iterator[LoopView]:
    """Every loop that can be read; `unreadable` tells of the others."""
    for loop in directory.all_loops(archived=archived):
        with contextlib.suppress(Damaged):
            yield look(directory, loop)


def replay_journal(loop: LoopDirectory) -> Replay:
    """Apply every line of the journal; what does not follow is reported and skipped."""
    state: LoopState | None = None
    seq, torn = 0, None
    damage: list[str] = []
    try:
        for found in journal.scan(loop.journal, loop.loop_id):
            if isinstance(found, journal.Damage):
                damage.append(f"events.jsonl {found.where}: {found.reason}")
            elif isinstance(found, journal.Torn):
                torn = found
            else:
                seq = found.header.seq
                state = _applied(state, found, damage)
    except FileNotFoundError:
        damage.append("events.jsonl is missing")
    except RalphError as error:
        damage.append(error.message)
    return Replay(state, seq, tuple(damage), torn)


def _applied(state: LoopState | None, entry: events.Entry, damage: list[str]) -> LoopState | None:
    try:
        return apply(state, entry)
    except RalphError as error:
        damage.append(f"events.jsonl seq {entry.header.seq}: {error.message}")
        return state


def started_with(loop: LoopDirectory) -> dict[str, Any] | None:
    """The state that the journal's first line says the loop began with."""
    try:
        with files.open_regular(loop.journal) as file:
            event = journal.decode(file.readline(journal.LINE_LIMIT)).event
    except (OSError, RalphError, *wire.UNREADABLE):
        return None
    return event.state if isinstance(event, events.LoopStarted) else None


def _stored(loop: LoopDirectory, damage: list[str]) -> tuple[LoopState | None, str]:
    for path in (loop.state, files.backup_of(loop.state)):
        state = _decoded(path, loop.loop_id, damage)
        if state is not None:
            return state, path.name
    return None, ""


def _decoded(path: Path, loop_id: str, damage: list[str]) -> LoopState | None:
    try:
        state = wire.decode(LoopState, files.read(path))
    except FileNotFoundError:
        damage.append(f"{path.name} is missing")
    except RalphError as error:
        damage.append(error.message)
    except OSError as error:
        damage.append(f"{path.name} cannot be read: {error.strerror}")
    except wire.UNREADABLE as error:
        damage.append(f"{path.name} is not valid: {error}")
    else:
        if state.loop_id == loop_id:
            return state
        damage.append(f"{path.name} belongs to {state.loop_id}")
    return None


def _behind(state: LoopState, loop: LoopDirectory, damage: list[str]) -> bool:
    """Whether the journal knows more: a writer was killed between the two, or the copy is an old one."""
    try:
        newest = journal.last_seq(loop.journal)
    except FileNotFoundError:
        return False
    except (OSError, RalphError) as error:
        damage.append(str(error))
        return False
    known = state.journal_seq or 0
    if newest is not None and newest < known:
        damage.append(f"events.jsonl ends at seq {newest}, but the state has seen {known}")
    return newest is None or newest > known


def _written_at(loop: LoopDirectory) -> float:
    times = []
    for path in (loop.state, loop.journal):
        try:
            times.append(path.stat(follow_symlinks=False).st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)
