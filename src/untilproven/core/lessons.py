"""Notes for later tasks: which of them go into a prompt, and which patterns become one."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256

from untilproven.core import effects
from untilproven.core.globs import matches
from untilproven.core.pattern import Pattern, finished, shown
from untilproven.core.text import printable
from untilproven.model.learning import Learnt, Lesson, Scope
from untilproven.model.task import FileExists, Task

BUDGET = 1600
"""Characters of all notes in a prompt: about 400 tokens."""
LONGEST = 400
SURE = 0.7
"""Only what is surer than this becomes a note or a proposal."""
_RANKS: dict[effects.Verdict, int] = {"better": 0, "unknown": 1, "no difference": 2, "worse": 3}
_PATH = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*/?", re.ASCII)
_MOST_TEXT = 20_000


def lesson_id(text: str, scope: Scope) -> str:
    """The same for the same note, so that it is there once however often it is taken down."""
    parts = "\0".join([text, *scope.globs, "\0", *scope.tags, "\0", *scope.task_types])
    return f"note-{sha256(parts.encode('utf-8', 'replace')).hexdigest()[:8]}"


def lessons_in(records: Iterable[Learnt]) -> tuple[Lesson, ...]:
    """The notes among the records; of those with one id, the newest."""
    found: dict[str, Lesson] = {}
    notes = [record for record in records if isinstance(record, Lesson)]
    for note in sorted(notes, key=lambda one: (one.created_at, repr(one))):
        found[note.id] = note
    return tuple(found.values())


def relevant(
    lessons: Iterable[Lesson], task: Task, files_hint: Sequence[str], records: Iterable[Learnt]
) -> tuple[Lesson, ...]:
    """The notes for a task that fit into a prompt: what helped first, then the newest; none that has expired.

    `files_hint` are paths that the task is likely to change; those that its own words name are known anyway.
    """
    ended = finished(records)
    paths = {*files_hint, *mentioned(task)}
    fitting = [lesson for lesson in lessons if _fits(lesson.scope, task, paths)]
    ranked = []
    for lesson in fitting:
        found = effects.standing(lesson, ended)
        if not found.expired:
            ranked.append((_RANKS[found.effect.verdict], -lesson.created_at.timestamp(), lesson.id, lesson))
    chosen, left = [], BUDGET
    for _, _, _, lesson in sorted(ranked, key=lambda one: one[:3]):
        size = len(words(lesson)) + 1
        if 1 < size <= left:
            chosen.append(lesson)
            left -= size
    return tuple(chosen)


def words(lesson: Lesson) -> str:
    """A note as it stands in a prompt: one line, not endless."""
    line = " ".join(printable(lesson.text).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."


def mentioned(task: Task) -> set[str]:
    """The paths that a task names in its words, its specification, or as what it is to make."""
    texts = [task.title, task.description or "", *(task.acceptance_criteria or ())]
    found = {word for text in texts for word in _PATH.findall(text[:_MOST_TEXT]) if "/" in word or "." in word[1:-1]}
    found.add(task.spec or "")
    found.add((task.source.path or "") if task.source else "")
    wanted = task.completion if isinstance(task.completion, tuple) else (task.completion,)
    found |= {one.path for one in wanted if isinstance(one, FileExists)}
    return {path.removeprefix("./").rstrip(".") for path in found} - {""}


def _fits(scope: Scope, task: Task, paths: Iterable[str]) -> bool:
    if not (scope.globs or scope.tags or scope.task_types):
        return True
    if not {*scope.tags}.isdisjoint(task.tags or ()) or (task.type and task.type in scope.task_types):
        return True
    names = {name for path in paths for name in (path, f"{path.rstrip('/')}/")}  # a directory is all that is below it
    return any(matches(glob, name) for glob in scope.globs for name in names)


def from_patterns(patterns: Iterable[Pattern], now: datetime) -> tuple[Lesson, ...]:
    """A note for each pattern that is sure enough, and that an agent can do something about."""
    made = []
    for pattern in patterns:
        advice = _advice(pattern) if pattern.confidence > SURE else ""
        if advice:
            scope = Scope(globs=(pattern.glob,)) if pattern.glob else Scope()
            identity = lesson_id(f"{pattern.kind}\0{pattern.subject}", scope)
            made.append(Lesson(id=identity, text=advice, scope=scope, source="pattern", created_at=now))
    return tuple(made)


def _advice(pattern: Pattern) -> str:
    """Without counts: a note stays true while more tasks come to it."""
    place = shown(pattern.subject)
    match pattern.kind:
        case "bug_hotspot":
            return f"Most tasks that changed {place} were bugs: read how it is tested before you change it."
        case "failure_hotspot":
            return f"Most tasks that changed {place} failed: change it in small steps, and run its tests after each."
        case "churn":
            return f"Most tasks change {place}: look for who depends on it before you change it."
        case "failure_mode" if pattern.glob:
            return f"Most tasks that changed files in {place} failed: change them in small steps."
        case "failure_mode":
            return f'Most tasks that failed ended with "{place}": see to it early.'
    return ""
