"""Making the derived files again from the journal: the same state, the same iteration records."""

import msgspec

from untilproven.errors import Damaged
from untilproven.model import wire
from untilproven.model.state import LoopState
from untilproven.store import files, reader
from untilproven.store.layout import StateDirectory
from untilproven.store.records import write_all_records
from untilproven.store.replay import replay_journal
from untilproven.store.vouch import Voucher
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


def _differs(seen: reader.LoopView, state: LoopState) -> bool:
    return seen.source != "state.json" or wire.encode(seen.state) != wire.encode(state)
