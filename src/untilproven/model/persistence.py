"""Source 003: what is known about the quality and honesty of the work, iteration by iteration."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from untilproven.model.fields import Count, Decision, Ordinal, Percent, Severity, Share, Timestamp
from untilproven.model.wire import Record


class Reinforcement(StrEnum):
    OFF = "OFF"
    MINIMAL = "MINIMAL"
    STANDARD = "STANDARD"
    AGGRESSIVE = "AGGRESSIVE"
    ADAPTIVE = "ADAPTIVE"


class RegressionType(StrEnum):
    TEST_DELETION = "test_deletion"
    TEST_SKIPPING = "test_skipping"
    FEATURE_REMOVAL = "feature_removal"
    COVERAGE_REGRESSION = "coverage_regression"
    VALIDATION_BYPASS = "validation_bypass"
    ASSERTION_WEAKENING = "assertion_weakening"
    ERROR_SUPPRESSION = "error_suppression"


class RecoveryOutcome(StrEnum):
    """How the recovery from one regression ended."""

    SUCCESS = "success"
    FAILED = "failed"
    ESCALATED = "escalated"
    SKIPPED = "skipped"


class AttemptOutcome(StrEnum):
    """How one recovery attempt ended; the source's two lists differ in their last word."""

    SUCCESS = "success"
    FAILED = "failed"
    ESCALATED = "escalated"
    ABORTED = "aborted"


class RetryOutcome(StrEnum):
    SUCCESS = "success"
    FAILED = "failed"


class BaselineMetrics(Record, frozen=True, kw_only=True):
    captured_at: Timestamp
    test_count: Count
    coverage_percentage: Percent
    typescript_errors: Count | UnsetType = UNSET
    lint_errors: Count | UnsetType = UNSET
    lint_warnings: Count | UnsetType = UNSET
    file_count: Count | UnsetType = UNSET
    lines_of_code: Count | UnsetType = UNSET
    custom_metrics: dict[str, Any] | UnsetType = UNSET


class QualityBreakdown(Record, frozen=True, kw_only=True):
    validation: Percent | UnsetType = UNSET
    completeness: Percent | UnsetType = UNSET
    correctness: Percent | UnsetType = UNSET
    readability: Percent | UnsetType = UNSET
    efficiency: Percent | UnsetType = UNSET


class Artifact(Record, frozen=True, kw_only=True):
    path: str | UnsetType = UNSET
    hash: str | UnsetType = UNSET
    size_bytes: int | UnsetType = UNSET


class TestResults(Record, frozen=True, kw_only=True):
    __test__ = False  # its name looks like a test class to pytest

    total: int | UnsetType = UNSET
    passed: int | UnsetType = UNSET
    failed: int | UnsetType = UNSET
    skipped: int | UnsetType = UNSET
    coverage: Percent | UnsetType = UNSET


class MetricsSnapshot(Record, frozen=True, kw_only=True):
    test_count: int | UnsetType = UNSET
    coverage_percentage: float | UnsetType = UNSET
    typescript_errors: int | UnsetType = UNSET
    lint_errors: int | UnsetType = UNSET


class IterationEntry(Record, frozen=True, kw_only=True):
    """One line of the history. An iteration without a score has none: the source requires one, and 0 would lie."""

    iteration: Ordinal
    timestamp: Timestamp
    quality_score: Percent
    artifacts: tuple[Artifact, ...]
    quality_delta: float | UnsetType = UNSET
    quality_breakdown: QualityBreakdown | UnsetType = UNSET
    snapshot_path: str | UnsetType = UNSET
    test_results: TestResults | UnsetType = UNSET
    metrics_snapshot: MetricsSnapshot | UnsetType = UNSET
    regression_detected: bool | UnsetType = UNSET
    recovery_attempted: bool | UnsetType = UNSET


class BestIteration(Record, frozen=True, kw_only=True):
    iteration: Ordinal | UnsetType = UNSET
    quality_score: Percent | UnsetType = UNSET
    snapshot_path: str | UnsetType = UNSET
    updated_at: Timestamp | UnsetType = UNSET
    selection_reason: str | UnsetType = UNSET


class RegressionDetails(Record, frozen=True, kw_only=True):
    baseline_value: Any = UNSET
    current_value: Any = UNSET
    diff: dict[str, Any] | UnsetType = UNSET
    category: str | UnsetType = UNSET


class RegressionEvent(Record, frozen=True, kw_only=True):
    timestamp: Timestamp
    iteration: Ordinal
    regression_type: RegressionType
    severity: Severity
    event_id: str | UnsetType = UNSET
    details: RegressionDetails | UnsetType = UNSET
    recovery_protocol_invoked: bool | UnsetType = UNSET
    recovery_outcome: RecoveryOutcome | UnsetType = UNSET
    human_gate_invoked: bool | UnsetType = UNSET
    human_decision: Decision | UnsetType = UNSET


class ReinforcementChange(Record, frozen=True, kw_only=True):
    timestamp: Timestamp | UnsetType = UNSET
    iteration: int | UnsetType = UNSET
    from_level: str | UnsetType = UNSET
    to_level: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class PauseStep(Record, frozen=True, kw_only=True):
    executed_at: Timestamp | UnsetType = UNSET
    actions: tuple[str, ...] | UnsetType = UNSET


class DiagnoseStep(Record, frozen=True, kw_only=True):
    executed_at: Timestamp | UnsetType = UNSET
    root_cause: str | UnsetType = UNSET
    confidence: Share | UnsetType = UNSET


class AdaptStep(Record, frozen=True, kw_only=True):
    executed_at: Timestamp | UnsetType = UNSET
    strategy: str | UnsetType = UNSET
    changes_made: tuple[str, ...] | UnsetType = UNSET


class RetryStep(Record, frozen=True, kw_only=True):
    executed_at: Timestamp | UnsetType = UNSET
    retry_iteration: int | UnsetType = UNSET
    outcome: RetryOutcome | UnsetType = UNSET


class EscalateStep(Record, frozen=True, kw_only=True):
    executed_at: Timestamp | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    human_decision: str | UnsetType = UNSET


class ProtocolSteps(Record, frozen=True, kw_only=True):
    pause: PauseStep | UnsetType = UNSET
    diagnose: DiagnoseStep | UnsetType = UNSET
    adapt: AdaptStep | UnsetType = UNSET
    retry: RetryStep | UnsetType = UNSET
    escalate: EscalateStep | UnsetType = UNSET


class RecoveryAttempt(Record, frozen=True, kw_only=True):
    timestamp: Timestamp
    iteration: Ordinal
    trigger: str
    recovery_id: str | UnsetType = UNSET
    protocol_steps: ProtocolSteps | UnsetType = UNSET
    outcome: AttemptOutcome | UnsetType = UNSET


class DetectedPattern(Record, frozen=True, kw_only=True):
    pattern_id: str | UnsetType = UNSET
    pattern_name: str | UnsetType = UNSET
    iteration: int | UnsetType = UNSET
    timestamp: Timestamp | UnsetType = UNSET
    severity: Severity | UnsetType = UNSET
    false_positive: bool | UnsetType = UNSET


class PersistenceMetrics(Record, frozen=True, kw_only=True):
    detection_latency_p95_ms: int | UnsetType = UNSET
    detection_latency_p99_ms: int | UnsetType = UNSET
    integration_overhead_percentage: float | UnsetType = UNSET
    false_positive_rate: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    true_positive_count: Count | UnsetType = UNSET
    false_positive_count: Count | UnsetType = UNSET
