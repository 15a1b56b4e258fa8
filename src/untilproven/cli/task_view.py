"""`ralph task list|show|next`."""

from collections import Counter
from typing import Any

import click
import msgspec

from untilproven.cli import here, output
from untilproven.cli.task_fields import complete_task
from untilproven.config import trust
from untilproven.core.picking import CLOSED, Waiting, cycles, order, rank
from untilproven.core.tasks import commands, no_such_task
from untilproven.model import wire
from untilproven.model.task import Command, Completion, Explicit, FileExists, Task, TaskStatus, Validate
from untilproven.model.task import TestPassing as Tests
from untilproven.store.layout import Project
from untilproven.store.tasks import Tasks, book_of

_DAMAGE_SHOWN = 10


def read(project: Project) -> Tasks:
    """The tasks; which lines could not be used is said once."""
    book = book_of(project)
    tasks = book.read()
    for damage in tasks.damage[:_DAMAGE_SHOWN]:
        output.warn(f"{book.path}, line {damage.line} is left out: {damage.reason}")
    if len(tasks.damage) > _DAMAGE_SHOWN:
        output.warn(f"and {len(tasks.damage) - _DAMAGE_SHOWN} lines more")
    return tasks


@click.command("list", short_help="the tasks, the next one first")
@click.option("--all", "every", is_flag=True, help="also those that are done or cancelled")
@click.option("--status", type=click.Choice([status.value for status in TaskStatus]), help="only those that are so")
@click.option("--json", "as_json", is_flag=True, help="print them as JSON")
def list_tasks(*, every: bool, status: str | None, as_json: bool) -> None:
    """List the tasks in the order in which they would be worked on; then those that cannot be, and why."""
    tasks = read(here.project())
    waiting = Waiting(tasks.by_id)
    ready = order(tasks.by_id)
    first = {task.id for task in ready}
    rest = sorted(
        (task for task in tasks.by_id.values() if task.id not in first),
        key=lambda task: (task.status in CLOSED, rank(task)),
    )
    shown = [
        task for task in [*ready, *rest] if (task.status == status if status else every or task.status not in CLOSED)
    ]
    if as_json:
        found = [as_plain(task, waiting) for task in shown]
        output.emit_json({"tasks": found, "damage": [msgspec.to_builtins(one) for one in tasks.damage]})
        return
    if not shown:
        output.note("no tasks" if not tasks.by_id else "no such tasks; --all shows those that are done or cancelled")
        return
    rows = [(task.id, task.status.value, f"{task.priority:g}", task.title, _why(task, waiting)) for task in shown]
    output.table(("ID", "STATUS", "PRIORITY", "TITLE", "WHY NOT"), rows)
    for cycle in cycles(tasks.by_id):
        output.warn(f"these wait for each other: {' -> '.join(cycle)}")


@click.command("show", short_help="all about a task")
@click.argument("task_id", metavar="ID", shell_complete=complete_task)
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
def show(task_id: str, *, as_json: bool) -> None:
    """Show a task, what it waits for, and what would prove it done."""
    project = here.project()
    tasks = read(project)
    task = tasks.by_id.get(task_id)
    if task is None:
        raise no_such_task(task_id)
    waiting = Waiting(tasks.by_id)
    untrusted = trust.untrusted_commands(project.root, commands(task))
    if as_json:
        output.emit_json({**as_plain(task, waiting), "untrustedCommands": untrusted})
        return
    for label, words in _told(task, waiting):
        for place, line in enumerate(output.printable(words).splitlines()):
            output.line(f"{label if not place else '':<14}{line}")
    for line in untrusted:
        output.warn(f"not run before you trust it: {line}")
    if untrusted:
        output.note("  to look at what it would run and allow it: ralph trust")


