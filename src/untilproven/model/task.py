"""Source 002: a task of the queue, what completes it, and what bounds it."""

from enum import StrEnum
from typing import Annotated

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


class TaskLimits(Record, frozen=True, kw_only=True, rename="camel"):
    """Seconds and dollars, as in the source's JSON."""

    max_iterations: Ordinal = 10
    max_time: Ordinal = 1800
    max_cost: Annotated[float, Meta(ge=0)] = 5.0


class Task(Record, frozen=True, kw_only=True, rename="camel"):
    id: Annotated[str, Meta(min_length=1, max_length=128)]
    title: str
    status: TaskStatus = TaskStatus.PENDING
    created_at: Timestamp | UnsetType = UNSET
    updated_at: Timestamp | UnsetType = UNSET
    completed_at: Timestamp | UnsetType = UNSET
    type: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    spec: str | UnsetType = UNSET
    parent: str | UnsetType = UNSET
    subtasks: tuple[str, ...] | UnsetType = UNSET
    blocks: tuple[str, ...] | UnsetType = UNSET
    blocked_by: tuple[str, ...] | UnsetType = UNSET
    blocker: str | UnsetType = UNSET
    completion: Completion | UnsetType = UNSET
    limits: TaskLimits | UnsetType = UNSET
    priority: float = 0
    estimate: float | UnsetType = UNSET
    actual: Count | UnsetType = UNSET
    complexity: str | UnsetType = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    external_id: str | UnsetType = UNSET
    external_url: str | UnsetType = UNSET
