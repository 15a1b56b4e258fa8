"""In which order the tasks would be worked on, and what would be checked, without running anything."""

import msgspec

from untilproven.config.settings import Settings
from untilproven.core import picking
from untilproven.errors import RalphError, TaskRefused
from untilproven.model.task import Task, TaskStatus
from untilproven.queue.planning import Left, wanted
from untilproven.store.layout import Project
from untilproven.store.tasks import book_of


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    title: str
    checks: tuple[str, ...] = ()
    why_not: str = ""


def rehearse(project: Project, settings: Settings, only: str = "") -> list[Row]:
    """If every task succeeds; then come those that stay."""
    tasks = dict(book_of(project).read().by_id)
    if only and only not in tasks:
        raise TaskRefused(f"there is no task {only}", hint="ralph task list --all")
    most = settings.value("queue.max_tasks")
    rows: list[Row] = []
    while len(rows) < most and (task := _next(tasks, only)):
        rows.append(_row(project, settings, task))
        tasks[task.id] = msgspec.structs.replace(task, status=TaskStatus.DONE)
    waiting = picking.Waiting(tasks)
    left = (task for task in tasks.values() if task.status not in picking.CLOSED and only in {"", task.id})
    return rows + [Row(id=task.id, title=task.title, why_not=_why_not(task, waiting)) for task in left]


def _next(tasks: dict[str, Task], only: str) -> Task | None:
    if only:
        return next((task for task in picking.order(tasks) if task.id == only), None)
    return picking.pick(tasks)


def _row(project: Project, settings: Settings, task: Task) -> Row:
    left = Left(seconds=settings.value("queue.timeout").total_seconds(), cost_usd=settings.value("queue.max_cost"))
    try:
        plan = wanted(project, settings, task, left).plan
    except RalphError as error:
        return Row(id=task.id, title=task.title, why_not=error.message)
    return Row(id=task.id, title=task.title, checks=tuple(check.line for check in plan.checks))


def _why_not(task: Task, waiting: picking.Waiting) -> str:
    if task.status is TaskStatus.DISCOVERED:
        return "it was only found: accept it first"
    return waiting.why(task) or "the run ends before it"
