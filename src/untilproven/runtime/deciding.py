"""Gates: which of them are open, and what is recorded when somebody has decided."""

from datetime import datetime, timedelta
from typing import Literal

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.core.gates import is_installed
from untilproven.errors import RalphError, UsageError
from untilproven.model import events
from untilproven.model.fields import Decision
from untilproven.model.status import TERMINAL
from untilproven.runtime.recovering import after_decision
from untilproven.store import clock
from untilproven.store.journal import scan
from untilproven.store.layout import LoopDirectory, StateDirectory
from untilproven.store.writer import LoopWriter, open_loop

HELD_BACK = frozenset({events.DESTRUCTIVE, events.RECOVERY})
"""Gates at which somebody has to say yes or no: going on is neither."""
DEADLINES = {events.DESTRUCTIVE: timedelta(hours=1)}
"""After that time without an answer, what is held back is refused."""

REMINDERS = {events.RECOVERY: timedelta(hours=48)}
"""After each such time without an answer, somebody who waits for the loop has it said again."""

_RESUMED, _NOBODY = "the loop was resumed", "nobody answered in time"


class Undecided(RalphError):
    """The loop waits for a human's yes or no."""

    kind = "gate"
    exit_code = 8


class Opened(msgspec.Struct, frozen=True):
    gate: events.GateOpened
    at: datetime

    @property
    def deadline(self) -> datetime | None:
        after = DEADLINES.get(self.gate.kind)
        return self.at + after if after else None

    @property
    def reminders(self) -> int:
        """How many times it should have been said again by now."""
        every = REMINDERS.get(self.gate.kind)
        return (clock.now() - self.at) // every if every else 0


def open_gates(loop: LoopDirectory) -> tuple[Opened, ...]:
    """Those that nobody has decided on."""
    found: dict[str, Opened] = {}
    for entry in scan(loop.journal, loop.loop_id):
        match entry.event if isinstance(entry, events.Entry) else None:
            case events.GateOpened() as gate:
                assert isinstance(entry, events.Entry)  # noqa: S101  by the case
                found[gate.gate_id] = Opened(gate, entry.header.ts)
            case events.GateDecided(gate_id=gate_id):
                found.pop(gate_id, None)
    return tuple(found.values())


def approved_gate(loop: LoopDirectory) -> events.GateOpened | None:
    """The gate at which a loop ended, if a human has let through what was held back there since."""
    opened: dict[str, events.GateOpened] = {}
    found: events.GateOpened | None = None
    ended = False
    for entry in scan(loop.journal, loop.loop_id):
        match entry.event if isinstance(entry, events.Entry) else None:
            case events.GateOpened() as gate:
                opened[gate.gate_id] = gate
            case events.LoopFinished():
                ended = True
            case events.GateDecided(gate_id=gate_id, decision=Decision.APPROVE, by="human") if ended:
                found = opened.get(gate_id)
    return found if found and found.kind in HELD_BACK else None


def is_known(loop: LoopDirectory, gate: events.GateOpened) -> bool:
    """Whether a loop has this gate on its own record."""
    entries = (found.event for found in scan(loop.journal, loop.loop_id) if isinstance(found, events.Entry))
    return any(isinstance(event, events.GateOpened) and event.gate_id == gate.gate_id for event in entries)


def refuse_open(directory: StateDirectory, loop_id: str, why: str) -> None:
    """Whoever lets a task go on without what was held back has refused that."""
    with open_loop(directory, loop_id) as writer:
        for opened in open_gates(writer.loop):
            if opened.gate.kind in HELD_BACK:
                _record(writer, opened, Decision.REJECT, "human", why)


def decide(directory: StateDirectory, loop_id: str, decision: Decision, why: str) -> tuple[Opened, ...]:
    """Record what a human says of a loop's gates; the loop goes on with it when it is resumed."""
    with open_loop(directory, loop_id) as writer:
        gates = open_gates(writer.loop)
        if not gates:
            raise UsageError(f"no gate of {loop_id} is open", hint="`ralph gate list` shows what waits for you")
        for opened in gates:
            _record(writer, opened, decision, "human", why)
        return gates


def pass_gates(writer: LoopWriter) -> None:
    """Whoever resumes a loop has decided on what needs no yes or no."""
    for opened in open_gates(writer.loop):
        if opened.gate.kind not in HELD_BACK:
            writer.record(
                events.GateDecided(gate_id=opened.gate.gate_id, decision=Decision.APPROVE, by="human", why=_RESUMED)
            )
        elif is_late(opened):
            _record(writer, opened, Decision.REJECT, "timeout", _NOBODY)


def refuse_undecided(loop: LoopDirectory) -> None:
    """What is held back is let through by a yes and by nothing else; without an answer it is refused after a time."""
    for opened in open_gates(loop):
        if opened.gate.kind in HELD_BACK and not is_late(opened):
            raise Undecided(
                f"{loop.loop_id} waits for your decision: {opened.gate.message}",
                hint=f"look: ralph gate show {loop.loop_id}; then: ralph gate approve or reject {loop.loop_id}",
                details={"loop_id": loop.loop_id},
            )


def is_late(opened: Opened) -> bool:
    """Whether nobody has answered in time."""
    return opened.deadline is not None and opened.deadline < clock.now()


def _record(writer: LoopWriter, opened: Opened, decision: Decision, by: Literal["human", "timeout"], why: str) -> None:
    said = events.GateDecided(gate_id=opened.gate.gate_id, decision=decision, by=by, why=why or UNSET)
    steps = [events.RecoveryStep(attempt=one) for one in after_decision(writer.state, said, clock.now())]
    writer.record(said, *steps)
    if decision is Decision.APPROVE and writer.state.status not in TERMINAL:
        permit(writer, opened.gate)


def permit(writer: LoopWriter, gate: events.GateOpened) -> None:
    """What the work needs and was not to change may be changed from now on."""
    allowance = writer.state.allowance
    if gate.kind == events.CONFLICT:
        return
    paths = [str(path) for path in (gate.data or {}).get("paths", ())]
    if not allowance or not paths:
        return
    changed = replace(
        allowance,
        test_edits=tuple(dict.fromkeys((*allowance.test_edits, *(path for path in paths if not is_installed(path))))),
        dependency_changes=allowance.dependency_changes or any(map(is_installed, paths)),
    )
    writer.update_state({"allowance": msgspec.to_builtins(changed)})
