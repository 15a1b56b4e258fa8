"""What ralphy's YAML and JSON lists of tasks have in common: title, completed, parallel_group, description."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from msgspec import UNSET, structs

from untilproven.model.task import Origin, Task, TaskStatus
from untilproven.queue.formats import node
from untilproven.queue.formats.contract import Imported, Keys
from untilproven.queue.formats.markdown import labelled, named

HOLDS = frozenset({"description"})
MOST = 20_000
"""Of pairs of tasks that wait for each other. Beyond, the groups only order the queue."""


def taken(root: node.Node) -> Imported:
    """A task waits for all of the group before its own; one without a group waits for nobody, and nobody for it."""
    keys = Keys()
    entries = node.entries(root, "tasks")
    tasks = [_task(entry, keys) for entry in entries]
    groups: dict[float, list[str]] = {}
    for entry, task in zip(entries, tasks, strict=True):
        if node.member(entry, "parallel_group"):
            groups.setdefault(task.priority, []).append(task.id)
    ordered = sorted(groups, reverse=True)  # the lowest number is the highest priority
    before = {group: tuple(groups[earlier]) for earlier, group in pairwise(ordered)}
    if sum(len(groups[group]) * len(earlier) for group, earlier in before.items()) > MOST:
        many = "its parallel groups are too large to wait for each other task by task: they are only worked on in order"
        return Imported(tasks=tuple(tasks), warnings=(many,))
    waits = {key: before[group] for group in before for key in groups[group]}
    return Imported(tasks=tuple(structs.replace(task, blocked_by=waits.get(task.id, UNSET)) for task in tasks))


def _task(entry: node.Node, keys: Keys) -> Task:
    own, title = named(node.title(entry))
    group = node.number(entry, "parallel_group") or 0.0
    return Task(
        id=keys.of(own, title, entry.line),
        title=title,
        status=TaskStatus.DONE if node.flag(entry, "completed") else TaskStatus.PENDING,
        description=node.text(entry, "description") or UNSET,
        priority=0 - group,
        source=Origin(type="spec", line=entry.line),
    )


def as_fields(task: Task) -> dict[str, Any]:
    fields: dict[str, Any] = {"title": labelled(task), "completed": task.status is TaskStatus.DONE}
    if task.priority < 0:
        fields["parallel_group"] = round(0 - task.priority)
    return fields | ({"description": task.description} if task.description else {})


def known(root: node.Node) -> dict[str, node.Node]:
    """The entries by what they are known by."""
    return dict(zip((task.id for task in taken(root).tasks), node.entries(root, "tasks"), strict=True))


def now_done(tasks: Sequence[Task], entries: dict[str, node.Node]) -> list[node.Node]:
    """The entries that say that they are open, and are not any more."""
    done = [entries[task.id] for task in tasks if task.id in entries and task.status is TaskStatus.DONE]
    return [entry for entry in done if not node.flag(entry, "completed")]
