"""`ralph task graph`."""

from collections.abc import Iterator

import click

from untilproven.cli import here, output
from untilproven.cli.task_view import read
from untilproven.core.picking import CLOSED, Waiting, cycles, rank
from untilproven.model.task import Task

_DEEPEST = 12
"""Steps by which a line is moved to the right."""


@click.command("graph", short_help="what waits for what")
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
def graph(*, as_json: bool) -> None:
    """Show the open tasks as trees: below each one is what it waits for. Tasks that wait in a circle are named."""
    tasks = read(here.project()).by_id
    waiting = Waiting(tasks)
    circles = cycles(tasks)
    shown = {task.id: task for task in sorted(tasks.values(), key=rank) if task.status not in CLOSED}
    if as_json:
        output.emit_json(_as_json(shown, waiting, circles))
        return
    if not shown:
        output.note("no task is open")
    for line in _trees(shown, waiting):
        output.line(output.printable(line))
    for circle in circles:
        output.warn(f"these wait for each other: {' -> '.join(circle)}")


def _as_json(shown: dict[str, Task], waiting: Waiting, circles: list[list[str]]) -> dict[str, object]:
    edges = [
        {"task": name, "waitsFor": other, "as": relation}
        for name in shown
        for relation, others in (("blocker", waiting.blockers), ("subtask", waiting.subtasks))
        for other in others.get(name, ())
    ]
    named = dict.fromkeys([*shown, *(edge["waitsFor"] for edge in edges)])
    known = waiting.tasks
    nodes = [
        {"id": name, "title": known[name].title, "status": known[name].status.value}
        if name in known
        else {"id": name, "title": None, "status": None}
        for name in named
    ]
    return {"tasks": nodes, "edges": edges, "cycles": circles}


def _trees(shown: dict[str, Task], waiting: Waiting) -> Iterator[str]:
    """First the trees of those that nobody waits for; what is left then is in a circle."""
    awaited = {other for name in shown for other in waiting.waits_for(name)}
    seen: set[str] = set()
    for root in [*(name for name in shown if name not in awaited), *shown]:
        if root not in seen:
            yield from _tree(root, waiting, seen)


def _tree(root: str, waiting: Waiting, seen: set[str]) -> Iterator[str]:
    left = [(root, 0)]
    while left:
        name, depth = left.pop()
        task = waiting.tasks.get(name)
        indent = "  " * min(depth, _DEEPEST) + (f"[{depth}] " if depth > _DEEPEST else "")
        words = f"{task.status}  {task.title}".replace("\n", " ") if task else "nobody knows it"
        below = waiting.waits_for(name) if task and task.status not in CLOSED else []
        again = name in seen and bool(below)
        yield f"{indent}{name}  {words}{'  (see above)' if again else ''}"
        if name not in seen:
            seen.add(name)
            left += [(other, depth + 1) for other in reversed(below)]
