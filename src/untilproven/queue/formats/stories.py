"""`.agents/tasks/prd*.json` with stories and quality gates: iannuttall's ralph."""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec import UNSET

from untilproven.core.naming import quoted
from untilproven.model.task import Origin, Task, TaskStatus
from untilproven.queue.formats import criteria, jsonc, node
from untilproven.queue.formats.contract import Imported, Keys

NAME = "stories"
ABOUT = ".agents/tasks/prd*.json with stories and qualityGates"
HOLDS = frozenset({"description", "completion", "acceptance_criteria", "blocked_by"})
_STATUSES = ("open", "in_progress", "done")


def recognises(path: PurePath, text: str) -> bool:
    if path.suffix != ".json":
        return False
    return bool(re.search(r'"stories"\s*:', text)) or (not text and path.parent.parts[-2:] == (".agents", "tasks"))


def read(text: str) -> Imported:
    root = jsonc.parse(text)
    stories = node.entries(root, "stories")
    checks, words = criteria.gates(node.texts(root, "qualityGates"))
    keys = Keys()
    tasks = [_task(story, keys) for story in stories]
    return Imported(
        tasks=tuple(
            msgspec.structs.replace(task, acceptance_criteria=criteria.with_words(task, words)) for task in tasks
        ),
        checks=checks,
        warnings=tuple(f"the quality gate {quoted(one)} names no command; it is kept as words" for one in words),
    )


def _task(story: node.Node, keys: Keys) -> Task:
    title = node.title(story)
    completion, words = criteria.sorted_out(node.texts(story, "acceptanceCriteria"))
    done = node.one_of(story, "status", _STATUSES) == "done"
    return Task(
        id=keys.of(node.text(story, "id"), title, story.line),
        title=title,
        status=TaskStatus.DONE if done else TaskStatus.PENDING,
        description=node.text(story, "description") or UNSET,
        completion=completion,
        acceptance_criteria=words,
        blocked_by=node.texts(story, "dependsOn") or UNSET,
        source=Origin(type="spec", line=story.line),
    )


def write(tasks: Sequence[Task], original: str) -> str:
    if not original:
        gates = criteria.shared(tasks)
        return jsonc.fresh({"qualityGates": [*gates], "stories": [_story(task, gates) for task in tasks]})
    editor = jsonc.Editor(original)
    stories = node.entries(editor.root, "stories")
    before = read(original)
    known = dict(zip((task.id for task in before.tasks), stories, strict=True))
    for task in tasks:
        if (entry := known.get(task.id)) and task.status in {TaskStatus.DONE, TaskStatus.IN_PROGRESS}:
            if node.text(entry, "status") == "done":
                continue
            editor.set(entry, "status", str(task.status))
            if task.status is TaskStatus.DONE and task.completed_at:
                editor.set(entry, "completedAt", task.completed_at.isoformat())
    listed = node.member(editor.root, "stories")
    if listed:
        editor.append(listed, [_story(task, before.checks) for task in tasks if task.id not in known])
    return editor.text()


def _story(task: Task, gates: Sequence[str]) -> dict[str, Any]:
    return {
        "id": task.id,
        "title": task.title,
        "status": {TaskStatus.DONE: "done", TaskStatus.IN_PROGRESS: "in_progress"}.get(task.status, "open"),
        "dependsOn": [*(task.blocked_by or ())],
        "description": task.description or "",
        "acceptanceCriteria": criteria.written(task, gates),
    }
