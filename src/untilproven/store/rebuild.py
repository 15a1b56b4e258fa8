"""Making the derived files again from the journal: the same state, the same iteration records."""

from pathlib import Path

import msgspec

from untilproven.core.folding import iteration_record
from untilproven.errors import Damaged
from untilproven.model import events, wire
from untilproven.model.state import LoopState
from untilproven.store import files, journal, reader
from untilproven.store.layout import StateDirectory
from untilproven.store.replay import replay_journal
from untilproven.store.writer import foreign, lock_of


class Rebuilt(msgspec.Struct, frozen=True):
    """What `ralph state rebuild` did."""

    loop_id: str
    events: int
    iterations: int
    changed: tuple[str, ...]
    damage: tuple[str, ...]


def rebuild(directory: StateDirectory, loop_id: str) -> Rebuilt:
    """Replay the journal and put state.json and iterations/ in line with it; the old state stays as `.bak`."""
    seen = reader.view(directory, loop_id)
    loop = seen.directory
    if seen.foreign:
        raise foreign(loop_id)
    with lock_of(loop):
        replay = replay_journal(loop)
        if replay.state is None:
            raise Damaged(
                f"the journal of {loop_id} holds no usable beginning: " + "; ".join(replay.damage),
                hint=f"nothing was changed; the last state can still be seen: ralph status {loop_id}",
            )
        changed, state = [], replay.state
        if _differs(seen, state):
            files.replace(
                loop.state, wire.encode_pretty(state), durable=True, keep_previous=seen.source == "state.json"
            )
            changed.append("state.json")
        records = _records(loop.journal, loop_id)
        files.make_directory(loop.iterations)
        for number, entries in records.items():
            data = wire.encode_pretty(iteration_record(loop_id, number, entries))
            path = loop.iteration(number)
            if not path.exists() or files.read(path) != data:
                files.replace(path, data, durable=False)
                changed.append(f"iterations/{path.name}")
    return Rebuilt(loop_id, replay.seq, len(records), tuple(changed), replay.damage)


def _differs(seen: reader.LoopView, state: LoopState) -> bool:
    return seen.source != "state.json" or wire.encode(seen.state) != wire.encode(state)


def _records(path: Path, loop_id: str) -> dict[int, list[events.Entry]]:
    """The entries of each finished iteration."""
    gathered: dict[int, list[events.Entry]] = {}
    finished = set()
    for found in journal.scan(path, loop_id):
        number = getattr(getattr(found, "event", None), "iteration", 0)
        if isinstance(found, events.Entry) and number:
            gathered.setdefault(number, []).append(found)
            if isinstance(found.event, events.IterationFinished):
                finished.add(number)
    return {number: entries for number, entries in gathered.items() if number in finished}
