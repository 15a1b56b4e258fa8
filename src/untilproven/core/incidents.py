"""From the journal to what went wrong on the way: what was refused, who decided, what was made of it."""

from collections.abc import Iterable

import msgspec

from untilproven.core.tally import Newest
from untilproven.model import events
from untilproven.model.fields import Severity
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
    blocking: dict[int, list[Finding]] = {}
    gates: dict[int, Gate] = {}
    recoveries: dict[str, RecoveryAttempt] = {}
    levels: list[events.ReinforcementChanged] = []
    for entry in entries:
        match entry.event:
            case events.IterationStarted(iteration=number):
                blocking.pop(number, None)  # it is tried again, and looked at again
            case events.GuardFinding(finding=finding, iteration=number) if finding.blocking:
                blocking.setdefault(number, []).append(finding)
            case events.GateOpened() as gate:
                gates[entry.header.seq] = Gate(gate)
            case events.GateDecided() as decided:
                _decide(gates, decided)
            case events.RecoveryStep(attempt=attempt):
                recoveries[attempt.recovery_id or str(entry.header.seq)] = attempt
            case events.ReinforcementChanged() as change:
                levels.append(change)
    refusals = [Refusal(number, tuple(findings)) for number, findings in blocking.items()]
    return Incidents(
        refusals=_newest(refusals),
        gates=_newest(gates.values()),
        recoveries=_newest(recoveries.values()),
        levels=_newest(levels),
    )
