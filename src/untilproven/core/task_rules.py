"""What is asked of lines before they are written to the book of tasks, beyond what is asked of lines that are read."""

from collections.abc import Iterable, Iterator, Mapping

from untilproven.core.picking import Waiting, knotted, shortest
from untilproven.core.tasks import Book, Line, named_by, no_such_task
from untilproven.errors import NoSuchTask, Overtaken, TaskRefused
from untilproven.model.task import Create, Relate, Task, TaskStatus


def take_all(book: Book, lines: Iterable[Line], expect: Mapping[str, TaskStatus]) -> None:
    """Take all of them, or raise; a book that has refused one is not to be used any more."""
    before = dict(book.tasks)
    for task_id, status in expect.items():
        _still(before, task_id, status)
    meant: dict[str, None] = {}
    for line in lines:
        if isinstance(line, Create):
            _is_new(book, line.task.id)
        meant[line.task.id if isinstance(line, Create) else line.id] = None
        if isinstance(line, Relate):
            meant[line.target_id] = None
        book.take(line)
    edges = [edge for task_id in meant for edge in _new_edges(book, before, task_id)]
    if edges:
        _no_circle(book, edges)


def _still(tasks: Mapping[str, Task], task_id: str, status: TaskStatus) -> None:
    task = tasks.get(task_id)
    if task is None:
        raise no_such_task(task_id)
    if task.status is not status:
        raise Overtaken(
            f"{task_id} is {task.status} and no longer {status}: somebody else was faster",
            hint=f"look at it: ralph task show {task_id}",
        )


def _is_new(book: Book, task_id: str) -> None:
    if task_id in book.tasks:
        raise TaskRefused(
            f"ids are unique, and {task_id} is there already", hint=f"change that one: ralph task edit {task_id}"
        )


def _new_edges(book: Book, before: Mapping[str, Task], task_id: str) -> Iterator[tuple[str, str]]:
    """Who has come to wait for whom; each must be there, and nobody waits for itself."""
    task = book.tasks.get(task_id)
    if task is None:
        raise no_such_task(task_id)
    old = before.get(task_id)
    for name in sorted(named_by(task) - (named_by(old) if old else set())):
        if name not in book.tasks:
            raise NoSuchTask(
                f"{task_id} has to do with {name}, and there is no such task", hint="`ralph task list --all` shows them"
            )
    if task_id in named_by(task) and not (old and task_id in named_by(old)):
        raise TaskRefused(f"{task_id} cannot wait for itself", hint="name another task")
    was = {*_edges(old)} if old else set()
    yield from (edge for edge in _edges(task) if edge not in was)


def _edges(task: Task) -> Iterator[tuple[str, str]]:
    yield from ((task.id, blocker) for blocker in task.blocked_by or ())
    yield from ((blocked, task.id) for blocked in task.blocks or ())
    yield from ((task.id, subtask) for subtask in task.subtasks or ())
    if task.parent:
        yield task.parent, task.id


def _no_circle(book: Book, edges: Iterable[tuple[str, str]]) -> None:
    knots = knotted(book.tasks)
    for waits, on in edges:
        knot = knots.get(waits)
        if knot and on in knot:
            waiting = Waiting(book.tasks)
            way = shortest({name: waiting.waits_for(name) for name in knot}, on, waits, knot)
            raise TaskRefused(
                f"these would wait for each other: {' -> '.join([waits, *way])}",
                hint="a task waits for what blocks it and for its subtasks; take one of these away first",
            )
