"""`tasks.json`: ralphy."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from untilproven.model.task import Task
from untilproven.queue.formats import jsonc, node, ralphy
from untilproven.queue.formats.contract import Imported

NAME = "ralphy-json"
ABOUT = "tasks.json with title, completed and parallel_group"
HOLDS = ralphy.HOLDS


def recognises(path: PurePath, text: str) -> bool:
    if path.suffix != ".json":
        return False
    return bool(re.search(r'"tasks"\s*:', text)) if text else path.name == "tasks.json"


def read(text: str) -> Imported:
    return ralphy.taken(jsonc.parse(text))


def write(tasks: Sequence[Task], original: str) -> str:
    if not original:
        return jsonc.fresh({"tasks": [*map(ralphy.as_fields, tasks)]})
    editor = jsonc.Editor(original)
    entries = ralphy.known(editor.root)
    for entry in ralphy.now_done(tasks, entries):
        editor.set(entry, "completed", True)
    if listed := node.member(editor.root, "tasks"):
        editor.append(listed, [ralphy.as_fields(task) for task in tasks if task.id not in entries])
    return editor.text()
