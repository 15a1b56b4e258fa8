"""A loop that works on a task of the queue: the task says so while it lasts, and how it ended before the loop says it.

Every step can be done again: whoever takes over from a killed runner finds what is written and adds what is missing.
"""

from typing import TYPE_CHECKING, Any

from untilproven.core.trailers import Plain
from untilproven.errors import RalphError, TaskRefused
from untilproven.model.task import Operation, Task, TaskStatus, Update
from untilproven.store.layout import STATE_DIRECTORY, Project
from untilproven.store.tasks import TaskBook, book_of
from untilproven.workspace.git.committing import Waiting, commit

if TYPE_CHECKING:
    from untilproven.runtime.driver import Driver

_TO_PROGRESS = {
    TaskStatus.DISCOVERED: (TaskStatus.PENDING, TaskStatus.IN_PROGRESS),
    TaskStatus.BLOCKED: (TaskStatus.PENDING, TaskStatus.IN_PROGRESS),
    TaskStatus.PENDING: (TaskStatus.IN_PROGRESS,),
    TaskStatus.IN_PROGRESS: (TaskStatus.IN_PROGRESS,),
}


def claim(project: Project, task_id: str, loop_id: str) -> Task:
    """From now on this loop works on the task."""
    book = book_of(project)
    task = _task(book, task_id)
    if task.status is TaskStatus.IN_PROGRESS and task.loop == loop_id:
        return task
    if task.status not in _TO_PROGRESS:
        raise TaskRefused(f"{task_id} is {task.status}: there is nothing to work on", hint=f"ralph task show {task_id}")
    steps = [_update(task_id, status=status, loop=loop_id) for status in _TO_PROGRESS[task.status]]
    return book.append(*steps, expect={task_id: task.status}).by_id[task_id]


def ended(driver: "Driver", to: TaskStatus, reason: str) -> None:
    """Write how the task ended, unless it is written, or somebody has decided on it meanwhile."""
    task_id, loop_id = str(driver.course.plan.task_id), driver.state.loop_id
    book = book_of(driver.cast.project)
    task = book.read().by_id.get(task_id)
    if task is None or task.loop != loop_id or task.status is not TaskStatus.IN_PROGRESS:
        return
    changes: dict[str, Any] = {"status": to, "actual": driver.state.iteration}
    if to is TaskStatus.BLOCKED:
        changes["blocker"] = reason
    book.append(_update(task_id, **changes), expect={task_id: TaskStatus.IN_PROGRESS})


def files_of(project: Project) -> tuple[str, ...]:
    """The queue's files, as paths below the project's root: they come along in its commits."""
    book = book_of(project)
    paths = [book.path, book.progress, book.learning]
    found = [path.relative_to(project.root).as_posix() for path in paths]
    return (*found, f"{STATE_DIRECTORY}/.gitignore") if found[0].startswith(STATE_DIRECTORY) else tuple(found)


def commit_status(driver: "Driver", words: str) -> str:
    """Commit how a task ended that has no work to commit; why that was not possible, if so: the next commit has it."""
    project, plan = driver.cast.project, driver.course.plan
    about = Plain(about=f"{plan.task_id} {words}", task_id=str(plan.task_id))
    try:
        done = commit(project.root, {}, about, along=files_of(project))
    except RalphError as error:
        return error.message
    return done.why if isinstance(done, Waiting) else ""


def _task(book: TaskBook, task_id: str) -> Task:
    task = book.read().by_id.get(task_id)
    if task is None:
        raise TaskRefused(f"there is no task {task_id} in {book.path}", hint="ralph task list --all")
    return task


def _update(task_id: str, **changes: Any) -> Operation:
    return Update(id=task_id, changes=changes, source="agent")
