"""A journal to fold: iterations as a driver records them, one after the other."""

from collections.abc import Mapping
from datetime import timedelta

from msgspec import UNSET, UnsetType

from support import MOMENT
from untilproven.model import events
from untilproven.model.fields import Severity
from untilproven.model.iteration import Continue, Fate, Finding, Usage
from untilproven.model.persistence import BestIteration, IterationEntry, QualityBreakdown, TestResults
from untilproven.store.journal import header_of

LOOP = "ralph-fix-the-tests-a1b2c3d4"
USED = Usage(total_tokens=1000, cost_usd=0.5)
BLOCKING = frozenset({Severity.CRITICAL, Severity.HIGH})


def finding(severity: Severity, name: str = "LP-001", message: str = "test_x was deleted") -> Finding:
    return Finding(
        pattern_id=name,
        pattern_name="Deleted test",
        severity=severity,
        blocking=severity in BLOCKING,
        path="tests/test_x.py",
        message=message,
        details={"id": name},
    )


class History:
    def __init__(self) -> None:
        self.entries: list[events.Entry] = []
        self.best: tuple[int, float] = (0, -1.0)

    def add(self, *happened: events.Event) -> "History":
        for event in happened:
            seq = len(self.entries) + 1
            at = MOMENT + timedelta(seconds=seq)
            self.entries.append(events.Entry(header_of(LOOP, seq, at, event), event))
        return self

    def check(self, iteration: int, *, passed: bool = False, **more: object) -> "History":
        found = events.CheckFinished(iteration=iteration, check="pytest", kind="tests", passed=passed, **more)  # type: ignore[arg-type]
        return self.add(found)

    def iteration(
        self,
        number: int,
        score: float | None = None,
        *,
        tests: tuple[int, int] | None = None,
        found: Mapping[Severity, int] | None = None,
        usage: Usage = USED,
        fate: Fate = Fate.KEPT,
        counted: bool = True,
        guard_seconds: float = 0.1,
        seconds: float = 2.0,
    ) -> "History":
        """`found` is None if the guard did not look; `tests` are those that passed, and all."""
        self.add(events.IterationStarted(iteration=number))
        if found is not None:
            kinds = [severity for severity, count in found.items() for _ in range(count)]
            self.add(*(events.GuardFinding(iteration=number, finding=finding(kind)) for kind in kinds))
            self.add(events.GuardFinished(iteration=number, files=1, duration_seconds=guard_seconds))
        if tests:
            passed, total = tests
            results = TestResults(total=total, passed=passed, failed=total - passed)
            self.check(number, passed=passed == total, tests=results)
        if score is not None:
            self.add(events.QualityScored(iteration=number, score=score, breakdown=QualityBreakdown()))
        return self.add(self._finished(number, score, usage, fate, seconds, counted=counted))

    def _finished(
        self, number: int, score: float | None, usage: Usage, fate: Fate, seconds: float, *, counted: bool
    ) -> events.IterationFinished:
        entry: IterationEntry | UnsetType = UNSET
        best: BestIteration | UnsetType = UNSET
        if score is not None:
            entry = IterationEntry(iteration=number, timestamp=MOMENT, quality_score=score, artifacts=())
            if score > self.best[1]:
                self.best = (number, score)
                best = BestIteration(iteration=number, quality_score=score, selection_reason=f"Highest ({score:g}%)")
        return events.IterationFinished(
            iteration=number,
            result=Continue(reason=""),
            fate=fate,
            counted=counted,
            progressed=True,
            duration_seconds=seconds,
            usage=usage,
            entry=entry,
            best=best,
        )


def scored(*scores: float) -> History:
    made = History()
    for number, score in enumerate(scores, start=1):
        made.iteration(number, score)
    return made
