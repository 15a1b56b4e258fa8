"""How long the guard takes and how often it was right, in source 003's words, kept as a loop goes."""

import math
from collections.abc import Sequence

from msgspec import UNSET
from msgspec.structs import replace

from untilproven.core.persistence import KEPT_ENTRIES
from untilproven.model.events import GuardFinished
from untilproven.model.persistence import PersistenceMetrics
from untilproven.model.state import DetectionTime, LoopMetrics, LoopState

_RATE_DIGITS = 4


def on_guard_finished(state: LoopState, event: GuardFinished) -> LoopState:
    """The percentiles are of the newest times that are kept; what a person said is as of now."""
    if event.skipped:
        return state
    before = state.detection_time or DetectionTime()
    newest = (*before.newest_seconds, event.duration_seconds)[-KEPT_ENTRIES:]
    metrics = replace(
        state.persistence_metrics or PersistenceMetrics(),
        detection_latency_p95_ms=percentile_ms(newest, 95),
        detection_latency_p99_ms=percentile_ms(newest, 99),
    )
    if event.confirmed is not UNSET and event.false_positives is not UNSET:
        metrics = with_marks(metrics, right=event.confirmed, wrong=event.false_positives)
    return replace(
        state,
        persistence_metrics=metrics,
        detection_time=DetectionTime(
            total_seconds=round(before.total_seconds + event.duration_seconds, 6), newest_seconds=newest
        ),
    )


def on_iteration_complete(state: LoopState) -> LoopState:
    """What it adds to the time of the iterations so far."""
    metrics = state.metrics or LoopMetrics()
    worked = (metrics.average_iteration_time_seconds or 0.0) * (metrics.total_iterations or 0)
    if not state.detection_time or not worked:
        return state
    share = overhead(state.detection_time.total_seconds, worked)
    known = state.persistence_metrics or PersistenceMetrics()
    return replace(state, persistence_metrics=replace(known, integration_overhead_percentage=share))


def with_marks(metrics: PersistenceMetrics, *, right: int, wrong: int) -> PersistenceMetrics:
    """Rates only where a person has said which findings were right."""
    return replace(
        metrics,
        false_positive_rate=round(wrong / (wrong + right), _RATE_DIGITS) if wrong + right else UNSET,
        true_positive_count=right if wrong + right else UNSET,
        false_positive_count=wrong if wrong + right else UNSET,
    )


def overhead(guarding: float, working: float) -> float:
    """In percent."""
    return round(100 * guarding / working, 2)


def percentile_ms(seconds: Sequence[float], share: int) -> int:
    """By nearest rank, in whole milliseconds, rounded up."""
    ordered = sorted(seconds)
    return math.ceil(ordered[math.ceil(len(ordered) * share / 100) - 1] * 1000)
