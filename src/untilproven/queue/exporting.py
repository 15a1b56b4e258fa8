"""Writing our tasks into another tool's file: only what is done here is done there, and the rest of it stays."""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
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
from untilproven.queue.formats.criteria import listed
from untilproven.queue.matching import matched
from untilproven.queue.proven import is_proven
from untilproven.store import files
from untilproven.store.layout import Project
from untilproven.store.tasks import book_of

_EVERYWHERE = frozenset(
    {"id", "title", "status", "created_at", "updated_at", "completed_at", "external_id", "external_url", "source"}
    | {"loop", "actual", "blocks", "subtasks"}
)
"""What every format holds, or what belongs to us alone, or is the other side of something that is looked at."""


class Outlet(msgspec.Struct, frozen=True, kw_only=True):
    """What an export writes."""

    format: str
    text: str
    done: tuple[str, ...]
    """Tasks whose entries become done by it."""
    added: tuple[str, ...]
    unproven: tuple[str, ...]
    """Tasks that are done here without proof, and so open there."""
    links: tuple[Link, ...]
    warnings: tuple[str, ...]


def export(project: Project, typed: Path, format_name: str = "", *, rehearse: bool = False) -> Outlet:
    """Write the file, and remember which of its entries are which tasks."""
    target = Path(os.path.realpath(typed))
    original = reading.text_of(project.root, typed) if os.path.lexists(typed) else ""
    chosen = known.writer_of(format_name, typed, original)
    if not target.parent.is_dir():
        raise UsageError(f"there is no directory {typed.parent}", hint=f"make it: mkdir -p {typed.parent}")
    try:
        outlet = planned(project, chosen, reading.relative(project.root, typed), original)
    except Misread as wrong:
        raise reading.misread(typed, wrong, chosen.NAME) from None
    if rehearse:
        return outlet
    if outlet.text != original:
        with files.explained(target):
            mode = target.stat().st_mode & 0o7777 if target.exists() else None
        files.replace(target, outlet.text.encode(), durable=True)
        if mode is not None:
            with files.explained(target):
                target.chmod(mode)
    if outlet.links:
        book_of(project).append(*outlet.links)
    return outlet


def printed(project: Project, format_name: str) -> Outlet:
    """A file that is not written: our tasks in that format."""
    return planned(project, known.writer_of(format_name, Path(), ""), "", "")


def planned(project: Project, chosen: Writer, path: str, original: str) -> Outlet:
    """The file's text with our tasks in it."""
    tasks = book_of(project).read().by_id
    before = {task.id: task for task in chosen.read(original).tasks} if original.strip() else {}
    keys = {task.id: key for key, task in matched(chosen.NAME, path, before.values(), tasks).items()}
    shown = [task for task in sorted(tasks.values(), key=picking.rank) if _belongs(task, keys, is_new=not before)]
    clashing = [task.id for task in shown if task.id not in keys and task.id in before]
    shown = [task for task in shown if task.id not in clashing]
    unproven = {task.id for task in shown if task.status is TaskStatus.DONE and not is_proven(project, task)}
    added = [task for task in shown if task.id not in keys]
    names = {**{task.id: task.id for task in shown}, **keys}
    theirs = [_theirs(task, names, is_open=task.id in unproven) for task in shown]
    text = chosen.write(theirs, original if original.strip() else "")
    after = {one.id: one for one in chosen.read(text).tasks} if text.strip() else {}
    new = [one for key, one in after.items() if key not in before]
    _refuse_unreadable(chosen, [task for task in theirs if task.id not in before], new)
    done = [name for name, key in keys.items() if _is_done(after.get(key)) and not _is_done(before[key])]
    return Outlet(
        format=chosen.NAME,
        text=text,
        done=tuple(done),
        added=tuple(task.id for task in added),
        unproven=tuple(name for name in sorted(unproven) if not (name in keys and _is_done(before[keys[name]]))),
        links=tuple(
            Link(id=task.id, external_id=reading.external_id(chosen.NAME, path, one.id))
            for task, one in zip(added, new, strict=True)
            if task.external_id is UNSET
        ),
        warnings=(*_clashes(clashing), *_lost(chosen, added), *_claims(tasks, keys, before, unproven)),
    )


def _refuse_unreadable(chosen: Writer, wanted: Sequence[Task], found: Sequence[Task]) -> None:
    """What is written must be read again as what it was; the words of a task may be in the way of that."""
    for task, one in zip_longest(wanted, found):
        if task is None or one is None or _words(task) != _words(one) or _is_done(task) != _is_done(one):
            name = (task or one).id
            raise UsageError(
                f"{name} cannot be written as {chosen.NAME}: it would be read again as something else",
                hint=f"nothing was written; look at its title and description: ralph task show {name}",
            )


def _words(task: Task) -> str:
    return " ".join(task.title.split())


def _is_done(entry: Task | None) -> bool:
    return entry is not None and entry.status is TaskStatus.DONE


def _belongs(task: Task, keys: Mapping[str, str], *, is_new: bool) -> bool:
    """All that is not cancelled belongs in a new file; in a list that somebody keeps, what is its own, and what is
    open and came from nowhere else."""
    if task.id in keys:
        return True
    if is_new:
        return task.status is not TaskStatus.CANCELLED
    return task.external_id is UNSET and task.status not in picking.CLOSED


def _theirs(task: Task, names: Mapping[str, str], *, is_open: bool) -> Task:
    """With the file's own ids, and without what is not in it."""
    return replace(
        task,
        id=names[task.id],
        status=TaskStatus.PENDING if is_open else task.status,
        completed_at=UNSET if is_open else task.completed_at,
        blocked_by=tuple(names[one] for one in task.blocked_by or () if one in names) or UNSET,
        parent=names.get(task.parent, UNSET) if task.parent else UNSET,
    )


def _lost(chosen: Writer, added: Sequence[Task]) -> Iterable[str]:
    """What a task that was added has, and its entry has not."""
    for field in fields(Task):
        if field.name in _EVERYWHERE or field.name in chosen.HOLDS:
            continue
        names = [task.id for task in added if _says(getattr(task, field.name), field.default)]
        if names:
            yield f"{chosen.NAME} cannot hold {field.encode_name} (of {listed(names)})"
    if bent := [task.id for task in added if "completion" in chosen.HOLDS and criteria.bent(task)]:
        yield f"{chosen.NAME} holds commands only: what else completes a task is there in words (of {listed(bent)})"


def _says(value: Any, default: Any) -> bool:
    return value is not UNSET and value not in (default, ())


def _clashes(names: Sequence[str]) -> Iterable[str]:
    if names:
        yield f"the file has other entries by these names, so these tasks were left out: {listed(names)}"


def _claims(
    tasks: Mapping[str, Task], keys: Mapping[str, str], before: Mapping[str, Task], unproven: set[str]
) -> Iterable[str]:
    claimed = [
        name for name, key in keys.items() if _is_done(before[key]) and (not _is_done(tasks[name]) or name in unproven)
    ]
    if claimed:
        yield f"marked done in the file, and not proven here: {listed(claimed)}; the file was left as it is there"
