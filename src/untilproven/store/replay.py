"""Reading a whole journal: the state it tells of, and what in it could not be used."""

import msgspec

from untilproven.core.projection import apply
from untilproven.errors import RalphError
from untilproven.model import events, wire
from untilproven.model.state import LoopState
from untilproven.store import journal
from untilproven.store.layout import LoopDirectory
from untilproven.store.reader import last_lines
from untilproven.store.vouch import digest

_SHOWN = 20


class Replay(msgspec.Struct, frozen=True):
    """What a journal says. `state` is None when it holds no usable beginning."""

    state: LoopState | None
    seq: int
    last_finished: int
    damage: tuple[str, ...]
    torn: journal.Torn | None


def replay_journal(loop: LoopDirectory) -> Replay:
    """Apply every line of the journal; what does not follow is reported and skipped."""
    state: LoopState | None = None
    seq, last_finished, torn = 0, 0, None
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
                if isinstance(found.event, events.IterationFinished):
                    last_finished = found.event.iteration
    except FileNotFoundError:
        damage.append("events.jsonl is missing")
    except OSError as error:
        damage.append(f"events.jsonl cannot be read: {error.strerror}")
    except RalphError as error:
        damage.append(error.message)
    return Replay(state, seq, last_finished, _shortened(damage), torn)


def _shortened(damage: list[str]) -> tuple[str, ...]:
    """A journal full of rubbish is reported in a few lines."""
    left_out = len(damage) - _SHOWN
    return (*damage[:_SHOWN], f"events.jsonl: {left_out} more like these") if left_out > 0 else tuple(damage)


def _applied(state: LoopState | None, entry: events.Entry, damage: list[str]) -> LoopState | None:
    try:
        applied = apply(state, entry)
    except RalphError as error:
        damage.append(f"events.jsonl seq {entry.header.seq}: {error.message}")
        return state
    if isinstance(entry.event, events.LoopStarted) and digest(entry.event.state) != entry.event.started_with:
        # Somebody rewrote the beginning; nobody vouches for it any more.
        damage.append("events.jsonl: the loop's beginning is not what was written")
        return msgspec.structs.replace(applied, vouch=msgspec.UNSET)
    return applied


def brought_up_to_date(loop: LoopDirectory, state: LoopState | None, damage: list[str]) -> LoopState | None:
    """A stored state with what the journal knows beyond it; the whole journal when there is none, or a gap."""
    newer = _with_tail(loop, state) if state is not None else None
    if newer is not None:
        return newer
    replay = replay_journal(loop)
    damage.extend(replay.damage)
    if replay.state is None and not replay.damage:
        damage.append("events.jsonl holds no usable line")
    return replay.state or state


def _with_tail(loop: LoopDirectory, state: LoopState) -> LoopState | None:
    """The state with the journal's last lines applied, if they can all be read and follow on it without a gap."""
    try:
        entries = [_entry(line) for line in last_lines(loop.journal)]
        newer = [entry for entry in entries[1:] if entry is None or entry.header.seq > (state.journal_seq or 0)]
        for entry in newer:
            if entry is None or entry.header.loop_id != loop.loop_id:
                return None
            if entry.header.seq != (state.journal_seq or 0) + 1:
                return None
            state = apply(state, entry)
    except (OSError, RalphError):
        return None
    return state if newer else None


def _entry(line: bytes) -> events.Entry | None:
    try:
        return journal.decode(line)
    except wire.UNREADABLE:
        return None
