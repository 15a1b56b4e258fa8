"""Writing our tasks into another tool's file: only what is done here is done there, and the rest of it stays."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import fields, replace

from untilproven.core import picking
from untilproven.errors import UsageError
from untilproven.model.task import Link, Task, TaskStatus
from untilproven.queue import reading
from untilproven.queue.formats import criteria, known
from untilproven.queue.formats.contract import Misread, Writer
from untilproven.queue.importing import CLAIMED, UNPROVEN
from untilproven.store import files
from untilproven.store.tasks import TaskBook

_EVERYWHERE = frozenset(
    {"id", "title", "status", "created_at", "updated_at", "completed_at", "external_id", "external_url", "source"}
    | {"loop", "actual", "blocks", "subtasks"}
)
"""What every format holds, or what belongs to us alone, or is the other side of something that is looked at."""
_NAMED = 3


class Outlet(msgspec.Struct, frozen=True, kw_only=True):
    """What an export writes."""

    text: str
    done: tuple[str, ...]
    """Tasks whose entries become done by it."""
    added: tuple[str, ...]
    links: tuple[Link, ...]
    warnings: tuple[str, ...]


def export(book: TaskBook, root: Path, typed: Path, format_name: str = "") -> tuple[str, Outlet]:
    """Write the file, and remember which of its entries are which tasks; the format's name, and what was done."""
    target = typed.resolve()
    original = reading.text_of(typed) if target.exists() else ""
    chosen = known.writer_of(format_name, typed, original)
    try:
        outlet = planned(chosen, book.read().by_id, reading.relative(root, typed), original)
    except Misread as wrong:
        hint = "nothing was written; correct the line, or say with --format what the file is"
        raise UsageError(f"{typed}:{wrong.line}: {wrong.why} (read as {chosen.NAME})", hint=hint) from None
    if outlet.text != original:
        with files.explained(target):
            mode = target.stat().st_mode & 0o7777 if target.exists() else None
        files.replace(target, outlet.text.encode(), durable=True)
        if mode is not None:
            with files.explained(target):
                target.chmod(mode)
    if outlet.links:
        book.append(*outlet.links)
    return chosen.NAME, outlet


def planned(chosen: Writer, tasks: Mapping[str, Task], path: str, original: str) -> Outlet:
    """The file's text with our tasks in it."""
    before = {task.id: task for task in chosen.read(original).tasks} if original.strip() else {}
    keys = _keys(chosen.NAME, path, tasks, before)
    shown = [task for task in sorted(tasks.values(), key=picking.rank) if _belongs(task, keys, is_new=not before)]
    added = [task for task in shown if task.id not in keys]
    names = {**{task.id: task.id for task in shown}, **keys}
    text = chosen.write([_theirs(task, names) for task in shown], original if original.strip() else "")
    done = [
        task.id
        for task in shown
        if task.id in keys and task.status is TaskStatus.DONE and before[keys[task.id]].status is not TaskStatus.DONE
    ]
    after = {one.id for one in chosen.read(text).tasks} if text.strip() else set()
    return Outlet(
        text=text,
        done=tuple(done),
        added=tuple(task.id for task in added),
        links=tuple(
            Link(id=task.id, external_id=reading.external_id(chosen.NAME, path, task.id))
            for task in added
            if task.external_id is UNSET and task.id in after
        ),
        warnings=(*_lost(chosen, added), *_claims(tasks, keys, before)),
    )


def _keys(name: str, path: str, tasks: Mapping[str, Task], before: Mapping[str, Task]) -> dict[str, str]:
    """The entries of the file that are tasks of ours, as the import finds them."""
    found: dict[str, str] = {}
    linked = {task.external_id: task for task in tasks.values() if task.external_id}
    for key, entry in before.items():
        task = linked.get(reading.external_id(name, path, key))
        if task is None and (same := tasks.get(key)) and same.title == entry.title:
            task = same
        if task:
            found[task.id] = key
    return found


def _belongs(task: Task, keys: Mapping[str, str], *, is_new: bool) -> bool:
    """All that is not cancelled belongs in a new file; in a list that somebody keeps, what is its own, and what is
    open and came from nowhere else."""
    if task.id in keys:
        return True
    if is_new:
        return task.status is not TaskStatus.CANCELLED
    return task.external_id is UNSET and task.status not in picking.CLOSED


def _theirs(task: Task, names: Mapping[str, str]) -> Task:
    """With the file's own ids, and without what is not in it."""
    tags = tuple(tag for tag in task.tags or () if tag not in {CLAIMED, UNPROVEN})
    return replace(
        task,
        id=names[task.id],
        blocked_by=tuple(names[one] for one in task.blocked_by or () if one in names) or UNSET,
        parent=names.get(task.parent, UNSET) if task.parent else UNSET,
        tags=tags or UNSET,
    )


def _lost(chosen: Writer, added: Sequence[Task]) -> Iterable[str]:
    """What a task that was added has, and its entry has not."""
    for field in fields(Task):
        if field.name in _EVERYWHERE or field.name in chosen.HOLDS:
            continue
        names = [task.id for task in added if _says(getattr(task, field.name), field.default)]
        if names:
            yield f"{chosen.NAME} cannot hold {field.encode_name} (of {_listed(names)})"
    if bent := [task.id for task in added if "completion" in chosen.HOLDS and criteria.bent(task)]:
        yield f"{chosen.NAME} holds commands only: what else completes a task is there in words (of {_listed(bent)})"


def _says(value: Any, default: Any) -> bool:
    return value is not UNSET and value not in (default, ())


def _claims(tasks: Mapping[str, Task], keys: Mapping[str, str], before: Mapping[str, Task]) -> Iterable[str]:
    claimed = [
        name
        for name, key in keys.items()
        if before[key].status is TaskStatus.DONE and tasks[name].status is not TaskStatus.DONE
    ]
    if claimed:
        yield f"marked done in the file, and not proven here: {_listed(claimed)}; the file was left as it is there"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
