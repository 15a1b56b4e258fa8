"""From the journal to what the iterations of a loop amount to: scores, time, money, findings, and a direction."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from untilproven.core import trend
from untilproven.core.course import id_of
from untilproven.core.detection import overhead, percentile_ms, with_marks
from untilproven.model import events
from untilproven.model.analytics import ANALYTICS_VERSION, Analytics, AnalyticsTotals, IterationAnalytics
from untilproven.model.fields import Severity
from untilproven.model.iteration import Fate, Usage
from untilproven.model.persistence import BestIteration, PersistenceMetrics, TestResults
from untilproven.model.status import Status

_DIGITS = 4


def analytics(loop_id: str, entries: Iterable[events.Entry], marks: Mapping[str, str] | None = None) -> Analytics:
    """All of it; `marks` has what a person said of findings, `false_positive` or `confirmed`, by their ids."""
    ledger = _Ledger()
    for entry in entries:
        ledger.add(entry)
    rows = _rows(ledger.laps)
    scored = [(row.iteration_number, row.quality_score) for row in rows if row.quality_score is not UNSET]
    scores = [score for _, score in scored]
    optimal = max(scored, key=lambda one: (one[1], -one[0])) if scored else None
    selected, reason = ledger.selection(optimal)
    totals = _totals(ledger, rows)
    gained = next((score - scores[0] for number, score in scored if number == selected), None) if scored[1:] else None
    flat = trend.diminishing(scores)
    return Analytics(
        version=ANALYTICS_VERSION,
        loop_id=loop_id,
        iterations=rows,
        totals=totals,
        diminishing_returns_detected=flat is not None,
        diminishing_returns_iteration=UNSET if flat is None else scored[flat][0],
        quality_trajectory=trend.trajectory(scores),
        optimal_iteration=optimal[0] if optimal else UNSET,
        final_iteration=next((row.iteration_number for row in reversed(rows) if row.counted), UNSET),
        selected_iteration=selected or UNSET,
        selection_reason=reason or UNSET,
        delivered_iteration=ledger.in_place or UNSET,
        quality_improvement=UNSET if gained is None else round(gained, _DIGITS),
        quality_per_1k_tokens=_per_1k_tokens(totals, optimal),
        cost_per_point_usd=_per_point(totals, gained),
        persistence_metrics=_persistence(ledger, rows, marks or {}),
    )


class _Lap:
    """One attempt at an iteration, with what comes after its end: checks can be made up for."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.checks: dict[str, events.CheckFinished] = {}
        self.findings: Counter[Severity] = Counter()
        self.judged = False
        self.score: float | None = None
        self.finished: events.IterationFinished | None = None
        self.entry: events.Entry | None = None
        self.fate = Fate.DISCARDED

    @property
    def verification(self) -> Literal["passed", "failed", "skipped"]:
        ran = [check for check in self.checks.values() if not check.broken]
        if not ran:
            return "skipped"
        good = len(ran) == len(self.checks) and all(check.passed and not check.lost for check in ran)
        return "passed" if good else "failed"

    @property
    def tests(self) -> TestResults:
        return next((check.tests for check in self.checks.values() if check.tests), TestResults())


class _Ledger:
    """What the entries so far amount to."""

    def __init__(self) -> None:
        self.laps: list[_Lap] = []
        self.latencies: list[float] = []
        self.found: set[str] = set()
        self.never_ran: set[str] = set()
        """Checks that could not be run before the work."""
        self.lost: list[Usage] = []
        """What iterations had used that were never finished."""
        self.best: BestIteration | None = None
        self.completed = ""
        self.in_place = 0

    def add(self, entry: events.Entry) -> None:
        match entry.event:
            case events.IterationStarted() as event:
                self._begin(event.iteration)
            case events.LoopAdopted() as event:
                self._adopted(event)
            case events.CheckFinished() as event:
                self._checked(event)
            case events.GuardFinding() as event:
                self._lap(event.iteration).findings[event.finding.severity] += 1
                self.found.add(id_of(event.finding))
            case events.GuardFinished() as event if not event.skipped:
                self._lap(event.iteration).judged = True
                self.latencies.append(event.duration_seconds)
            case events.QualityScored() as event:
                self._lap(event.iteration).score = event.score
            case events.IterationFinished() as event:
                self._finished(event, entry)
            case _:
                self._settled(entry.event)

    def _settled(self, event: events.Event | None) -> None:
        match event:
            case events.TreeRestored():
                self._lap(event.iteration).fate = Fate.KEPT
                self.in_place = event.iteration
            case events.StatusChanged(to=Status.COMPLETED):
                self.completed = event.reason or "it was accepted"
            case events.LoopFinished(undelivered=True):
                self.in_place = 0

    def _checked(self, event: events.CheckFinished) -> None:
        """What could not be run before the work, and cannot be still, says nothing."""
        if not event.iteration:
            self.never_ran |= {event.check} if event.broken else set()
        elif not (event.broken and event.check in self.never_ran):
            self._lap(event.iteration).checks[event.check] = event

    def _begin(self, number: int) -> None:
        """What came of an attempt that was never finished does not count."""
        if self.laps and not self.laps[-1].finished:
            self.laps.pop()
        self.laps.append(_Lap(number))

    def _adopted(self, event: events.LoopAdopted) -> None:
        if event.discarded_iteration:
            self.lost.append(event.usage or Usage())

    def _lap(self, number: int) -> _Lap:
        """The newest attempt at this iteration."""
        for lap in reversed(self.laps):
            if lap.number == number:
                return lap
        self.laps.append(_Lap(number))
        return self.laps[-1]

    def _finished(self, event: events.IterationFinished, entry: events.Entry) -> None:
        lap = self._lap(event.iteration)
        lap.finished, lap.entry, lap.fate = event, entry, event.fate
        if event.entry:
            lap.score = event.entry.quality_score
        self.best = event.best or self.best
        self.in_place = event.iteration if event.fate is Fate.KEPT else self.in_place

    def selection(self, optimal: tuple[int, float] | None) -> tuple[int, str]:
        """The work that was accepted as done first, then the score."""
        if self.completed and self.in_place:
            return self.in_place, self.completed
        if self.best and self.best.iteration:
            return self.best.iteration, self.best.selection_reason or ""
        return (optimal[0], f"Highest quality score ({optimal[1]:g}%)") if optimal else (0, "")


