"""Bringing another tool's tasks into the book: each once, however often its file is read; none is done by its word."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.core import picking
from untilproven.core.tasks import commands, completions, named_by
from untilproven.errors import TaskRefused, UsageError
from untilproven.model.task import Command, Create, Operation, Task, TaskStatus, Update
from untilproven.queue.changing import change_of, kept_commands, origin
from untilproven.queue.formats.criteria import listed
from untilproven.queue.matching import matched
from untilproven.queue.reading import Source
from untilproven.store import clock
from untilproven.store.tasks import TaskBook

_ITS_OWN = re.compile(r"[A-Z][A-Z0-9]{0,20}-\d{1,6}")
"""Ids that people know their tasks by, and that are kept if they are free."""
_OURS = re.compile(r"RALPH-(\d{1,18})")
_TITLE = 200
_TRIES = 5


class Intake(msgspec.Struct, frozen=True, kw_only=True):
    """What an import does, or would do."""

    created: tuple[Task, ...]
    updated: tuple[Update, ...]
    unchanged: int
    claimed: tuple[str, ...]
    """Tasks that the file calls done, and that are not done here."""
    commands: tuple[str, ...]
    """What the open tasks of this file would run."""
    warnings: tuple[str, ...]

    @property
    def operations(self) -> list[Operation]:
        return [*(Create(task=task) for task in self.created), *self.updated]


def take(book: TaskBook, source: Source, *, now: clock.Clock = clock.now) -> Intake:
    """Write what is new and what has changed, all in one append."""
    for left in reversed(range(_TRIES)):
        intake = planned(source, book.read().by_id, now())
        try:
            if intake.operations:
                book.append(*intake.operations)
        except TaskRefused:
            taken = book.read().by_id
            if left and any(task.id in taken for task in intake.created):
                continue  # somebody else took one of these ids meanwhile
            raise
        return intake
    raise AssertionError("the last try returns or raises")


def planned(source: Source, known: Mapping[str, Task], now: datetime) -> Intake:
    """What importing this file into these tasks comes to."""
    _refuse_knots(source)
    here = matched(source.format, source.path, source.imported.tasks, known)
    ids = {**{key: task.id for key, task in here.items()}, **_new_ids(source, here, known)}
    created: list[Task] = []
    updated: list[Update] = []
    claimed: list[str] = []
    lines: list[str] = []
    warnings = [*source.imported.warnings, *_taken_for(source, here)]
    for place, entry in enumerate(source.imported.tasks):
        wanted, before = _ours(entry, source, ids), here.get(entry.id)
        if before and before.status in picking.CLOSED:
            if change_of(before, wanted, source, known):
                warnings.append(f"{before.id} is {before.status} here; what the file now says about it was left out")
            continue
        if entry.status is TaskStatus.DONE:
            claimed.append(wanted.id)
        lines += commands(wanted)
        if before is None:
            # A moment after the entry before it: the order of the file is the order of the queue.
            created.append(replace(wanted, created_at=now + timedelta(microseconds=place)))
        elif update := change_of(before, wanted, source, known):
            updated.append(update)
            lines += commands(before)
            warnings += kept_commands(before, wanted)
    return Intake(
        created=tuple(created),
        updated=tuple(updated),
        unchanged=len(source.imported.tasks) - len(created) - len(updated),
        claimed=tuple(claimed),
        commands=tuple(dict.fromkeys(lines)),
        warnings=(*warnings, *_gone(source, known)),
    )


def _refuse_knots(source: Source) -> None:
    """Every name in the file must be in it, and nobody may wait for itself in the end."""
    entries = {task.id: replace(task, status=TaskStatus.PENDING) for task in source.imported.tasks}
    for task in entries.values():
        for name in sorted(named_by(task) - entries.keys()):
            raise UsageError(
                f"{source.path}:{_line(task)}: {task.id} has to do with {name}, which is not in this file",
                hint="nothing was imported; correct the id, or take it out",
            )
    for circle in picking.cycles(entries):
        raise UsageError(
            f"{source.path}:{_line(entries[circle[0]])}: these wait for each other: {listed(circle, ' -> ')}",
            hint="nothing was imported; take one of these dependencies out",
        )


def _line(task: Task) -> int:
    return (task.source.line if task.source else 0) or 1


def _new_ids(source: Source, here: Mapping[str, Task], known: Mapping[str, Task]) -> dict[str, str]:
    new = [entry.id for entry in source.imported.tasks if entry.id not in here]
    found = {key: key for key in new if _ITS_OWN.fullmatch(key) and key not in known}
    numbers = (int(one[1]) for name in (*known, *found) if (one := _OURS.fullmatch(name)))
    following = max(numbers, default=0) + 1
    for key in new:
        if key not in found:
            found[key] = f"RALPH-{following:03d}"
            following += 1
    return found


def _ours(entry: Task, source: Source, ids: Mapping[str, str]) -> Task:
    """The entry as a task of ours: our ids, the file's checks, where it comes from; and open, whatever it says."""
    checks = (Command(command=line) for line in source.imported.checks)
    wanted = replace(
        _short(entry),
        id=ids[entry.id],
        status=TaskStatus.PENDING if entry.status is TaskStatus.DONE else entry.status,
        external_id=source.external_id(entry.id),
        completion=tuple(dict.fromkeys((*completions(entry), *checks))) or UNSET,
        never_touch=tuple(dict.fromkeys((*(entry.never_touch or ()), *source.imported.never_touch))) or UNSET,
        blocked_by=tuple(ids[one] for one in entry.blocked_by) if entry.blocked_by else UNSET,
        blocks=tuple(ids[one] for one in entry.blocks) if entry.blocks else UNSET,
        parent=ids[entry.parent] if entry.parent else UNSET,
    )
    return replace(wanted, source=origin(wanted, source.path, _line(entry)))


def _short(entry: Task) -> Task:
    """A title is a line in tables, commits and prompts; one that is longer goes on in the description."""
    if len(entry.title) <= _TITLE:
        return entry
    whole = "\n\n".join(filter(None, (entry.title, entry.description or "")))
    return replace(entry, title=f"{entry.title[: _TITLE - 3].rstrip()}...", description=whole)


def _taken_for(source: Source, here: Mapping[str, Task]) -> Iterable[str]:
    for task in here.values():
        if task.external_id and not source.has(task):
            yield f"{task.id} has the same id, title and description as here, where it came from {task.external_id}"


def _gone(source: Source, known: Mapping[str, Task]) -> Iterable[str]:
    """Tasks that came from this file, are open here, and are in it no more: a title may have been reworded."""
    still = {source.external_id(entry.id) for entry in source.imported.tasks}
    gone = [
        task.id
        for task in known.values()
        if source.has(task) and task.external_id not in still and task.status not in picking.CLOSED
    ]
    if gone:
        yield f"no longer in {source.path}, and kept here: {listed(gone)} (`ralph task cancel ID` ends one)"
