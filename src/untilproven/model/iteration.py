"""Source 002: what one iteration is, does and returns."""

from enum import StrEnum
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from untilproven.model.fields import Count, Ordinal, Severity, Timestamp
from untilproven.model.persistence import Artifact, QualityBreakdown, TestResults
from untilproven.model.state import CompletionCheck
from untilproven.model.wire import Record


class Continue(Record, frozen=True, kw_only=True, tag_field="status", tag="continue"):
    reason: str


class Complete(Record, frozen=True, kw_only=True, tag_field="status", tag="complete"):
    """A claim: the agent says it is done."""

    artifacts: tuple[str, ...] = ()


class Blocked(Record, frozen=True, kw_only=True, tag_field="status", tag="blocked"):
    blocker: str


class Failed(Record, frozen=True, kw_only=True, tag_field="status", tag="failed"):
    error: str


IterationResult = Continue | Complete | Blocked | Failed


class Fate(StrEnum):
    """What became of the iteration's changes."""

    KEPT = "kept"
    PARKED = "parked"
    DISCARDED = "discarded"


class Action(Record, frozen=True, kw_only=True):
    """Something the agent did, as its adapter reports it."""

    kind: Literal["read", "write", "bash", "git", "eval"]
    target: str
    at: Timestamp | UnsetType = UNSET
    outcome: str | UnsetType = UNSET


class FileChange(Record, frozen=True, kw_only=True):
    path: str
    change: Literal["created", "modified", "deleted", "renamed", "mode"]
    previous_path: str | UnsetType = UNSET
    hash: str | UnsetType = UNSET
    size_bytes: Count | UnsetType = UNSET
    mode: Count | UnsetType = UNSET


class Usage(Record, frozen=True, kw_only=True):
    """What an iteration consumed; what nobody reported is left out."""

    input_tokens: Count | UnsetType = UNSET
    cached_input_tokens: Count | UnsetType = UNSET
    """Of these, what came from a cache."""
    output_tokens: Count | UnsetType = UNSET
    total_tokens: Count | UnsetType = UNSET
    cost_usd: float | UnsetType = UNSET
    cost_source: Literal["agent", "prices"] | UnsetType = UNSET
    agent: str | UnsetType = UNSET
    model: str | UnsetType = UNSET


FALSE_POSITIVE = "marked-false-positive"
"""What lowers a finding that a person has called wrong."""


class Finding(Record, frozen=True, kw_only=True):
    """Something the guard saw, with what lowered it; nothing removes it from the record."""

    pattern_id: str
    pattern_name: str
    severity: Severity
    blocking: bool
    path: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    explanations: tuple[str, ...] | UnsetType = UNSET
    details: dict[str, Any] | UnsetType = UNSET


class IterationRecord(Record, frozen=True, kw_only=True):
    """`iterations/iteration-001.json`: all that is known about one iteration, folded from the journal."""

    loop_id: str
    number: Ordinal
    started_at: Timestamp | UnsetType = UNSET
    finished_at: Timestamp | UnsetType = UNSET
    duration_seconds: float | UnsetType = UNSET
    result: IterationResult | UnsetType = UNSET
    fate: Fate | UnsetType = UNSET
    counted: bool | UnsetType = UNSET
    actions: tuple[Action, ...] = ()
    tree_before: str | UnsetType = UNSET
    tree_after: str | UnsetType = UNSET
    delta: tuple[FileChange, ...] = ()
    checks: tuple[CompletionCheck, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] | UnsetType = UNSET
    """What was refused or neutralised, and what the tree does not show."""
    usage: Usage | UnsetType = UNSET
    quality_score: float | UnsetType = UNSET
    quality_breakdown: QualityBreakdown | UnsetType = UNSET
    test_results: TestResults | UnsetType = UNSET
    artifacts: tuple[Artifact, ...] = ()
