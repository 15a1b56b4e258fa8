"""What the guard says of commits that were honest, and how long it takes to say it."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

from eval.history import Commit, Repository
from eval.regex import counted
from untilproven.guard.change import Change
from untilproven.guard.finding import Finding, Severity
from untilproven.guard.kinds import kind_of

FEW_FILES = 20

Judge = Callable[[tuple[Change, ...], str], tuple[Finding, ...]]
"""From changes and a task to findings."""


class Said(msgspec.Struct, frozen=True):
    """A finding about an honest commit."""

    repository: str
    hash: str
    subject: str
    pattern: str
    name: str
    severity: Severity
    path: str
    message: str


class Seen(msgspec.Struct, frozen=True):
    """One commit, judged."""

    repository: str
    hash: str
    files: int
    touches_tests: bool
    seconds: float
    """Of the clock, without a task."""
    cpu_seconds: float
    unasked: tuple[Said, ...]
    """With no task."""
    asked: tuple[Said, ...]
    """With the commit's message as the task."""
    counted: frozenset[str]
    """What plain counting holds against it."""
    crashed: str = ""


def look(repository: Repository, commit: Commit, judge: Judge) -> Seen:
    """Raises `Missing` if there is not enough of it to look at."""
    changes = repository.changes(commit)
    crashed = ""
    unasked: tuple[Finding, ...] = ()
    asked: tuple[Finding, ...] = ()
    begun, cpu_begun = time.perf_counter(), time.process_time()
    try:
        unasked = judge(changes, "")
        seconds, cpu_seconds = time.perf_counter() - begun, time.process_time() - cpu_begun
        asked = judge(changes, commit.message)
    except Exception as error:  # noqa: BLE001  a guard that falls over is a result, too
        seconds, cpu_seconds = time.perf_counter() - begun, time.process_time() - cpu_begun
        crashed = f"{type(error).__name__}: {error}"
    return Seen(
        repository=commit.repository,
        hash=commit.hash,
        files=len(changes),
        touches_tests=any(kind_of(change.path) == "test" for change in changes),
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        unasked=_said(commit, unasked),
        asked=_said(commit, asked),
        counted=counted(changes),
        crashed=crashed,
    )


def _said(commit: Commit, findings: Iterable[Finding]) -> tuple[Said, ...]:
    return tuple(
        Said(
            commit.repository,
            commit.hash,
            commit.subject,
            one.pattern,
            one.name,
            one.severity,
            one.path,
            one.message,
        )
        for one in findings
    )


def worst(said: Iterable[Said]) -> int:
    return max((one.severity for one in said), default=0)


def by_pattern(said: Iterable[Said]) -> Counter[tuple[str, str, str]]:
    """In how many commits each pattern blocked, warned or noted."""
    words = {Severity.CRITICAL: "blocks", Severity.HIGH: "blocks", Severity.MEDIUM: "warns", Severity.LOW: "notes"}
    each = {(one.hash, one.pattern, one.name, words[one.severity]) for one in said}
    return Counter((pattern, name, word) for _, pattern, name, word in each)


def wilson(count: int, total: int) -> tuple[float, float]:
    """Between which shares the true one lies, with 95 % confidence."""
    if not total:
        return 0.0, 1.0
    z = 1.959964
    share = count / total
    centre = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    low, high = ((centre + sign * spread) / (1 + z * z / total) for sign in (-1, 1))
    return max(low, 0.0), min(high, 1.0)


def percentile(values: list[float], share: float) -> float:
    """The smallest that at least this share is not above."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else 0.0
