"""`tasks.yaml`: ralphy."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from untilproven.model.task import Task
from untilproven.queue.formats import node, plain_yaml, ralphy
from untilproven.queue.formats.contract import Imported, newline_of

NAME = "ralphy-yaml"
ABOUT = "tasks.yaml with title, completed and parallel_group"
HOLDS = ralphy.HOLDS


def recognises(path: PurePath, text: str) -> bool:
    return path.suffix in {".yaml", ".yml"} and (
        not text or bool(re.search(r"(?m)^\ufeff?[\"']?tasks[\"']?\s*:", text))
    )


def read(text: str) -> Imported:
    return ralphy.taken(plain_yaml.parse(text))


def write(tasks: Sequence[Task], original: str) -> str:
    if not original:
        return "\n".join(["tasks:", *(line for task in tasks for line in _lines(task, 2)), ""])
    root = plain_yaml.parse(original)
    entries = ralphy.known(root)
    newline = newline_of(original)
    edits: list[tuple[int, int, str]] = []
    for entry in ralphy.now_done(tasks, entries):
        old = entry.value.get("completed") if isinstance(entry.value, dict) else None
        title = node.member(entry, "title")
        if old is not None:
            space = " " if old.start == old.end and original[old.start - 1 : old.start] == ":" else ""
            edits.append((old.start, old.end, f"{space}true"))
        elif title is not None:
            edits.append((title.key_start, title.key_start, f"completed: true{newline}{' ' * entry.column}"))
    listed = node.member(root, "tasks")
    new = [task for task in tasks if task.id not in entries]
    if listed and new:
        lines = [line for task in new for line in _lines(task, listed.column)]
        if listed.value:
            edits.append((listed.end, listed.end, "".join(newline + line for line in lines)))
        else:
            edits.append((listed.start, listed.end, newline + newline.join(_shifted(lines))))
    text = original
    for start, end, written in sorted(edits, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def _shifted(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _lines(task: Task, column: int) -> list[str]:
    fields = [
        f"{key}: {plain_yaml.written(value) if isinstance(value, str) else str(value).lower()}"
        for key, value in ralphy.as_fields(task).items()
    ]
    return [f"{' ' * column}{'- ' if place == 0 else '  '}{field}" for place, field in enumerate(fields)]
