"""`ralph task add|edit|block|unblock|done|cancel`, and with them `list|show|next|graph|import|export|sync`."""

import contextlib
from typing import Any

import click
from msgspec import UNSET, to_builtins

from untilproven.cli import here, output, task_export, task_graph, task_import, task_sync, task_view
from untilproven.cli.task_fields import complete_task, fields_of, options
from untilproven.config import trust
from untilproven.core.picking import CLOSED, Waiting
from untilproven.core.tasks import commands, no_such_task
from untilproven.errors import InvalidName, NoSuchLoop, UsageError
from untilproven.model.task import Origin, Task, TaskStatus, Update
from untilproven.store import reader
from untilproven.store.layout import Project
from untilproven.store.tasks import TaskBook, Tasks, book_of


@click.group("task", short_help="the tasks of this project, and which one is next")
def command() -> None:
    """The tasks that `ralph work` works on, as they stand in tasks.jsonl."""


command.add_command(task_view.list_tasks)
command.add_command(task_view.show)
command.add_command(task_view.show_next)
command.add_command(task_graph.graph)
command.add_command(task_import.import_tasks)
command.add_command(task_export.export_tasks)
command.add_command(task_sync.sync)


@command.command("add", short_help="add a task")
@click.argument("title")
@options
@click.option("--id", "task_id", metavar="ID", help="its id; the next RALPH-001 if none is given")
@click.option("--discovered", is_flag=True, help="only note it: nobody works on it before `ralph task unblock`")
def add(title: str, *, task_id: str | None, discovered: bool, **given: Any) -> None:
    """Add a task, and print its id.

    Without a check of its own (--until, --file-exists, --tests, --validate) the project's tests prove it done. What you
    type here is trusted: it may be run.
    """
    project = here.project()
    fields = fields_of({**given, "title": title})
    named = {"id": task_id} if task_id is not None else {}
    status = TaskStatus.DISCOVERED if discovered else TaskStatus.PENDING
    task = book_of(project).create(**named, status=status, source=Origin(type="manual"), **fields)
    trust.trust_commands(project.root, commands(task))
    output.line(task.id)


@command.command("edit", short_help="change what is said about a task")
@click.argument("task_id", metavar="ID", shell_complete=complete_task)
@click.option("--title", metavar="TEXT", help="what it is called")
@options
def edit(task_id: str, **given: Any) -> None:
    """Change a task. What can be given several times replaces all that was there; "" takes it away."""
    project = here.project()
    book = book_of(project)
    task = _task(book.read(), task_id)
    fields = fields_of(given, task)
    if not fields:
        raise UsageError(f"nothing to change was said about {task_id}", hint="see `ralph task edit --help`")
    plain = {name: None if value is UNSET else to_builtins(value) for name, value in fields.items()}
    tasks = book.append(_update(task_id, {_key(name): value for name, value in plain.items()}))
    if "completion" in fields:
        trust.trust_commands(project.root, commands(tasks.by_id[task_id]))
    output.note(f"{task_id} is changed")


@command.command("block", short_help="set a task aside")
@click.argument("task_id", metavar="ID", shell_complete=complete_task)
@click.option("--why", required=True, metavar="TEXT", help="what keeps it")
def block(task_id: str, *, why: str) -> None:
    """Set a task aside until `ralph task unblock`."""
    if not why.strip():
        raise UsageError("--why must say something", hint='for example: --why "needs the new schema"')
    _book().append(_update(task_id, {"status": TaskStatus.BLOCKED, "blocker": why.strip()}))
    output.note(f"{task_id} is blocked; to let it go on: ralph task unblock {task_id}")


@command.command("unblock", short_help="let a task be worked on")
@click.argument("task_id", metavar="ID", shell_complete=complete_task)
def unblock(task_id: str) -> None:
    """Let a task be worked on that was blocked, or that was only noted (discovered)."""
    project = here.project()
    book = book_of(project)
    task = _task(book.read(), task_id)
    status = task.status
    if status not in {TaskStatus.BLOCKED, TaskStatus.DISCOVERED}:
        raise UsageError(f"{task_id} is {status}, and not blocked", hint=f"ralph task show {task_id}")
    if task.loop:
        _refuse_held_back(project, task.loop)
    tasks = book.append(_update(task_id, {"status": TaskStatus.PENDING}), expect={task_id: status})
    why = Waiting(tasks.by_id).why(tasks.by_id[task_id])
    output.note(f"{task_id} is pending" + (f", and still {why}" if why else ""))


@command.command("done", short_help="say that a task is done")
@click.argument("task_id", metavar="ID", shell_complete=complete_task)
def done(task_id: str) -> None:
    """Say yourself that a task is done. No check is run: it is recorded as your word."""
    book = _book()
    status = _task(book.read(), task_id).status
    ways = [TaskStatus.IN_PROGRESS, TaskStatus.DONE] if status is TaskStatus.PENDING else [TaskStatus.DONE]
    if status is TaskStatus.DONE:
        raise UsageError(f"{task_id} is done already", hint=f"ralph task show {task_id}")
    book.append(*(_update(task_id, {"status": to}) for to in ways), expect={task_id: status})
    output.note(f"{task_id} is done, on your word: nothing was proven")


@command.command("cancel", short_help="drop a task")
@click.argument("task_id", metavar="ID", shell_complete=complete_task)
def cancel(task_id: str) -> None:
    """Drop a task for good. What is blocked by it stays blocked until you edit it, for this was never done."""
    tasks = _book().append(_update(task_id, {"status": TaskStatus.CANCELLED})).by_id
    output.note(f"{task_id} is cancelled")
    waiting = Waiting(tasks)
    for name, task in tasks.items():
        if task.status not in CLOSED and task_id in waiting.blockers.get(name, ()):
            output.note(f"  {name} waits for it; to let it go on: ralph task edit {name} --blocked-by ...")


def _refuse_held_back(project: Project, loop_id: str) -> None:
    """To let a task go on without approving what its loop held back is to refuse that."""
    from untilproven.runtime.deciding import refuse_open  # noqa: PLC0415  only a task that was worked on

    with contextlib.suppress(NoSuchLoop, InvalidName):
        if not reader.view(project.state, loop_id).foreign:
            refuse_open(project.state, loop_id, "the task was let go on without it")


def _book() -> TaskBook:
    return book_of(here.project())


def _task(tasks: Tasks, task_id: str) -> Task:
    if task_id not in tasks.by_id:
        raise no_such_task(task_id)
    return tasks.by_id[task_id]


def _update(task_id: str, changes: dict[str, Any]) -> Update:
    return Update(id=task_id, changes=changes, source="manual")


def _key(name: str) -> str:
    return Task.__struct_encode_fields__[Task.__struct_fields__.index(name)]
