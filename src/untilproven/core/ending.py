"""How an iteration can end, and what becomes of its tree, its number and its check."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from untilproven.model.fields import Severity
from untilproven.model.iteration import Blocked, Failed, Fate, Finding, IterationResult

DELETED_TESTS = "test_deletion"


class Ending(StrEnum):
    """In the order in which they are looked for: the first that fits decides."""

    INTERRUPTED = "interrupted"
    """Stopped at once by the user, aborted, or the runner died."""
    FAILED = "failed"
    """The agent crashed, left with an error, or said that it failed."""
    GRAVE_FINDING = "grave_finding"
    """The guard saw something critical, or a deleted test: a human decides."""
    BLOCKING_FINDING = "blocking_finding"
    BLOCKED = "blocked"
    """The agent cannot go on without a human."""
    USAGE_LIMIT = "usage_limit"
    """The provider's, not ours."""
    CUT = "cut"
    """By a wall-clock, idle or output limit."""
    NORMAL = "normal"


class Consequence(NamedTuple):
    fate: Fate
    counted: bool
    checked: bool


CONSEQUENCES: dict[Ending, Consequence] = {
    Ending.INTERRUPTED: Consequence(Fate.DISCARDED, counted=False, checked=False),
    Ending.FAILED: Consequence(Fate.DISCARDED, counted=True, checked=False),
    Ending.GRAVE_FINDING: Consequence(Fate.PARKED, counted=True, checked=False),
    Ending.BLOCKING_FINDING: Consequence(Fate.DISCARDED, counted=True, checked=False),
    Ending.BLOCKED: Consequence(Fate.KEPT, counted=True, checked=False),
    Ending.USAGE_LIMIT: Consequence(Fate.KEPT, counted=False, checked=True),
    Ending.CUT: Consequence(Fate.KEPT, counted=True, checked=True),
    Ending.NORMAL: Consequence(Fate.KEPT, counted=True, checked=True),
}


def ending(
    result: IterationResult,
    findings: Sequence[Finding] = (),
    *,
    interrupted: bool = False,
    cut: bool = False,
    usage_limit: bool = False,
) -> Ending:
    """Which ending this was. A limit that cut an agent short explains its error, and is no failure of its own."""
    if interrupted:
        return Ending.INTERRUPTED
    if isinstance(result, Failed) and not cut and not usage_limit:
        return Ending.FAILED
    blocking = [finding for finding in findings if finding.blocking]
    if any(_grave(finding) for finding in blocking):
        return Ending.GRAVE_FINDING
    if blocking:
        return Ending.BLOCKING_FINDING
    if isinstance(result, Blocked):
        return Ending.BLOCKED
    if usage_limit:
        return Ending.USAGE_LIMIT
    return Ending.CUT if cut else Ending.NORMAL


def _grave(finding: Finding) -> bool:
    return finding.severity is Severity.CRITICAL or (finding.details or {}).get("category") == DELETED_TESTS
