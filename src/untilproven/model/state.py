"""Sources 000 and 003 as one object: `state.json`."""

from msgspec import UNSET, UnsetType

from untilproven.model.fields import Count, LoopId, Mode, Ordinal, PauseReason, Timestamp, Version
from untilproven.model.persistence import (
    BaselineMetrics,
    BestIteration,
    DetectedPattern,
    IterationEntry,
    PersistenceMetrics,
    RecoveryAttempt,
    RegressionEvent,
    Reinforcement,
    ReinforcementChange,
)
from untilproven.model.plan import Allowance, Plan
from untilproven.model.status import Status
from untilproven.model.wire import Record

STATE_VERSION = "2.0.0"


class LoopConfiguration(Record, frozen=True, kw_only=True):
    max_iterations: Ordinal = 200
    timeout_minutes: int | UnsetType = UNSET
    interactive: bool = False
    auto_test: bool = True
    checkpoint_interval: int = 1
    execution_mode: Mode = Mode.DEFAULT


class CompletionCheck(Record, frozen=True, kw_only=True):
    """One run of a completion check. The last three are ours: which check, and what kind of ending."""

    iteration: int | UnsetType = UNSET
    timestamp: Timestamp | UnsetType = UNSET
    passed: bool | UnsetType = UNSET
    output: str | UnsetType = UNSET
    check: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    broken: bool | UnsetType = UNSET


class ProgressTracking(Record, frozen=True, kw_only=True):
    completion_checks: tuple[CompletionCheck, ...] | UnsetType = UNSET
    last_completion_check: CompletionCheck | UnsetType = UNSET
    estimated_completion: str | UnsetType = UNSET


class LoopMetrics(Record, frozen=True, kw_only=True):
    """Tokens and cost are left out while nothing has reported them: unknown is not zero. The last three are ours."""

    total_iterations: int | UnsetType = UNSET
    successful_iterations: int | UnsetType = UNSET
    failed_iterations: int | UnsetType = UNSET
    total_tokens: int | UnsetType = UNSET
    total_cost_usd: float | UnsetType = UNSET
    total_duration_seconds: int | UnsetType = UNSET
    average_iteration_time_seconds: float | UnsetType = UNSET
    unknown_cost_iterations: int | UnsetType = UNSET
    unknown_token_iterations: int | UnsetType = UNSET
    active_seconds: float | UnsetType = UNSET
    """All the time that was worked, whether or not it counts as an iteration; pauses are not in it."""


class ErrorContext(Record, frozen=True, kw_only=True):
    error_message: str | UnsetType = UNSET
    error_timestamp: Timestamp | UnsetType = UNSET
    stack_trace: str | UnsetType = UNSET
    recovery_attempted: bool | UnsetType = UNSET


class ProcessIdentity(Record, frozen=True, kw_only=True):
    """Names one process for ever: a pid alone is reused, by this boot and by the next."""

    pid: Ordinal
    start: str
    boot_id: str
    pid_namespace: str | UnsetType = UNSET


class Totals(Record, frozen=True, kw_only=True):
    """How many entries each capped list has had; the state keeps only the newest."""

    completion_checks: Count = 0
    iteration_history: Count = 0
    regression_events: Count = 0
    reinforcement_history: Count = 0
    recovery_history: Count = 0
    detected_patterns: Count = 0


class DetectionTime(Record, frozen=True, kw_only=True):
    """How long the guard took: in all, and each of the newest times, of which the percentiles are."""

    total_seconds: float = 0.0
    newest_seconds: tuple[float, ...] = ()


class LoopState(Record, frozen=True, kw_only=True):
    version: Version
    loop_id: LoopId
    status: Status
    iteration: Count

    task: str | UnsetType = UNSET
    completion_criteria: str | UnsetType = UNSET
    started_at: Timestamp | UnsetType = UNSET
    last_updated: Timestamp | UnsetType = UNSET
    completed_at: Timestamp | UnsetType = UNSET
    owner: str | UnsetType = UNSET
    pid: int | UnsetType = UNSET
    working_directory: str | UnsetType = UNSET
    configuration: LoopConfiguration | UnsetType = UNSET
    progress: ProgressTracking | UnsetType = UNSET
    metrics: LoopMetrics | UnsetType = UNSET
    last_checkpoint: str | UnsetType = UNSET
    error_context: ErrorContext | UnsetType = UNSET

    baseline_metrics: BaselineMetrics | UnsetType = UNSET
    iteration_history: tuple[IterationEntry, ...] | UnsetType = UNSET
    best_iteration: BestIteration | UnsetType = UNSET
    regression_events: tuple[RegressionEvent, ...] | UnsetType = UNSET
    reinforcement_level: Reinforcement | UnsetType = UNSET
    reinforcement_history: tuple[ReinforcementChange, ...] | UnsetType = UNSET
    recovery_attempts: Count | UnsetType = UNSET
    recovery_history: tuple[RecoveryAttempt, ...] | UnsetType = UNSET
    detection_enabled: bool | UnsetType = UNSET
    detected_patterns: tuple[DetectedPattern, ...] | UnsetType = UNSET
    persistence_metrics: PersistenceMetrics | UnsetType = UNSET
    detection_time: DetectionTime | UnsetType = UNSET

    plan: Plan | UnsetType = UNSET
    allowance: Allowance | UnsetType = UNSET
    start_tree: str | UnsetType = UNSET
    touched: bool | UnsetType = UNSET
    journal_seq: Count | UnsetType = UNSET
    iteration_in_progress: Ordinal | UnsetType = UNSET
    totals: Totals | UnsetType = UNSET
    process: ProcessIdentity | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    pause_reason: PauseReason | UnsetType = UNSET
    resume_at: Timestamp | UnsetType = UNSET
    resumed_from: LoopId | UnsetType = UNSET
    resumed_as: LoopId | UnsetType = UNSET
    migrated_from: str | UnsetType = UNSET
    started_with: str | UnsetType = UNSET
    vouch: str | UnsetType = UNSET
