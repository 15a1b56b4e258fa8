"""What a loop's iterations amount to, in the words of the published iteration analytics: `analytics/analytics.json`.

What nobody measured or reported is left out.
"""

from enum import StrEnum
from typing import Literal

from msgspec import UNSET, UnsetType

from untilproven.model.fields import Count, LoopId, Ordinal, Percent, Severity, Timestamp
from untilproven.model.iteration import Fate
from untilproven.model.persistence import PersistenceMetrics
from untilproven.model.wire import Record

ANALYTICS_VERSION = "2.0.0"


class Trajectory(StrEnum):
    IMPROVING = "improving"
    STABLE = "stable"
    DECLINING = "declining"
    FLUCTUATING = "fluctuating"
    INSUFFICIENT_DATA = "insufficient_data"


class IterationAnalytics(Record, frozen=True, kw_only=True):
    """One iteration that finished. One that does not count is tried again under the same number."""

    iteration_number: Ordinal
    timestamp: Timestamp
    execution_time_ms: Count
    verification_status: Literal["passed", "failed", "skipped"]
    fate: Fate
    counted: bool
    quality_score: Percent | UnsetType = UNSET
    quality_delta: float | UnsetType = UNSET
    """Against the score before it; 0 for the first."""
    tokens_used: Count | UnsetType = UNSET
    token_cost_usd: float | UnsetType = UNSET
    output_snapshot_path: str | UnsetType = UNSET
    findings: dict[Severity, Count] | UnsetType = UNSET
    """What the guard saw, by severity; left out if it did not look."""
    tests_total: Count | UnsetType = UNSET
    tests_passed: Count | UnsetType = UNSET
    tests_failed: Count | UnsetType = UNSET


class AnalyticsTotals(Record, frozen=True, kw_only=True):
    """Sums of what is known, with the number of iterations of which it is not. What did not count was paid for, too."""

    iterations: Count
    execution_time_ms: Count
    tokens: Count | UnsetType = UNSET
    cost_usd: float | UnsetType = UNSET
    unknown_token_iterations: Count | UnsetType = UNSET
    unknown_cost_iterations: Count | UnsetType = UNSET
    findings: dict[Severity, Count] | UnsetType = UNSET


class Analytics(Record, frozen=True, kw_only=True):
    version: str
    loop_id: LoopId
    iterations: tuple[IterationAnalytics, ...]
    totals: AnalyticsTotals
    diminishing_returns_detected: bool
    quality_trajectory: Trajectory
    diminishing_returns_iteration: Ordinal | UnsetType = UNSET
    optimal_iteration: Ordinal | UnsetType = UNSET
    """The one with the highest score."""
    final_iteration: Ordinal | UnsetType = UNSET
    selected_iteration: Ordinal | UnsetType = UNSET
    """The one that completed the loop; as long as none has, the best."""
    selection_reason: str | UnsetType = UNSET
    delivered_iteration: Ordinal | UnsetType = UNSET
    """The one whose tree is in place: next to the best, the last one stays."""
    quality_improvement: float | UnsetType = UNSET
    """Points from the first score to that of the selected iteration."""
    quality_per_1k_tokens: float | UnsetType = UNSET
    cost_per_point_usd: float | UnsetType = UNSET
    persistence_metrics: PersistenceMetrics | UnsetType = UNSET


class CommonTask(Record, frozen=True, kw_only=True):
    task: str
    loops: Ordinal


class CrossLoopSummary(Record, frozen=True, kw_only=True):
    """Over all loops of a project. Averages are over the loops of which the number is known."""

    version: str
    generated_at: Timestamp
    total_loops_run: Count
    most_common_tasks: tuple[CommonTask, ...]
    loops_by_status: dict[str, Count]
    average_iterations_per_loop: float | UnsetType = UNSET
    average_quality_improvement: float | UnsetType = UNSET
    average_cost_per_loop: float | UnsetType = UNSET
    loops_of_unknown_cost: Count | UnsetType = UNSET
