"""Source 002: the lines of `learning.jsonl`, what tasks taught, and of `progress.jsonl`, what became of them."""

from typing import Any, Literal

from msgspec import UNSET, UnsetType, field

from untilproven.model.fields import Count, LoopId, Ordinal, Share, Timestamp
from untilproven.model.iteration import IterationResult
from untilproven.model.task import TaskId, TaskStatus
from untilproven.model.wire import Record

LISTED_FILES = 200


class _Line(Record, frozen=True, kw_only=True, tag_field="type", rename="camel"):
    pass


class TaskCompleted(_Line, frozen=True, kw_only=True, tag="task_completed"):
    """A loop has ended its work on a task, one way or the other."""

    task_id: TaskId
    loop_id: LoopId
    actual: Count
    """What the estimate is compared with: the iterations."""
    iterations: Count
    success: bool
    timestamp: Timestamp
    estimate: float | UnsetType = UNSET
    task_type: str | UnsetType = UNSET
    complexity: str | UnsetType = UNSET
    files_changed: tuple[str, ...] = ()
    """The first 200 of them, in order."""
    files_changed_count: Count = 0
    lines_changed: Count | UnsetType = UNSET
    proof: str | UnsetType = UNSET
    blockers: tuple[str, ...] = ()
    """Why it did not succeed."""
    blocked_by: tuple[str, ...] = ()
    """The tasks that had to be done before it."""
    duration_seconds: float | UnsetType = UNSET
    cost_usd: float | UnsetType = UNSET
    lessons: tuple[str, ...] = ()
    """The notes that were in its prompts."""


class PatternDetected(_Line, frozen=True, kw_only=True, tag="pattern_detected"):
    """Something that several tasks have in common."""

    pattern: str
    confidence: Share
    data: dict[str, Any]
    evidence: tuple[str, ...]
    timestamp: Timestamp


class AnomalyDetected(_Line, frozen=True, kw_only=True, tag="anomaly_detected"):
    anomaly: str
    severity: Literal["low", "medium", "high"]
    context: dict[str, Any]
    timestamp: Timestamp


class ImprovementProposed(_Line, frozen=True, kw_only=True, tag="improvement_proposed"):
    """A change to a file that agents read, on a branch of its own, for a human to take or leave."""

    id: str
    target: str
    section: str
    change: str
    diff: str
    rationale: str
    evidence: tuple[str, ...]
    branch: str
    commit: str
    timestamp: Timestamp
    status: Literal["pending", "approved", "rejected", "applied"] = "pending"


class Scope(Record, frozen=True, kw_only=True, rename="camel"):
    """Which tasks a note is for: any that one of these fits, or all if there is none."""

    globs: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    task_types: tuple[str, ...] = ()


class Lesson(_Line, frozen=True, kw_only=True, tag="lesson"):
    """A note for the agents of later tasks."""

    id: str
    text: str
    source: Literal["human", "pattern"]
    created_at: Timestamp
    scope: Scope = Scope()


class TrackerConflict(_Line, frozen=True, kw_only=True, tag="tracker_conflict"):
    """A task and its issue were changed on both sides; what was overruled is kept here."""

    task_id: TaskId
    tracker: str
    field: Literal["status", "description"]
    resolution: Literal["tracker", "ours"]
    ours: str
    theirs: str
    timestamp: Timestamp
    external_id: str | UnsetType = UNSET


Learnt = TaskCompleted | PatternDetected | AnomalyDetected | ImprovementProposed | Lesson | TrackerConflict
"""A line of learning.jsonl."""


class IterationDone(_Line, frozen=True, kw_only=True, tag="iteration"):
    """One iteration of a task's loop; what is not known of its cost is left out."""

    task_id: TaskId
    loop_id: LoopId
    iteration: Ordinal
    result: IterationResult
    timestamp: Timestamp
    cost: float | UnsetType = UNSET
    task_cost_so_far: float | UnsetType = UNSET


class StatusChange(_Line, frozen=True, kw_only=True, tag="status_change"):
    task_id: TaskId
    from_: TaskStatus = field(name="from")
    to: TaskStatus
    reason: str
    timestamp: Timestamp
    loop_id: LoopId | UnsetType = UNSET
    """The loop that caused it; of one loop, the same change is written once."""


class ExecutionBlocked(_Line, frozen=True, kw_only=True, tag="execution_blocked"):
    """Work on a task could not go on."""

    task_id: TaskId
    reason: str
    timestamp: Timestamp
    limit: str | UnsetType = UNSET
    loop_id: LoopId | UnsetType = UNSET


class Activity(_Line, frozen=True, kw_only=True, tag="activity"):
    """Something else that happened, in words."""

    message: str
    timestamp: Timestamp
    task_id: TaskId | UnsetType = UNSET
    loop_id: LoopId | UnsetType = UNSET


class Proposal(_Line, frozen=True, kw_only=True, tag="proposal"):
    """A branch with proposed improvements was made."""

    branch: str
    proposals: tuple[str, ...]
    timestamp: Timestamp


Progress = IterationDone | StatusChange | ExecutionBlocked | Activity | Proposal
"""A line of progress.jsonl."""
