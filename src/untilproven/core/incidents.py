"""From the journal to what went wrong on the way: what was refused, who decided, what was made of it."""

from collections.abc import Collection, Iterable

import msgspec

from untilproven.core.tally import LISTED
from untilproven.model import events
from untilproven.model.iteration import Finding
from untilproven.model.persistence import RecoveryAttempt


class Refusal(msgspec.Struct, frozen=True):
    """What the guard saw in an iteration that kept its work back."""

    iteration: int
    findings: tuple[Finding, ...]


class Gate(msgspec.Struct, frozen=True):
    opened: events.GateOpened
    decided: events.GateDecided | None = None


class Incidents(msgspec.Struct, frozen=True, kw_only=True):
    """The newest of each, oldest first; `left_out` says how many of each came before."""

    refusals: tuple[Refusal, ...] = ()
    gates: tuple[Gate, ...] = ()
    recoveries: tuple[RecoveryAttempt, ...] = ()
    levels: tuple[events.ReinforcementChanged, ...] = ()
    left_out: dict[str, int] = {}


def incidents(entries: Iterable[events.Entry]) -> Incidents:
    book = _Book()
    for entry in entries:
        book.add(entry)
    found: dict[str, Collection[object]] = {
        "refusals": [Refusal(number, tuple(findings)) for number, findings in book.blocking.items()],
        "gates": book.gates,
        "recoveries": book.recoveries.values(),
        "levels": book.levels,
    }
    newest = {name: tuple(items)[-LISTED:] for name, items in found.items()}
    left_out = {name: len(items) - LISTED for name, items in found.items() if len(items) > LISTED}
    return Incidents(**newest, left_out=left_out)  # type: ignore[arg-type]


class _Book:
    def __init__(self) -> None:
        self.blocking: dict[int, list[Finding]] = {}
        self.gates: list[Gate] = []
        self.recoveries: dict[str, RecoveryAttempt] = {}
        self.levels: list[events.ReinforcementChanged] = []

    def add(self, entry: events.Entry) -> None:
        match entry.event:
            case events.IterationStarted(iteration=number):
                self.blocking.pop(number, None)  # it is tried again, and looked at again
            case events.GuardFinding(finding=finding, iteration=number) if finding.blocking:
                self.blocking.setdefault(number, []).append(finding)
            case events.GateOpened() as opened:
                self.gates.append(Gate(opened))
            case events.GateDecided() as decided:
                self._decided(decided)
            case events.RecoveryStep(attempt=attempt):
                self.recoveries[attempt.recovery_id or f"{entry.header.seq}"] = attempt
            case events.ReinforcementChanged() as change:
                self.levels.append(change)

    def _decided(self, decided: events.GateDecided) -> None:
        for place in reversed(range(len(self.gates))):
            if self.gates[place].opened.gate_id == decided.gate_id:
                self.gates[place] = Gate(self.gates[place].opened, decided)
                return
