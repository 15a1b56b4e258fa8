"""Bringing another tool's tasks into the book: each once, however often its file is read; none is done by its word."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.core import picking
from untilproven.core.tasks import commands
from untilproven.errors import TaskRefused, UsageError
from untilproven.model.task import Command, Create, Operation, Origin, Task, TaskStatus, Update
from untilproven.queue.formats.criteria import completions
from untilproven.queue.reading import Source
from untilproven.store import clock
from untilproven.store.tasks import TaskBook

CLAIMED = "claimed-done"
"""The tag of a task that another tool calls done, and that nobody has proven here."""
UNPROVEN = "done-unproven"
"""The tag of a task that was taken over as done by another tool's word."""
_ITS_OWN = re.compile(r"[A-Z][A-Z0-9]{0,20}-\d{1,9}")
"""Ids that people know their tasks by, and that are kept if they are free."""
_OURS = re.compile(r"RALPH-(\d{1,18})")
_WORDS = ("title", "description", "acceptanceCriteria", "priority", "spec", "limits")
"""What the file decides, and says again each time; by its name in JSON."""
_TRIES = 5


class Intake(msgspec.Struct, frozen=True, kw_only=True):
    """What an import does, or would do."""

    created: tuple[Task, ...]
    updated: tuple[Update, ...]
    unchanged: int
    claimed: tuple[str, ...]
    """Tasks that the file calls done, and that are not done here."""
    commands: tuple[str, ...]
    """What the tasks of this file would run."""
    warnings: tuple[str, ...]

    @property
    def operations(self) -> list[Operation]:
        return [*(Create(task=task) for task in self.created), *self.updated]


def take(book: TaskBook, source: Source, *, accept_done: bool, now: clock.Clock = clock.now) -> Intake:
    """Write what is new and what has changed, all in one append."""
    for left in reversed(range(_TRIES)):
        intake = planned(source, book.read().by_id, now(), accept_done=accept_done)
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


def planned(source: Source, known: Mapping[str, Task], now: datetime, *, accept_done: bool) -> Intake:
    """What importing this file into these tasks comes to."""
    _refuse_circles(source)
    here = _already_here(source, known)
    ids = {**{key: task.id for key, task in here.items()}, **_new_ids(source, here, known)}
    created: list[Task] = []
    updated: list[Update] = []
    claimed: list[str] = []
    warnings = [*source.imported.warnings]
    unchanged = 0
    for place, entry in enumerate(source.imported.tasks):
        wanted = _ours(entry, source, ids)
        before = here.get(entry.id)
        claims = entry.status is TaskStatus.DONE and not (before and before.status is TaskStatus.DONE)
        if claims and not accept_done:
            claimed.append(wanted.id)
            wanted = replace(wanted, status=TaskStatus.PENDING, tags=_joined(wanted.tags, (CLAIMED,)))
        elif claims:
            wanted = replace(wanted, tags=_joined(wanted.tags, (UNPROVEN,)))
        if before is None:
            created.append(_dated(wanted, now + timedelta(microseconds=place)))
        elif changes := _changes(before, wanted, source, known, warnings):
            updated += changes
        else:
            unchanged += 1
    return Intake(
        created=tuple(created),
        updated=tuple(updated),
        unchanged=unchanged,
        claimed=tuple(claimed),
        commands=_commands([*created, *(_changed(known, one) for one in updated)], here.values()),
        warnings=(*warnings, *_gone(source, known)),
    )


def _refuse_circles(source: Source) -> None:
    entries = {task.id: replace(task, status=TaskStatus.PENDING) for task in source.imported.tasks}
    for task in entries.values():
        for name in {*(task.blocked_by or ()), *(task.blocks or ()), *([task.parent] if task.parent else [])}:
            if name not in entries:
                line = task.source.line if task.source else 1
                raise UsageError(
                    f"{source.path}:{line}: {task.id} has to do with {name}, which is not in this file",
                    hint="nothing was imported; correct the id, or take it out",
                )
    for circle in picking.cycles(entries):
        raise UsageError(
            f"{source.path}: these wait for each other: {' -> '.join(circle)}",
            hint="nothing was imported; take one of these dependencies out",
        )


def _already_here(source: Source, known: Mapping[str, Task]) -> dict[str, Task]:
    """The tasks in the book that entries of this file are, by their keys in it.

    An entry was imported before; or it was written there by an export, under the id that its task has here.
    """
    linked = {task.external_id: task for task in known.values() if task.external_id}
    found: dict[str, Task] = {}
    for entry in source.imported.tasks:
        task = linked.get(source.external_id(entry.id))
        if task is None and (same := known.get(entry.id)) and same.title == entry.title:
            task = same
        if task:
            found[entry.id] = task
    return found


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
    """The entry as a task of ours: our ids, the file's checks, and where it comes from."""
    checks = (Command(command=line) for line in source.imported.checks)
    line = entry.source.line if entry.source else UNSET
    return replace(
        entry,
        id=ids[entry.id],
        external_id=source.external_id(entry.id),
        source=Origin(type="spec", path=source.path, line=line),
        completion=tuple(dict.fromkeys((*completions(entry), *checks))) or UNSET,
        never_touch=_joined(entry.never_touch, source.imported.never_touch),
        blocked_by=tuple(ids[one] for one in entry.blocked_by) if entry.blocked_by else UNSET,
        blocks=tuple(ids[one] for one in entry.blocks) if entry.blocks else UNSET,
        parent=ids[entry.parent] if entry.parent else UNSET,
    )