@click.command("next", short_help="the task that is next")
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
def show_next(*, as_json: bool) -> int:
    """Show the task that is next, and why. Exits with 1 if there is none."""
    tasks = read(here.project()).by_id
    ready = order(tasks)
    why = _why_next(ready[0], len(ready)) if ready else _why_none(tasks)
    if as_json:
        output.emit_json({"task": as_plain(ready[0], Waiting(tasks)) if ready else None, "why": why})
    elif ready:
        output.line(output.printable(f"{ready[0].id}  {ready[0].title}"))
        output.note(f"  {why}")
    else:
        output.note(why)
    return 0 if ready else 1


def as_plain(task: Task, waiting: Waiting) -> dict[str, Any]:
    """A task as JSON has it, with all that it waits for from either side, and why it cannot be worked on."""
    plain: dict[str, Any] = wire.to_builtins(task) if task.extra else msgspec.to_builtins(task)
    if blockers := waiting.blockers.get(task.id):
        plain["blockedBy"] = [*blockers]
    if subtasks := waiting.subtasks.get(task.id):
        plain["subtasks"] = [*subtasks]
    return plain | ({"whyNot": why} if (why := _why(task, waiting)) else {})


def _why(task: Task, waiting: Waiting) -> str:
    if task.status in CLOSED:
        return ""
    if task.status is TaskStatus.DISCOVERED:
        return "only noted"
    return waiting.why(task)


def _why_next(task: Task, ready: int) -> str:
    since = f", since {task.created_at:%Y-%m-%d %H:%M}" if task.created_at else ""
    begun = "begun already" if task.status is TaskStatus.IN_PROGRESS else "first"
    return f"{begun}, of {ready} that can be worked on: priority {task.priority:g}{since}"


def _why_none(tasks: dict[str, Task]) -> str:
    counted = Counter(task.status for task in tasks.values() if task.status not in CLOSED)
    if not counted:
        return "nothing to do: no task is open"
    listed = ", ".join(f"{count} {status}" for status, count in counted.most_common())
    circles = "".join(f"; these wait for each other: {' -> '.join(cycle)}" for cycle in cycles(tasks))
    return f"nothing can be worked on ({listed}); `ralph task list` says why{circles}"


def _told(task: Task, waiting: Waiting) -> list[tuple[str, str]]:
    completion = task.completion or ()
    proofs = completion if isinstance(completion, tuple) else (completion,)
    blocking = [name for name, blockers in waiting.blockers.items() if task.id in blockers]
    limits = msgspec.to_builtins(task.limits) if task.limits else {}
    told = [
        ("task", task.id),
        ("title", task.title),
        ("status", task.status.value),
        ("why not", _why(task, waiting)),
        ("priority", f"{task.priority:g}"),
        ("type", task.type or ""),
        ("tags", ", ".join(task.tags or ())),
        ("proof", "\n".join(map(_described, proofs)) or "the project's own check"),
        ("never touch", ", ".join(task.never_touch or ())),
        ("limits", ", ".join(f"{name} {value:g}" for name, value in limits.items())),
        ("blocked by", ", ".join(waiting.blockers.get(task.id, ()))),
        ("blocks", ", ".join(blocking)),
        ("parent", task.parent or ""),
        ("subtasks", ", ".join(waiting.subtasks.get(task.id, ()))),
        ("criteria", "\n".join(task.acceptance_criteria or ())),
        ("loop", task.loop or ""),
        ("outside", task.external_url or task.external_id or ""),
        *(
            (label, f"{at:%Y-%m-%d %H:%M:%S}")
            for label, at in (("created", task.created_at), ("changed", task.updated_at), ("done", task.completed_at))
            if at
        ),
        ("description", task.description or ""),
    ]
    return [(label, words) for label, words in told if words]


def _described(completion: Completion) -> str:
    match completion:
        case Command(command=line):
            return line
        case FileExists(path=path):
            return f"{path} is there, and not empty"
        case Validate(script=script):
            return f"the script {script}"
        case Tests(grep=grep, command=line):
            return f"{line or 'the tests'}, those named for {grep or 'its id'}"
        case Explicit():
            return "the agent's word, which proves nothing"
