"""`.ralph/queue.jsonc`, and the `done.jsonc` beside it: fitchmultz's ralph."""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from msgspec import UNSET, UnsetType

from untilproven.model.task import Origin, Task, TaskStatus
from untilproven.queue.formats import criteria, jsonc, node
from untilproven.queue.formats.contract import Imported, Keys

NAME = "queue"
ABOUT = ".ralph/queue.jsonc with RQ-0001 and depends_on"
HOLDS = frozenset({"description", "priority", "blocked_by", "parent", "tags"})
_READ = {
    "todo": TaskStatus.PENDING,
    "draft": TaskStatus.DISCOVERED,
    "doing": TaskStatus.PENDING,
    "done": TaskStatus.DONE,
    "rejected": TaskStatus.CANCELLED,
}
_WRITTEN = {
    TaskStatus.DISCOVERED: "draft",
    TaskStatus.IN_PROGRESS: "doing",
    TaskStatus.DONE: "done",
    TaskStatus.CANCELLED: "rejected",
}
_PRIORITIES = {"medium": 0.0, "low": -1.0, "high": 1.0, "critical": 2.0}
_LISTS = {"plan": "Plan", "evidence": "Evidence", "notes": "Notes", "scope": "Scope"}


def recognises(path: PurePath, text: str) -> bool:
    if path.suffix not in {".json", ".jsonc"} or path.stem not in {"queue", "done"}:
        return False
    return bool(re.search(r'"tasks"\s*:', text)) if text else path.suffix == ".jsonc"


def read(text: str) -> Imported:
    entries = node.entries(jsonc.parse(text), "tasks")
    keys = Keys()
    ids = {node.text(entry, "id") for entry in entries}
    away: set[str] = set()
    tasks = tuple(_task(entry, keys, ids, away) for entry in entries)
    archived = f"{', '.join(sorted(away)[:5])}: named as a dependency, not in this file, and so not waited for"
    return Imported(tasks=tasks, warnings=(archived,) if away else ())


def _task(entry: node.Node, keys: Keys, ids: set[str], away: set[str]) -> Task:
    title = node.title(entry)
    wanted = node.texts(entry, "depends_on")
    parent = node.text(entry, "parent_id")
    away |= {one for one in (*wanted, parent) if one and one not in ids}
    completion, words = criteria.sorted_out(node.texts(entry, "acceptance_criteria"))
    return Task(
        id=keys.of(node.text(entry, "id"), title, entry.line),
        title=title,
        status=_READ[node.one_of(entry, "status", tuple(_READ))],
        description=_described(entry) or UNSET,
        completion=completion,
        acceptance_criteria=words,
        priority=_PRIORITIES[node.one_of(entry, "priority", tuple(_PRIORITIES))],
        blocked_by=tuple(one for one in wanted if one in ids) or UNSET,
        blocks=_known(node.texts(entry, "blocks"), ids),
        parent=parent if parent in ids and parent else UNSET,
        tags=node.texts(entry, "tags") or UNSET,
        source=Origin(type="spec", line=entry.line),
    )


def _known(named: tuple[str, ...], ids: set[str]) -> tuple[str, ...] | UnsetType:
    return tuple(one for one in named if one in ids) or UNSET


def _described(entry: node.Node) -> str:
    parts = [node.text(entry, "description") or node.text(entry, "request")]
    for key, name in _LISTS.items():
        if listed := node.texts(entry, key):
            parts.append("\n".join([f"{name}:", *(f"- {one}" for one in listed)]))
    return "\n\n".join(filter(None, parts))


def write(tasks: Sequence[Task], original: str) -> str:
    if not original:
        return jsonc.fresh({"version": 1, "tasks": [*map(_entry, tasks)]})
    editor = jsonc.Editor(original)
    known = dict(zip((task.id for task in read(original).tasks), node.entries(editor.root, "tasks"), strict=True))
    for task in tasks:
        entry, status = known.get(task.id), _WRITTEN.get(task.status)
        if entry is None or status is None or node.text(entry, "status") in {"done", status}:
            continue
        editor.set(entry, "status", status)
        if task.completed_at:
            editor.set(entry, "completed_at", task.completed_at.isoformat())
    if listed := node.member(editor.root, "tasks"):
        editor.append(listed, [_entry(task) for task in tasks if task.id not in known])
    return editor.text()


def _entry(task: Task) -> dict[str, Any]:
    names = {value: name for name, value in _PRIORITIES.items()}
    nearest = min(names, key=lambda value: abs(value - task.priority))
    fields: dict[str, Any] = {
        "id": task.id,
        "status": _WRITTEN.get(task.status, "todo"),
        "title": task.title,
        "description": task.description or "",
        "priority": names[nearest],
        "tags": [*(task.tags or ())],
        "depends_on": [*(task.blocked_by or ())],
    }
    times = {"created_at": task.created_at, "updated_at": task.updated_at, "completed_at": task.completed_at}
    fields |= {key: moment.isoformat() for key, moment in times.items() if moment}
    return fields | ({"parent_id": task.parent} if task.parent else {})
