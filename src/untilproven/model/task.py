"""Source 002: a task of the queue, what completes it, and what bounds it."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from untilproven.model.fields import Count, Ordinal, Timestamp
from untilproven.model.wire import Record


class TaskStatus(StrEnum):
    DISCOVERED = "discovered"
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    REVIEW = "review"
    DONE = "done"
    CANCELLED = "cancelled"


class FileExists(Record, frozen=True, kw_only=True, tag_field="type", tag="file_exists"):
    path: str


class TestPassing(Record, frozen=True, kw_only=True, tag_field="type", tag="test_passing"):
    __test__ = False  # its name looks like a test class to pytest

    grep: str | UnsetType = UNSET
    command: str | UnsetType = UNSET


class Validate(Record, frozen=True, kw_only=True, tag_field="type", tag="validate"):
    script: str


class Command(Record, frozen=True, kw_only=True, tag_field="type", tag="command"):
    command: str


class Explicit(Record, frozen=True, kw_only=True, tag_field="type", tag="explicit"):
    """The agent's own word: a claim."""


Completion = FileExists | TestPassing | Validate | Command | Explicit

TaskId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$(?!\n)", max_length=128)]

MOVES: dict[TaskStatus, frozenset[TaskStatus]] = {
    TaskStatus.DISCOVERED: frozenset({TaskStatus.PENDING, TaskStatus.CANCELLED}),
    TaskStatus.PENDING: frozenset({TaskStatus.IN_PROGRESS, TaskStatus.BLOCKED, TaskStatus.CANCELLED}),
    TaskStatus.IN_PROGRESS: frozenset(
        {TaskStatus.DONE, TaskStatus.BLOCKED, TaskStatus.REVIEW, TaskStatus.CANCELLED, TaskStatus.PENDING}
    ),
    TaskStatus.BLOCKED: frozenset({TaskStatus.PENDING, TaskStatus.CANCELLED}),
    TaskStatus.REVIEW: frozenset({TaskStatus.DONE, TaskStatus.CANCELLED}),
    TaskStatus.DONE: frozenset(),
    TaskStatus.CANCELLED: frozenset(),
}
"""From which status a task can come to which. Back from in progress to pending is ours: a task that nobody works on any
more, and that nobody has tried to the end."""


class TaskLimits(Record, frozen=True, kw_only=True, rename="camel"):
    """Seconds and dollars, as in the source's JSON. What a task leaves open, the settings (`task.*`) say."""

    max_iterations: Ordinal | UnsetType = UNSET
    max_time: Ordinal | UnsetType = UNSET
    max_cost: Annotated[float, Meta(ge=0)] | UnsetType = UNSET


class Origin(Record, frozen=True, kw_only=True, rename="camel"):
    """Where a task was found."""

    type: Literal["spec", "commit", "pr", "manual", "inferred"]
    path: str | UnsetType = UNSET
    line: Count | UnsetType = UNSET
    sha: str | UnsetType = UNSET
    timestamp: Timestamp | UnsetType = UNSET


class Task(Record, frozen=True, kw_only=True, rename="camel"):
    id: TaskId
    title: str
    status: TaskStatus = TaskStatus.PENDING
    created_at: Timestamp | UnsetType = UNSET
    updated_at: Timestamp | UnsetType = UNSET
    completed_at: Timestamp | UnsetType = UNSET
    type: str | UnsetType = UNSET
    aggregate: str | UnsetType = UNSET
    domain: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    spec: str | UnsetType = UNSET
    source: Origin | UnsetType = UNSET
    parent: str | UnsetType = UNSET
    subtasks: tuple[str, ...] | UnsetType = UNSET
    blocks: tuple[str, ...] | UnsetType = UNSET
    blocked_by: tuple[str, ...] | UnsetType = UNSET
    blocker: str | UnsetType = UNSET
    """Why it is blocked, if its status says so."""
    completion: Completion | tuple[Completion, ...] | UnsetType = UNSET
    """What proves it done: one, or several that must all hold. Without one, the project's own check does."""
    acceptance_criteria: tuple[str, ...] | UnsetType = UNSET
    """In words, for the agent: nobody can run them."""
    never_touch: tuple[str, ...] | UnsetType = UNSET
    """Paths that the work must leave as they are, as globs."""
    limits: TaskLimits | UnsetType = UNSET
    priority: float = 0
    estimate: float | UnsetType = UNSET
    actual: Count | UnsetType = UNSET
    complexity: str | UnsetType = UNSET
    assignee: str | UnsetType = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    external_id: str | UnsetType = UNSET
    external_url: str | UnsetType = UNSET
    loop: str | UnsetType = UNSET
    """The loop that works, or worked, on it."""


class Create(Record, frozen=True, kw_only=True, tag_field="op", tag="create"):
    task: Task
    timestamp: Timestamp | UnsetType = UNSET


class Update(Record, frozen=True, kw_only=True, tag_field="op", tag="update"):
    id: TaskId
    changes: dict[str, Any]
    """Fields of a task by their names in JSON; null takes one away."""
    source: Literal["agent", "tracker", "git", "manual"] | UnsetType = UNSET
    timestamp: Timestamp | UnsetType = UNSET


class Link(Record, frozen=True, kw_only=True, tag_field="op", tag="link", rename="camel"):
    id: TaskId
    external_id: str
    external_url: str | UnsetType = UNSET
    timestamp: Timestamp | UnsetType = UNSET


class Relate(Record, frozen=True, kw_only=True, tag_field="op", tag="relate", rename="camel"):
    """`id` blocks `target_id`, is blocked by it, is its parent, or is a subtask of it."""

    id: TaskId
    relation: Literal["blocks", "blockedBy", "parent", "subtask"]
    target_id: TaskId
    timestamp: Timestamp | UnsetType = UNSET


Operation = Create | Update | Link | Relate
"""A line of tasks.jsonl that is not a task itself."""