def _dated(task: Task, moment: datetime) -> Task:
    """A moment after the entry before it: the order of the file is the order of the queue."""
    done = moment if task.status is TaskStatus.DONE else UNSET
    return replace(task, created_at=moment, completed_at=done)


def _changes(
    before: Task, wanted: Task, source: Source, known: Mapping[str, Task], warnings: list[str]
) -> list[Update]:
    """What the file says differently; what was added here stays. A task that is closed here stays as it is."""
    old, new = _plain(before), _plain(wanted)
    said = {key: new[key] for key in _WORDS if key in new and new[key] != old.get(key)}
    if before.status in picking.CLOSED:
        if said:
            warnings.append(f"{before.id} is {before.status} here; what {source.path} now says about it was left out")
        return []
    more = {
        "completion": tuple(dict.fromkeys((*completions(before), *completions(wanted)))),
        "neverTouch": _joined(before.never_touch, wanted.never_touch or ()),
        "tags": _joined(before.tags, wanted.tags or ()),
        "blockedBy": _blockers(before, wanted, source, known),
        "blocks": _joined(before.blocks, wanted.blocks or ()),
    }
    for key, value in more.items():
        plain = msgspec.to_builtins(value or (), str_keys=True)
        if [*plain] != [*_listed(old.get(key, ()))]:
            said[key] = [*plain]
    if wanted.parent and wanted.parent != before.parent:
        said["parent"] = wanted.parent
    _tell_of_kept_commands(before, wanted, source, warnings)
    updates = [said] if said else []
    updates += [{"status": str(step)} for step in _steps(before.status, wanted.status)]
    return [Update(id=before.id, changes=one, source="manual") for one in updates]


def _steps(here: TaskStatus, there: TaskStatus) -> list[TaskStatus]:
    """From a status here to the one in the file, if that is a step that the file can make us take."""
    match here, there:
        case TaskStatus.DISCOVERED, TaskStatus.PENDING:
            return [TaskStatus.PENDING]
        case ((TaskStatus.DISCOVERED | TaskStatus.PENDING | TaskStatus.BLOCKED), TaskStatus.CANCELLED):
            return [TaskStatus.CANCELLED]
        case TaskStatus.PENDING, TaskStatus.DONE:
            return [TaskStatus.IN_PROGRESS, TaskStatus.DONE]
        case ((TaskStatus.DISCOVERED | TaskStatus.BLOCKED), TaskStatus.DONE):
            return [TaskStatus.PENDING, TaskStatus.IN_PROGRESS, TaskStatus.DONE]
    return []


def _blockers(before: Task, wanted: Task, source: Source, known: Mapping[str, Task]) -> tuple[str, ...]:
    """Those that the file names, and those from elsewhere: one of the file's that it no longer names is gone."""
    mine = source.external_id("")
    added = (
        one
        for one in before.blocked_by or ()
        if one not in known or not (known[one].external_id or "").startswith(mine)
    )
    return tuple(dict.fromkeys((*added, *(wanted.blocked_by or ()))))


def _tell_of_kept_commands(before: Task, wanted: Task, source: Source, warnings: list[str]) -> None:
    kept = [line for line in commands(before) if line not in commands(wanted)]
    if kept:
        warnings.append(
            f"{before.id} must still pass {', '.join(kept)}, which {source.path} does not ask for; "
            f"`ralph task edit {before.id}` changes that"
        )


def _gone(source: Source, known: Mapping[str, Task]) -> Iterable[str]:
    """Tasks that came from this file, are open here, and are in it no more: a title may have been reworded."""
    still = {source.external_id(entry.id) for entry in source.imported.tasks}
    mine = source.external_id("")
    gone = [
        task.id
        for task in known.values()
        if (task.external_id or "").startswith(mine)
        and task.external_id not in still
        and task.status not in picking.CLOSED
    ]
    if gone:
        names = ", ".join(gone[:5]) + (f" and {len(gone) - 5} more" if len(gone) > 5 else "")
        yield f"no longer in {source.path}, and kept here: {names} (`ralph task cancel ID` ends one)"


def _commands(new: Iterable[Task], here: Iterable[Task]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for task in (*new, *here) for line in commands(task)))


def _changed(known: Mapping[str, Task], update: Update) -> Task:
    completion = update.changes.get("completion")
    task = known[update.id]
    return (
        task
        if completion is None
        else replace(task, completion=msgspec.convert(completion, type(task).__annotations__["completion"]))
    )


def _plain(task: Task) -> dict[str, Any]:
    found = msgspec.to_builtins(task)
    return found if isinstance(found, dict) else {}


def _listed(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple) else (value,)


def _joined(old: Any, more: Iterable[str]) -> Any:
    return tuple(dict.fromkeys((*(old or ()), *more))) or UNSET
