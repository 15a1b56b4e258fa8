"""Source 002's hooks: their names, what an anomaly is, and a line of `hook-log.jsonl`."""

from enum import StrEnum
from typing import Any

from msgspec import UNSET, UnsetType, field

from untilproven.model.fields import Count, LoopId, Timestamp
from untilproven.model.wire import Record


class Hook(StrEnum):
    TASK_START = "onTaskStart"
    ITERATION_START = "onIterationStart"
    ACTION = "onAction"
    ITERATION_END = "onIterationEnd"
    TASK_END = "onTaskEnd"
    ANOMALY = "onAnomaly"


class Anomaly(Record, frozen=True, kw_only=True):
    """Something that looks wrong: a loop that turns in circles, a check that cannot be run, a limit."""

    kind: str
    message: str
    iteration: Count = 0
    """0 before the first iteration."""
    details: dict[str, Any] | UnsetType = UNSET


class HookOutcome(Record, frozen=True, kw_only=True):
    """How one callable or command ended."""

    ok: bool
    seconds: float
    exit_code: Count | UnsetType = UNSET
    error: str | UnsetType = UNSET
    output: str | UnsetType = UNSET
    """What a command printed, or where a callable raised."""


class HookCall(Record, frozen=True, kw_only=True):
    """One line of `hook-log.jsonl`."""

    timestamp: Timestamp
    hook_name: str
    loop_id: LoopId
    iteration: Count
    agents_invoked: tuple[str, ...] = ()
    outcomes: tuple[HookOutcome, ...] = ()
    state_changes: dict[str, Any] = field(default_factory=dict)