def _rows(laps: Sequence[_Lap]) -> tuple[IterationAnalytics, ...]:
    rows: list[IterationAnalytics] = []
    before: float | None = None
    for lap in laps:
        if lap.finished is None or lap.entry is None:
            continue
        rows.append(_row(lap, lap.finished, lap.entry, before))
        before = before if lap.score is None else lap.score
    return tuple(rows)


def _row(
    lap: _Lap, finished: events.IterationFinished, entry: events.Entry, before: float | None
) -> IterationAnalytics:
    usage, tests = finished.usage or Usage(), lap.tests
    return IterationAnalytics(
        iteration_number=lap.number,
        timestamp=entry.header.ts,
        execution_time_ms=round(finished.duration_seconds * 1000),
        verification_status=lap.verification,
        fate=lap.fate,
        counted=finished.counted,
        quality_score=UNSET if lap.score is None else lap.score,
        quality_delta=UNSET if lap.score is None else round(lap.score - (lap.score if before is None else before), 1),
        tokens_used=_tokens(usage),
        token_cost_usd=usage.cost_usd,
        output_snapshot_path=finished.entry.snapshot_path if finished.entry else UNSET,
        findings=dict(lap.findings) if lap.judged or lap.findings else UNSET,
        tests_total=tests.total,
        tests_passed=tests.passed,
        tests_failed=tests.failed,
    )


def _tokens(usage: Usage) -> int | UnsetType:
    if usage.total_tokens is UNSET and usage.input_tokens is not UNSET and usage.output_tokens is not UNSET:
        return usage.input_tokens + usage.output_tokens
    return usage.total_tokens


def _totals(ledger: _Ledger, rows: Sequence[IterationAnalytics]) -> AnalyticsTotals:
    tokens = [*(row.tokens_used for row in rows), *map(_tokens, ledger.lost)]
    costs = [*(row.token_cost_usd for row in rows), *(usage.cost_usd for usage in ledger.lost)]
    seen = sum((Counter(row.findings) for row in rows if row.findings), Counter[Severity]())
    looked = any(row.findings is not UNSET for row in rows)
    known_tokens = [count for count in tokens if count is not UNSET]
    known_costs = [cost for cost in costs if cost is not UNSET]
    return AnalyticsTotals(
        iterations=sum(row.counted for row in rows),
        execution_time_ms=sum(row.execution_time_ms for row in rows),
        tokens=sum(known_tokens) if known_tokens else UNSET,
        cost_usd=round(sum(known_costs), 9) if known_costs else UNSET,
        unknown_token_iterations=len(tokens) - len(known_tokens) or UNSET,
        unknown_cost_iterations=len(costs) - len(known_costs) or UNSET,
        findings=dict(seen) if looked else UNSET,
    )


def _per_1k_tokens(totals: AnalyticsTotals, optimal: tuple[int, float] | None) -> float | UnsetType:
    if optimal is None or not totals.tokens or totals.unknown_token_iterations:
        return UNSET
    return round(optimal[1] * 1000 / totals.tokens, _DIGITS)


def _per_point(totals: AnalyticsTotals, gained: float | None) -> float | UnsetType:
    if not gained or gained < 0 or totals.cost_usd is UNSET or totals.unknown_cost_iterations:
        return UNSET
    return round(totals.cost_usd / gained, 6)


def _persistence(
    ledger: _Ledger, rows: Sequence[IterationAnalytics], marks: Mapping[str, str]
) -> PersistenceMetrics | UnsetType:
    """Source 003's figures; rates only where a person has said which findings were right."""
    said = Counter(marks[found] for found in ledger.found if found in marks)
    wrong, right = said["false_positive"], said["confirmed"]
    if not ledger.latencies and not said:
        return UNSET
    worked = sum(row.execution_time_ms for row in rows) / 1000
    measured = bool(ledger.latencies)
    metrics = PersistenceMetrics(
        detection_latency_p95_ms=percentile_ms(ledger.latencies, 95) if measured else UNSET,
        detection_latency_p99_ms=percentile_ms(ledger.latencies, 99) if measured else UNSET,
        integration_overhead_percentage=overhead(sum(ledger.latencies), worked) if measured and worked else UNSET,
    )
    return with_marks(metrics, right=right, wrong=wrong)
