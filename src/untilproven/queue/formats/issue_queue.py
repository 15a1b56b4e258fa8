"""`.ralph/queue.json` of issues and specifications: frankbria's ralph."""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from msgspec import UNSET

from untilproven.core.text import text as storable
from untilproven.model.task import Origin, Task, TaskStatus
from untilproven.queue.formats import jsonc, node
from untilproven.queue.formats.contract import Imported, Keys, Misread

NAME = "issue-queue"
ABOUT = ".ralph/queue.json with issues and specifications"
HOLDS = frozenset({"priority", "tags"})
_READ = {
    "pending": TaskStatus.PENDING,
    "processing": TaskStatus.PENDING,
    "completed": TaskStatus.DONE,
    "failed": TaskStatus.PENDING,
    "skipped": TaskStatus.CANCELLED,
}
_WRITTEN = {
    TaskStatus.IN_PROGRESS: "processing",
    TaskStatus.DONE: "completed",
    TaskStatus.CANCELLED: "skipped",
}
_UNRANKED = 10.0


def recognises(path: PurePath, text: str) -> bool:
    if path.suffix != ".json":
        return False
    return bool(re.search(r'"queue"\s*:\s*\[', text)) if text else path.name == "queue.json"


def read(text: str) -> Imported:
    entries = node.entries(jsonc.parse(text), "queue")
    issues = {node.text(entry, "issue_number"): node.text(entry, "id") for entry in entries}
    keys = Keys()
    return Imported(tasks=tuple(_task(entry, keys, issues) for entry in entries))


def _task(entry: node.Node, keys: Keys, issues: dict[str, str]) -> Task:
    path, key = node.text(entry, "path"), node.text(entry, "id")
    title = " ".join(node.text(entry, "title").split()) or path or key
    if not title:
        raise Misread("an entry has neither a title nor an id", entry.line)
    rank = re.fullmatch(r"[Pp](\d)", node.text(entry, "priority"))
    wanted = (issues.get(number, "") for number in node.texts(entry, "dependencies"))
    return Task(
        id=keys.of(key, title, entry.line),
        title=title,
        status=_READ[node.one_of(entry, "status", tuple(_READ))],
        spec=path or UNSET,
        priority=0 - (float(rank[1]) if rank else _UNRANKED),
        blocked_by=tuple(filter(None, wanted)) or UNSET,
        tags=_labels(entry) or UNSET,
        source=Origin(type="spec", line=entry.line),
    )


def _labels(entry: node.Node) -> tuple[str, ...]:
    """They are names, or objects with one, as GitHub gives them."""
    found = node.member(entry, "labels")
    listed = found.value if found and isinstance(found.value, list) else []
    named = (storable(one.value) if isinstance(one.value, str) else node.text(one, "name") for one in listed)
    return tuple(filter(None, named))


def write(tasks: Sequence[Task], original: str) -> str:
    if not original:
        return jsonc.fresh({"version": "1.0", "repository": "", "queue": [*map(_entry, tasks)]})
    editor = jsonc.Editor(original)
    known = dict(zip((task.id for task in read(original).tasks), node.entries(editor.root, "queue"), strict=True))
    for task in tasks:
        entry, status = known.get(task.id), _WRITTEN.get(task.status)
        if entry is None or status is None or node.text(entry, "status") in {"completed", status}:
            continue
        editor.set(entry, "status", status)
        if task.completed_at:
            editor.set(entry, "completed_at", task.completed_at.isoformat())
    if listed := node.member(editor.root, "queue"):
        editor.append(listed, [_entry(task) for task in tasks if task.id not in known])
    return editor.text()


def _entry(task: Task) -> dict[str, Any]:
    rank = max(0, round(0 - task.priority))
    return {
        "id": task.id,
        "source": "prd",
        "title": task.title,
        "priority": f"P{rank}" if rank < _UNRANKED else "",
        "labels": [{"name": tag} for tag in task.tags or ()],
        "dependencies": [],
        "status": _WRITTEN.get(task.status, "pending"),
    }
