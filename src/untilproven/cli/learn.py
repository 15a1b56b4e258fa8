"""`ralph learn show|note|prune|propose`."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import click

from untilproven.cli import here, output
from untilproven.config import durations
from untilproven.core import effects
from untilproven.core.lessons import LONGEST, lesson_id, lessons_in, words
from untilproven.core.pattern import KEPT, Pattern, finished
from untilproven.core.patterns import patterns
from untilproven.errors import UsageError
from untilproven.model import wire
from untilproven.model.learning import Learnt, Lesson, Scope, TaskCompleted
from untilproven.store import clock
from untilproven.store.learning import learning_of
from untilproven.store.lines import Lines

_LISTED = 10
_NEVER = timedelta(days=36_500)


@click.group("learn", short_help="what finished tasks have taught")
def command() -> None:
    """What finished tasks have taught: patterns, and notes for the agents of later ones."""


@command.command("show", short_help="patterns and notes")
@click.option("--json", "as_json", is_flag=True, help="print them as JSON")
def show(*, as_json: bool) -> None:
    """Show what the tasks of the last 90 days have in common, and the notes: how often each was used, and whether it
    helped."""
    records = _read(learning_of(here.project()))
    now = clock.now()
    ended = finished(records, now)
    found = patterns(ended, now)
    every = finished(records)
    notes = [(note, effects.standing(note, every)) for note in reversed(lessons_in(records))]
    if as_json:
        told = {
            "tasks": _tasks(ended),
            "patterns": [_pattern_as_json(one) for one in found],
            "notes": [_note_as_json(note, standing) for note, standing in notes],
        }
        output.emit_json(told)
        return
    if not ended and not notes:
        output.note('nothing yet: `ralph work` learns from tasks, `ralph learn note "..."` takes down a note')
        return
    _tell(ended, found, notes)


@command.command("note", short_help="take down a note for later tasks")
@click.argument("text")
@click.option("--for", "globs", multiple=True, metavar="GLOB", help="only for tasks about these files; repeatable")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="only for tasks with this tag; repeatable")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="only for tasks of this type; repeatable")
def note(text: str, *, globs: tuple[str, ...], tags: tuple[str, ...], types: tuple[str, ...]) -> None:
    """Take down TEXT for the agents of later tasks. Without an option it is for all of them.

    It is shown to them as a note, not as an instruction. Prints the id of the note.
    """
    line = " ".join(output.printable(text).split())
    if not line:
        raise UsageError("the note is empty", hint='ralph learn note "what is to be known"')
    if len(line) > LONGEST:
        raise UsageError(
            f"the note has {len(line)} characters; {LONGEST} fit",
            hint="write it shorter, or put it into AGENTS.md, which every agent is shown",
        )
    scope = Scope(globs=globs, tags=tags, task_types=types)
    taken = Lesson(id=lesson_id(line, scope), text=line, scope=scope, source="human", created_at=clock.now())
    if not learning_of(here.project()).append(taken):
        output.note("that note is there already")
    output.line(taken.id)


@command.command("prune", short_help="forget what is old")
@click.option("--older-than", default="90d", metavar="DURATION", help="how old: 90d, 12h [default: 90d]")
@click.option("--dry-run", is_flag=True, help="only say what would be removed")
def prune(*, older_than: str, dry_run: bool) -> None:
    """Remove what is older from learning.jsonl. Your own notes stay, and so does what cannot be read."""
    before = clock.now() - _age(older_than)
    learning = learning_of(here.project())
    kept = _read(learning)
    gone = learning.drop(lambda record: _is_old(record, before), rehearse=dry_run)
    counts: dict[str, int] = {}
    for record in gone:
        kind = str(type(record).__struct_config__.tag)
        counts[kind] = counts.get(kind, 0) + 1
    if not gone:
        output.note(f"nothing is older than {older_than}")
        return
    for kind, count in sorted(counts.items()):
        output.line(f"{kind}  {count}")
    verb = "would be removed" if dry_run else "removed"
    output.note(f"{verb}: {len(gone)} of {len(kept)} records, older than {older_than}")


@command.command("propose", short_help="propose it to you, on a branch")
@click.option("--json", "as_json", is_flag=True, help="print the proposals as JSON")
def propose(*, as_json: bool) -> None:
    """Write what is sure enough as a branch `ralph/learn-...`, with a commit that changes AGENTS.md or
    implementation-plan.md. Your branch, your files and what you have staged stay as they are: take it, or delete it."""
    from untilproven.queue import proposing  # noqa: PLC0415  git is not needed otherwise

    project = here.project()
    made = proposing.propose(project, _read(learning_of(project)), clock.now())
    if as_json:
        proposals = [wire.to_builtins(one) for one in made.proposals]
        output.emit_json({"branch": made.branch, "proposals": proposals, "left_out": made.left_out})
        return
    for why in made.left_out:
        output.note(why)
    if not made.branch:
        output.note("nothing new to propose")
        return
    output.line(made.branch)
    for one in made.proposals:
        output.note(f"{one.target}: {one.change}")
        output.note(f"  why: {one.rationale}")
    output.note(f"look:   git show {made.branch}")
    output.note(f"take:   git merge {made.branch}")
    output.note(f"or not: git branch -D {made.branch}")


def _read(learning: Lines[Learnt]) -> tuple[Learnt, ...]:
    found = learning.read()
    for one in found.damage[:_LISTED]:
        output.warn(f"{learning.path}, line {one.line} is left out: {one.reason}")
    if len(found.damage) > _LISTED:
        output.warn(f"{learning.path}: {len(found.damage) - _LISTED} more lines are left out")
    return found.records


def _age(words: str) -> timedelta:
    days = re.fullmatch(r"0*([1-9][0-9]{0,4})d", words)
    try:
        age = timedelta(days=int(days[1])) if days else durations.parse(words)
    except ValueError as error:
        raise UsageError(f"--older-than: {error}", hint="write days like 90d") from error
    return min(age, _NEVER)


def _is_old(record: Learnt, before: datetime) -> bool:
    if isinstance(record, Lesson):
        return record.source == "pattern" and record.created_at < before
    return record.timestamp < before


def _tell(ended: list[TaskCompleted], found: Iterable[Pattern], notes: list[tuple[Lesson, effects.Standing]]) -> None:
    tasks = _tasks(ended)
    days = KEPT.days
    output.line(f"{tasks['ended']} tasks ended in the last {days} days, {tasks['succeeded']} of them with success")
    rows = [[one.kind, f"{one.confidence:.2f}", one.message, _names(one.evidence)] for one in found]
    if rows:
        output.line("")
        output.table(["PATTERN", "CONFIDENCE", "WHAT", "TASKS"], rows)
    if notes:
        output.line("")
        told = [
            [note.id, note.source, str(standing.uses), _helped(standing), _scope(note.scope), words(note)]
            for note, standing in notes
        ]
        output.table(["NOTE", "FROM", "USES", "HELPED", "FOR", "WORDS"], told)
    for note, standing in notes:
        if standing.why:
            output.note(f"{note.id}: {standing.why}")


def _tasks(ended: list[TaskCompleted]) -> dict[str, int]:
    tasks = {record.task_id: record.success for record in ended}
    return {"ended": len(tasks), "succeeded": sum(tasks.values())}


def _names(evidence: tuple[str, ...]) -> str:
    return ", ".join(evidence[:_LISTED]) + (", ..." if len(evidence) > _LISTED else "")


def _helped(standing: effects.Standing) -> str:
    return f"{standing.effect.verdict}, expired" if standing.expired else standing.effect.verdict


def _scope(scope: Scope) -> str:
    tags, types = (f"tag {tag}" for tag in scope.tags), (f"type {kind}" for kind in scope.task_types)
    return ", ".join([*scope.globs, *tags, *types]) or "all"


def _pattern_as_json(one: Pattern) -> dict[str, Any]:
    return {
        "pattern": one.kind,
        "subject": one.subject,
        "samples": one.samples,
        "strength": one.strength,
        "confidence": one.confidence,
        "evidence": one.evidence,
        "message": one.message,
    }


def _note_as_json(note: Lesson, standing: effects.Standing) -> dict[str, Any]:
    return wire.to_builtins(note) | {
        "uses": standing.uses,
        "effect": standing.effect,
        "expired": standing.expired,
        **({"why": standing.why} if standing.why else {}),
    }
