"""Reading a whole journal: the state it tells of, and what in it could not be used."""

import msgspec

from untilproven.core.projection import apply
from untilproven.errors import RalphError
from untilproven.model import events
from untilproven.model.state import LoopState
from untilproven.store import journal
from untilproven.store.layout import LoopDirectory
from untilproven.store.vouch import digest


class Replay(msgspec.Struct, frozen=True):
    """What a journal says. `state` is None when it holds no usable beginning.

    `started_with` is the digest of the beginning as it stands there now, whatever it claims about itself.
    """

    state: LoopState | None
    seq: int
    damage: tuple[str, ...]
    torn: journal.Torn | None
    started_with: str


def replay_journal(loop: LoopDirectory) -> Replay:
    """Apply every line of the journal; what does not follow is reported and skipped."""
    state: LoopState | None = None
    seq, torn = 0, None
    damage: list[str] = []
    started_with = ""
    try:
        for found in journal.scan(loop.journal, loop.loop_id):
            if isinstance(found, journal.Damage):
                damage.append(f"events.jsonl {found.where}: {found.reason}")
            elif isinstance(found, journal.Torn):
                torn = found
            else:
                if state is None and isinstance(found.event, events.LoopStarted):
                    started_with = digest(found.event.state)
                seq = found.header.seq
                state = _applied(state, found, damage)
    except FileNotFoundError:
        damage.append("events.jsonl is missing")
    except RalphError as error:
        damage.append(error.message)
    return Replay(state, seq, tuple(damage), torn, started_with)


def _applied(state: LoopState | None, entry: events.Entry, damage: list[str]) -> LoopState | None:
    try:
        return apply(state, entry)
    except RalphError as error:
        damage.append(f"events.jsonl seq {entry.header.seq}: {error.message}")
        return state
