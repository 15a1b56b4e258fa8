"""What could be said in the files that agents read, going by what was learnt."""

from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256

import msgspec

from untilproven.core import effects
from untilproven.core.lessons import SURE, from_patterns, lessons_in, words
from untilproven.core.pattern import Pattern, finished
from untilproven.core.patterns import patterns
from untilproven.core.text import printable
from untilproven.model.learning import Learnt, Lesson, TaskCompleted

AGENTS, PLAN = "AGENTS.md", "implementation-plan.md"
SECTION = "Learnt from finished tasks"
_LISTED = 20


class Improvement(msgspec.Struct, frozen=True, kw_only=True):
    """One line for one file, and why."""

    id: str
    target: str
    line: str
    rationale: str
    evidence: tuple[str, ...]


def improvements(records: Iterable[Learnt], now: datetime) -> tuple[Improvement, ...]:
    """Sure patterns, and notes that were seen to help."""
    records = list(records)
    found = [_of_pattern(one, now) for one in patterns(records, now) if one.confidence > SURE]
    ended = finished(records)
    found += [_of_note(note, ended) for note in lessons_in(records)]
    made: dict[str, Improvement] = {}
    for one in found:
        if one is not None:
            made.setdefault(one.id, one)
    return tuple(made.values())


def with_lines(data: bytes, lines: Iterable[str]) -> bytes:
    """A text file with these lines at the end of our section, which comes last if it is new; its line breaks stay."""
    end = b"\r\n" if b"\r\n" in data else b"\n"
    new = [f"- {line}".encode() for line in lines]
    before = data.split(end)
    heading = f"## {SECTION}".encode()
    if heading not in [line.rstrip() for line in before]:
        kept = data.rstrip()
        return end.join([*([kept, b""] if kept else []), heading, b"", *new, b""])
    at = [line.rstrip() for line in before].index(heading) + 1
    until = next((place for place in range(at, len(before)) if before[place].startswith(b"#")), len(before))
    last = max(place for place in range(at - 1, until) if before[place].strip())
    spaced = [b"", *new] if last == at - 1 else new
    rest = before[last + 1 :] or [b""]
    return end.join([*before[: last + 1], *spaced, *rest])


def says(data: bytes, line: str) -> bool:
    """Whether a file has this line already."""
    return f"- {line}".encode() in [one.strip() for one in data.splitlines()]


def _of_pattern(one: Pattern, now: datetime) -> Improvement | None:
    match one.kind:
        case "estimate_drift":
            more = "more" if one.subject.startswith("above") else "fewer"
            line = f"Tasks take {more} iterations than estimated: estimate with that in mind."
            return _made(PLAN, line, one.message, one.evidence)
        case "blocking_chain":
            line = f"Many tasks wait for one another, `{one.subject}` first: see what can be done side by side."
            return _made(PLAN, line, one.message, one.evidence)
    return next((_made(AGENTS, words(note), one.message, one.evidence) for note in from_patterns([one], now)), None)


def _of_note(note: Lesson, ended: list[TaskCompleted]) -> Improvement | None:
    found = effects.effect(note, ended)
    if found.verdict != "better" or not words(note):
        return None
    ours, others = found.with_, found.without
    where = ", ".join([*note.scope.globs, *note.scope.tags, *note.scope.task_types])
    line = f"{words(note)} (for {printable(where)})" if where and note.source == "human" else words(note)
    rationale = (
        f"{ours.tasks} tasks that had the note {note.id}: {ours.success_rate:.0%} succeeded, median "
        f"{ours.median_iterations:g} iterations; {others.tasks} of the same types without it: "
        f"{others.success_rate:.0%}, {others.median_iterations:g}"
    )
    evidence = tuple(sorted({record.task_id for record in ended if note.id in record.lessons}))
    return _made(AGENTS, line, rationale, evidence)


def _made(target: str, line: str, rationale: str, evidence: tuple[str, ...]) -> Improvement:
    line = " ".join(line.split())
    digest = sha256(f"{target}\0{line}".encode("utf-8", "replace")).hexdigest()
    return Improvement(
        id=f"learn-{digest[:8]}", target=target, line=line, rationale=rationale, evidence=evidence[:_LISTED]
    )
