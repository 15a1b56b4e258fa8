"""A point in a loop's life that can be returned to."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from untilproven.model.fields import Count, LoopId, Mode, Percent, Timestamp
from untilproven.model.state import LoopState
from untilproven.model.wire import Record


class Trigger(StrEnum):
    MANUAL = "manual"
    AUTOMATIC = "automatic"
    PHASE_BOUNDARY = "phase_boundary"
    ITERATION = "iteration"
    PRE_RISKY_OP = "pre_risky_op"
    ERROR_RECOVERY = "error_recovery"


class CheckpointProgress(Record, frozen=True, kw_only=True):
    total_steps: Count
    completed_steps: Count
    percentage: Percent


class CheckpointArtifact(Record, frozen=True, kw_only=True):
    path: str
    hash: str | UnsetType = UNSET
    status: Literal["created", "modified", "deleted", "unchanged"] | UnsetType = UNSET


class CheckpointIteration(Record, frozen=True, kw_only=True):
    current: Count
    max: Count | UnsetType = UNSET
    failures: Count | UnsetType = UNSET


class CheckpointState(Record, frozen=True, kw_only=True):
    """`loop_state` is the loop's own state, its lists shortened; `journal_seq` says where in the journal it stood."""

    phase: str
    progress: CheckpointProgress
    artifacts: tuple[CheckpointArtifact, ...]
    step: str | UnsetType = UNSET
    iteration: CheckpointIteration | UnsetType = UNSET
    variables: dict[str, Any] | UnsetType = UNSET
    agent_state: dict[str, Any] | UnsetType = UNSET
    journal_seq: Count | UnsetType = UNSET
    loop_state: LoopState | UnsetType = UNSET


class ExecutionConfig(Record, frozen=True, kw_only=True):
    model: str | UnsetType = UNSET
    temperature: Annotated[float, Meta(ge=0, le=2)] | UnsetType = UNSET
    seed: int | UnsetType = UNSET
    execution_mode: Mode | UnsetType = UNSET
    agent: str | UnsetType = UNSET
    tools: tuple[str, ...] | UnsetType = UNSET
    inputs: dict[str, Any] | UnsetType = UNSET


class CheckpointMetadata(Record, frozen=True, kw_only=True):
    size_bytes: Count | UnsetType = UNSET
    compression: Literal["none", "gzip", "lz4"] = "gzip"
    retention_days: Count = 30
    tags: tuple[str, ...] = ()
    schema_version: Literal["1.0", "2.0"] = "2.0"


class Checkpoint(Record, frozen=True, kw_only=True):
    checkpoint_id: str
    workflow_id: str
    created_at: Timestamp
    state: CheckpointState
    loop_id: LoopId | UnsetType = UNSET
    workflow_type: Literal["ralph_loop", "flow_command", "skill_execution", "agent_task"] = "ralph_loop"
    trigger: Trigger = Trigger.ITERATION
    execution_config: ExecutionConfig | UnsetType = UNSET
    metadata: CheckpointMetadata | UnsetType = UNSET
