"""What a pattern is, and the ended tasks that it is looked for in."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

import msgspec

from untilproven.core.text import printable
from untilproven.model.learning import Learnt, TaskCompleted

KEPT = timedelta(days=90)
"""How long what was learnt counts."""
LISTED = 100
_LONGEST_NAME = 160


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """`strength` is the share of the tasks that show it among those that could, or how far off one is."""

    kind: str
    subject: str
    """What it is about: a path, a reason, a task."""
    glob: str = ""
    """The paths that it holds for; empty if that is no matter of paths."""
    samples: int
    """How many tasks it rests on."""
    strength: float
    confidence: float
    evidence: tuple[str, ...]
    """The ids of the tasks, the first 100 of them."""
    message: str


def pattern(
    kind: str,
    subject: str,
    tasks: Collection[str],
    message: str,
    *,
    threshold: int,
    strength: float,
    samples: int | None = None,
    glob: str = "",
) -> Pattern:
    """Found in these tasks; it rests on them, or on more that they were compared with."""
    count = len(tasks) if samples is None else samples
    share = round(min(max(strength, 0.0), 1.0), 4)
    return Pattern(
        kind=kind,
        subject=subject,
        glob=glob,
        samples=count,
        strength=share,
        confidence=round(min(count / threshold, 1.0) * share, 4),
        evidence=tuple(sorted(tasks)[:LISTED]),
        message=message,
    )


def finished(records: Iterable[Learnt], now: datetime | None = None) -> list[TaskCompleted]:
    """The ends of loops in the order of their times, each once however often a merge brought it; with `now`, those of
    the last 90 days."""
    found: dict[str, TaskCompleted] = {}
    for record in records:
        if isinstance(record, TaskCompleted) and (now is None or now - record.timestamp <= KEPT):
            other = found.get(record.loop_id)
            if other is None or other == record or _rank(other) < _rank(record):
                found[record.loop_id] = record
    return sorted(found.values(), key=lambda one: (one.timestamp, one.loop_id))


def _rank(record: TaskCompleted) -> tuple[datetime, str]:
    """The later of two that speak of one loop is believed; of the same time, any, but always the same."""
    return record.timestamp, repr(record)


def shown(text: str) -> str:
    """A name from a record, on one line and not endless."""
    line = " ".join(printable(text).split())
    return line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 3]}..."
