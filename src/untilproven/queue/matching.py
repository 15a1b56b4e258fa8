"""Which entries of a file are which tasks of ours."""

from collections.abc import Iterable, Mapping

from untilproven.model.task import Task
from untilproven.queue import reading


def matched(format_name: str, path: str, entries: Iterable[Task], tasks: Mapping[str, Task]) -> dict[str, Task]:
    """The tasks that entries are, by the keys of these: an entry was imported or exported before, or it has the id of a
    task and says the same."""
    linked = {task.external_id: task for task in tasks.values() if task.external_id}
    mine = reading.external_id(format_name, path, "")
    found: dict[str, Task] = {}
    for entry in entries:
        task = linked.get(mine + entry.id)
        same = tasks.get(entry.id)
        if task is None and same and not (same.external_id or "").startswith(mine) and _says_the_same(same, entry):
            task = same
        if task:
            found[entry.id] = task
    return found


def _says_the_same(task: Task, entry: Task) -> bool:
    """The first story of one list is often called as that of another is: one that came from elsewhere must agree in
    what it is about as well."""
    return task.title == entry.title and (not task.external_id or task.description == entry.description)
