"""Making the derived files again from the journal: the same state, the same iteration records."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from untilproven.model import wire
from untilproven.model.state import LoopState
from untilproven.store import files, reader
from untilproven.store.layout import StateDirectory
from untilproven.store.lock import FileLock
from untilproven.store.records import write_all_records
from untilproven.store.replay import Replay, replay_journal
from untilproven.store.vouch import Voucher
from untilproven.store.writer import begin_journal, foreign, lock_of


class Rebuilt(msgspec.Struct, frozen=True):
    """What `ralph state rebuild` did."""

    loop_id: str
    events: int
    iterations: int
    changed: tuple[str, ...]
    damage: tuple[str, ...]


def rebuild(directory: StateDirectory, loop_id: str) -> Rebuilt:
    """Replay the journal and put state.json and iterations/ in line with it; the old state stays as `.bak`.

    A journal without a usable beginning, or without its end, is set aside and begun again from the last good state.
    """
    seen = reader.view(directory, loop_id)
    loop = seen.directory
    if seen.foreign:
        raise foreign(loop_id)
    with lock_of(loop) as lock:
        replay = replay_journal(loop)
        if replay.state is None or (seen.state.journal_seq or 0) > replay.seq:
            return _begun_again(directory, seen, lock, replay)
        if not Voucher(directory.home).vouches(replay.state):
            raise foreign(loop_id)
        changed, state = [], replay.state
        if _differs(seen, state):
            files.replace(
                loop.state, wire.encode(state) + b"\n", durable=True, keep_previous=seen.source == "state.json"
            )
            changed.append("state.json")
        records = write_all_records(loop)
        changed += [f"iterations/{loop.iteration(number).name}" for number, written in records.items() if written]
    return Rebuilt(loop_id, replay.seq, len(records), tuple(changed), replay.damage)


def _begun_again(directory: StateDirectory, seen: reader.LoopView, lock: FileLock, replay: Replay) -> Rebuilt:
    loop = seen.directory
    aside = next(path for path in map(_aside(loop.journal), range(1, 1000)) if not path.exists())
    with files.explained(loop.journal):
        if loop.journal.exists():
            loop.journal.rename(aside)
    writer = begin_journal(directory, loop, lock, seen.state)
    writer.close_journal()
    damage = (*replay.damage, f"the old journal is kept as {aside.name}; the new one begins with the last good state")
    return Rebuilt(loop.loop_id, 1, 0, (loop.journal.name, loop.state.name), damage)


def _aside(journal: Path) -> Callable[[int], Path]:
    return lambda number: journal.with_name(f"{journal.name}.damaged-{number}")


def _differs(seen: reader.LoopView, state: LoopState) -> bool:
    return seen.source != "state.json" or wire.encode(seen.state) != wire.encode(state)
