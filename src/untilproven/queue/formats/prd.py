"""`prd.json` with user stories: snarktank's ralph, and those that read the same file."""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from msgspec import UNSET

from untilproven.model.task import Origin, Task, TaskStatus
from untilproven.queue.formats import criteria, jsonc, node
from untilproven.queue.formats.contract import Imported, Keys

NAME = "prd"
ABOUT = "prd.json with userStories"
HOLDS = frozenset({"description", "completion", "acceptance_criteria", "priority", "blocked_by"})


def recognises(path: PurePath, text: str) -> bool:
    if path.suffix != ".json":
        return False
    return bool(re.search(r'"userStories"\s*:', text)) or (path.name == "prd.json" and '"stories"' not in text)


def read(text: str) -> Imported:
    stories = node.entries(jsonc.parse(text), "userStories")
    ranks = [node.number(story, "priority") for story in stories]
    last = max((rank for rank in ranks if rank is not None), default=-1) + 1
    keys = Keys()
    return Imported(
        tasks=tuple(
            _task(story, keys, last if rank is None else rank) for story, rank in zip(stories, ranks, strict=True)
        )
    )


def _task(story: node.Node, keys: Keys, rank: float) -> Task:
    title = node.title(story)
    completion, words = criteria.sorted_out(node.texts(story, "acceptanceCriteria"))
    described = [node.text(story, "description"), node.text(story, "notes")]
    return Task(
        id=keys.of(node.text(story, "id"), title, story.line),
        title=title,
        status=TaskStatus.DONE if node.flag(story, "passes") else TaskStatus.PENDING,
        description="\n\n".join(filter(None, described)) or UNSET,
        completion=completion,
        acceptance_criteria=words,
        priority=0 - rank,
        blocked_by=node.texts(story, "dependsOn") or UNSET,
        source=Origin(type="spec", line=story.line),
    )


def write(tasks: Sequence[Task], original: str) -> str:
    if not original:
        return jsonc.fresh({"project": "", "branchName": "", "description": "", "userStories": [*map(_story, tasks)]})
    editor = jsonc.Editor(original)
    stories = node.entries(editor.root, "userStories")
    known = dict(zip((task.id for task in read(original).tasks), stories, strict=True))
    for task in tasks:
        if task.id in known and task.status is TaskStatus.DONE:
            editor.set(known[task.id], "passes", True)
    listed = node.member(editor.root, "userStories")
    if listed:
        editor.append(listed, [_story(task) for task in tasks if task.id not in known])
    return editor.text()


def _story(task: Task) -> dict[str, Any]:
    story: dict[str, Any] = {
        "id": task.id,
        "title": task.title,
        "description": task.description or "",
        "acceptanceCriteria": criteria.written(task),
        "priority": whole(0 - task.priority),
        "passes": task.status is TaskStatus.DONE,
        "notes": "",
    }
    return story | ({"dependsOn": [*task.blocked_by]} if task.blocked_by else {})


def whole(number: float) -> float:
    """3 rather than 3.0, where it is the same."""
    return int(number) if number == int(number) else number
