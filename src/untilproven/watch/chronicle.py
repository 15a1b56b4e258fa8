"""What happened to the work of a loop, in order: what was seen in it, what came of that, who decided, what was best."""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import UNSET

from untilproven.model import events
from untilproven.model.iteration import Fate, Finding
from untilproven.model.persistence import ProtocolSteps, RecoveryAttempt, RegressionEvent, RetryOutcome
from untilproven.watch.console.lines import one_line
from untilproven.watch.incidents import ruling

_NAMED = 3
"""How many findings of one iteration are told each by itself."""


class Chapter(NamedTuple):
    iteration: int
    text: str


def chronicle(entries: Iterable[events.Entry]) -> list[Chapter]:
    """Oldest first. What an iteration did that was never finished is no part of it: it was thrown away."""
    told = _Told()
    for entry in entries:
        told.add(entry.event)
    return [*told.chapters, *told.under_way()]


class _Told:
    def __init__(self) -> None:
        self.chapters: list[Chapter] = []
        self._iteration = 0
        self._findings: list[Finding] = []
        self._regressions: list[RegressionEvent] = []
        self._gates: dict[str, int] = {}
        self._recoveries: dict[str, RecoveryAttempt] = {}
        self._best = 0

    def add(self, event: events.Event | None) -> None:
        match event:
            case events.IterationStarted():
                self._iteration, self._findings, self._regressions = event.iteration, [], []
            case events.GuardFinding():
                self._findings.append(event.finding)
                self._regressions += [event.regression] if event.regression else []
            case events.IterationFinished():
                self._finished(event)
            case events.RecoveryStep():
                self._recovered(event.attempt)
            case events.ReinforcementChanged():
                self._say(event.iteration, f"reminders: {event.to_level.value} ({one_line(event.reason)})")
            case events.GateOpened() | events.GateDecided() | events.TreeRestored():
                self._decided(event)

    def under_way(self) -> list[Chapter]:
        """What was seen in the iteration that has not finished."""
        seen = [_found(one) for one in self._findings[:_NAMED]]
        if len(self._findings) > _NAMED:
            seen.append(f"guard: {len(self._findings) - _NAMED} more findings")
        seen += [_regression(one) for one in self._regressions]
        return [Chapter(self._iteration, text) for text in seen]

    def _finished(self, event: events.IterationFinished) -> None:
        self.chapters += self.under_way()
        refused = any(finding.blocking for finding in self._findings)
        self._findings, self._regressions = [], []
        if event.fate is Fate.PARKED:
            self._say(event.iteration, "held back until somebody decides")
        elif event.fate is Fate.DISCARDED and refused:
            self._say(event.iteration, "taken back")
        if event.best and event.best.iteration and event.best.iteration != self._best:
            self._best = event.best.iteration
            score = "" if event.best.quality_score is UNSET else f", score {event.best.quality_score:g}"
            self._say(self._best, f"the best so far{score}")

    def _recovered(self, attempt: RecoveryAttempt) -> None:
        """It begins, and later it is seen whether it helped; that somebody is asked is said by the gate."""
        name, steps = attempt.recovery_id or "", attempt.protocol_steps or ProtocolSteps()
        before = (self._recoveries.get(name) or attempt).protocol_steps or ProtocolSteps()
        if name not in self._recoveries:
            cause = one_line((steps.diagnose.root_cause or "") if steps.diagnose else "") or one_line(attempt.trigger)
            change = one_line(" ".join(steps.adapt.changes_made or ())) if steps.adapt else ""
            self._say(attempt.iteration, f"recovery: {cause}" + (f"; told: {change}" if change else ""))
        if steps.retry and not before.retry:
            helped = "helped" if steps.retry.outcome is RetryOutcome.SUCCESS else "did not help"
            number = steps.retry.retry_iteration or attempt.iteration
            self._say(number, f"recovery from iteration {attempt.iteration}: telling the agent {helped}")
        self._recoveries[name] = attempt

    def _decided(self, event: events.GateOpened | events.GateDecided | events.TreeRestored) -> None:
        match event:
            case events.GateOpened():
                self._gates[event.gate_id] = event.iteration
                held_back = event.kind in {events.DESTRUCTIVE, events.RECOVERY}
                why = event.kind if held_back else event.message  # what is held back has been told
                self._say(event.iteration, f"gate opened: {one_line(why)}")
            case events.GateDecided():
                self._say(self._gates.get(event.gate_id, self._iteration), f"gate: {ruling(event)}")
            case events.TreeRestored():
                self._say(event.iteration, "the tree is again what it was after this iteration")

    def _say(self, iteration: int, text: str) -> None:
        self.chapters.append(Chapter(iteration, text))


def _found(one: Finding) -> str:
    where = f"{one_line(one.path)}: " if one.path else ""
    blocks = " (blocks)" if one.blocking else ""
    said = one_line(one.message or one.pattern_name)
    return f"guard: {one.severity.value} {one_line(one.pattern_id)} {where}{said}{blocks}"


def _regression(one: RegressionEvent) -> str:
    details = one.details or None
    values = [details.baseline_value, details.current_value] if details else []
    counted = all(isinstance(value, int | float) for value in values) and bool(values)
    return f"regression: {one.regression_type.value}" + (f", from {values[0]} to {values[1]}" if counted else "")
