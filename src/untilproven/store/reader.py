"""Looking at a loop without touching it: the state, where it was found, and what is wrong with it."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from untilproven.core.stale import Liveness
from untilproven.errors import Damaged, NoSuchLoop, RalphError
from untilproven.model import wire
from untilproven.model.state import LoopState
from untilproven.store import files, process
from untilproven.store.layout import LoopDirectory, StateDirectory
from untilproven.store.vouch import Voucher

_TAIL = 64 * 1024
_FOREIGN_JOURNAL = 32 * files.MIB
_BEGINNING = b'{"v":1,"ts":"'


class LoopView(msgspec.Struct, frozen=True):
    """A loop as found on disk. `foreign` state may be shown and nothing more."""

    directory: LoopDirectory
    state: LoopState
    source: str
    damage: tuple[str, ...]
    foreign: bool
    liveness: Liveness
    written_at: float


def view(directory: StateDirectory, loop_id: str) -> LoopView:
    """Look at one loop; its state file, the last good copy, or the journal serves, in this order."""
    loop = directory.loop(loop_id)
    if not loop.path.is_dir():
        raise NoSuchLoop(f"there is no loop {loop_id} here", hint="`ralph status --all` lists what there is")
    return look(directory, loop)


def resolve(directory: StateDirectory, loop_id: str) -> LoopView:
    """The loop that an id means now: a loop that was continued leads to the one that took over."""
    seen = view(directory, loop_id)
    visited = {loop_id}
    while seen.state.resumed_as and seen.state.resumed_as not in visited and not seen.foreign:
        visited.add(seen.state.resumed_as)
        try:
            seen = view(directory, seen.state.resumed_as)
        except NoSuchLoop:
            break
    return seen


def look(directory: StateDirectory, loop: LoopDirectory) -> LoopView:
    damage: list[str] = []
    state, source = _stored(loop, damage)
    if state is None or _behind(state, loop, damage):
        # Seldom more than the last line or two, and `status` must be quick, so what this needs is imported here.
        from untilproven.store.replay import brought_up_to_date  # noqa: PLC0415

        state, source = brought_up_to_date(loop, state, damage), loop.journal.name
    if state is None:
        raise Damaged(
            f"the state of {loop.loop_id} cannot be read: " + "; ".join(damage),
            hint=f"the files are untouched in {loop.path}; iterations/ and checkpoints/ may still be good",
        )
    voucher = Voucher(directory.home)
    mine = voucher.vouches(state)
    if not mine and source != loop.journal.name and _size(loop.journal) <= _FOREIGN_JOURNAL:
        # Perhaps only this copy was tampered with; the journal has the code too.
        from untilproven.store.replay import replay_journal  # noqa: PLC0415

        told = replay_journal(loop).state
        if told is not None and voucher.vouches(told):
            damage.append(f"{source} is not what was written; the journal serves")
            state, source, mine = told, loop.journal.name, True
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
    """Whether the journal knows more: a step that did not need to survive, a kill between the two, an old copy."""
    try:
        newest = last_seq(loop.journal)
        with files.open_regular(loop.journal) as file:
            if file.read(len(_BEGINNING)) != _BEGINNING:
                damage.append("events.jsonl does not begin as it should")
    except FileNotFoundError:
        if state.journal_seq:
            damage.append("events.jsonl is missing")
        return False
    except (OSError, RalphError) as error:
        damage.append(str(error))
        return False
    known = state.journal_seq or 0
    if newest is not None and newest < known:
        damage.append(f"events.jsonl ends at seq {newest}, but the state has seen {known}")
    return newest is None or newest > known


class _Seq(msgspec.Struct):
    seq: int


def last_seq(path: Path) -> int | None:
    """The number of the journal's newest whole line; None if it cannot be told from the end of the file."""
    lines = last_lines(path)
    try:
        return msgspec.json.decode(lines[-1], type=_Seq).seq if lines else None
    except wire.UNREADABLE:
        return None


def last_lines(path: Path) -> list[bytes]:
    """The whole lines at the end of a journal, without reading all of it; the first may be cut."""
    with files.open_regular(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _TAIL, 0))
        return file.read(_TAIL).split(b"\n")[:-1]


def _size(path: Path) -> int:
    try:
        return path.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def _written_at(loop: LoopDirectory) -> float:
    times = []
    for path in (loop.state, loop.journal):
        try:
            times.append(path.stat(follow_symlinks=False).st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)
