"""`.autoloop/tasks.jsonl`: autoloop. Append-only: the last line about a task counts, and a tombstone takes it away."""

import json
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from msgspec import UNSET

from untilproven.model.task import Origin, Task, TaskStatus
from untilproven.queue.formats import jsonc, node
from untilproven.queue.formats.contract import Imported, Misread, newline_of

NAME = "autoloop"
ABOUT = ".autoloop/tasks.jsonl"
HOLDS = frozenset({"priority"})
_PRIORITIES = {"normal": 0.0, "high": 1.0, "low": -1.0}


def recognises(path: PurePath, text: str) -> bool:
    if path.suffix != ".jsonl":
        return False
    if not text:
        return path.parent.name == ".autoloop"
    return bool(re.search(r'(?m)^[ \t\ufeff]*\{[^{}\n]*"type"\s*:\s*"task', text))


def read(text: str) -> Imported:
    return Imported(tasks=tuple(_task(key, entry, line) for key, (entry, line) in _last(text).items()))


def _last(text: str) -> dict[str, tuple[node.Node, int]]:
    found: dict[str, tuple[node.Node, int]] = {}
    gone: set[str] = set()
    if text.strip() and not recognises(PurePath("tasks.jsonl"), text):
        raise Misread('there is no line with "type": "task" in it')
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip("\ufeff \t\r"):
            continue
        try:
            entry = jsonc.parse(line)
            kind, key, target = (node.text(entry, name) for name in ("type", "id", "target_id"))
        except Misread as wrong:
            raise Misread(wrong.why, number) from None
        if kind == "task-tombstone":
            gone.add(target)
        elif kind == "task":
            if not key:
                raise Misread("a task has no id", number)
            found[key] = entry, number
    return {key: one for key, one in found.items() if key not in gone}


def _task(key: str, entry: node.Node, line: int) -> Task:
    try:
        return Task(
            id=key,
            title=node.title(entry, "text"),
            status=TaskStatus.DONE if node.one_of(entry, "status", ("open", "done")) == "done" else TaskStatus.PENDING,
            priority=_PRIORITIES[node.one_of(entry, "priority", tuple(_PRIORITIES))],
            tags=("soft",) if (soft := node.member(entry, "soft")) and soft.value in {True, "true"} else UNSET,
            source=Origin(type="spec", line=line),
        )
    except Misread as wrong:
        raise Misread(wrong.why, line) from None


def write(tasks: Sequence[Task], original: str) -> str:
    known = _last(original)
    lines = []
    for task in tasks:
        if task.id not in known:
            lines.append(_entry(task))
        elif task.status is TaskStatus.DONE:
            entry = known[task.id][0]
            if node.text(entry, "status") != "done":
                lines.append(node.plain(entry) | {"status": "done"} | _completed(task))
    newline = newline_of(original)
    start = newline if original and not original.endswith("\n") and lines else ""
    return original + start + "".join(json.dumps(line, ensure_ascii=False) + newline for line in lines)


def _entry(task: Task) -> dict[str, Any]:
    names = {value: name for name, value in _PRIORITIES.items()}
    nearest = names[max(-1.0, min(1.0, float(round(task.priority))))]
    fields: dict[str, Any] = {"id": task.id, "type": "task", "text": task.title}
    fields |= {"status": "done" if task.status is TaskStatus.DONE else "open", "source": "untilproven"}
    fields |= {"created": task.created_at.isoformat()} if task.created_at else {}
    return fields | _completed(task) | ({"priority": nearest} if nearest != "normal" else {})


def _completed(task: Task) -> dict[str, Any]:
    return {"completed": task.completed_at.isoformat()} if task.completed_at else {}
