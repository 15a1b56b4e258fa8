"""What was done at an issue tracker, and what was last seen there: the lines of `tracker-ops.jsonl`."""

from enum import StrEnum
from typing import Literal

from msgspec import UNSET, UnsetType

from untilproven.model.fields import Timestamp
from untilproven.model.task import TaskId
from untilproven.model.wire import Record


class IssueState(StrEnum):
    """What a tracker can say about an issue; few can say all of it."""

    OPEN = "open"
    STARTED = "in_progress"
    BLOCKED = "blocked"
    DONE = "done"
    DROPPED = "dropped"


CLOSED = frozenset({IssueState.DONE, IssueState.DROPPED})

Kind = Literal["create", "update", "transition", "comment"]


class TrackerOp(Record, frozen=True, kw_only=True, tag_field="type", tag="op", rename="camel"):
    """A step of something that is done at a tracker once. `failed_unknown`, or `started` and nothing after it, means
    that it may have been done."""

    key: str
    """`{taskId}:{opType}:{fingerprint}`: what has this key is the same operation."""
    task_id: TaskId
    tracker: str
    op: Kind
    status: Literal["started", "succeeded", "failed", "failed_unknown"]
    timestamp: Timestamp
    external_id: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class TrackerSeen(Record, frozen=True, kw_only=True, tag_field="type", tag="seen", rename="camel"):
    """How an issue and its task stood when they were last brought together: what differs was changed since."""

    task_id: TaskId
    external_id: str
    state: IssueState
    ours: IssueState
    """What the task amounted to, whether or not the tracker can say it."""
    words: str
    """A fingerprint of its title and its text."""
    timestamp: Timestamp


TrackerLine = TrackerOp | TrackerSeen
"""A line of tracker-ops.jsonl."""
