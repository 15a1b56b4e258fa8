"""What is known here about the loops that worked on tasks: which are at it now, and how the others ended."""

from collections.abc import Iterable

from untilproven.errors import RalphError
from untilproven.model import wire
from untilproven.model.receipt import Receipt
from untilproven.model.task import Task, TaskStatus
from untilproven.queue.trackers import words
from untilproven.store import files, reader
from untilproven.store.layout import Project
from untilproven.store.lock import is_locked


def running(project: Project, tasks: Iterable[Task]) -> frozenset[str]:
    """The tasks that somebody works on at this moment."""
    return frozenset(task.id for task in tasks if task.status is TaskStatus.IN_PROGRESS and _is_running(project, task))


def proofs_of(project: Project, tasks: Iterable[Task]) -> dict[str, str]:
    """What is to be said about tasks that a loop of this machine has ended its work on."""
    found = {}
    for task in tasks:
        if task.loop and task.status in {TaskStatus.DONE, TaskStatus.BLOCKED}:
            try:
                seen = reader.resolve(project.state, task.loop)
                if not seen.foreign:
                    found[task.id] = words.proof(task, _receipt(seen))
            except RalphError:
                continue  # a loop of another machine, or one that is gone
    return found


def _receipt(seen: reader.LoopView) -> Receipt | None:
    try:
        return wire.decode(Receipt, files.read(seen.directory.receipt))
    except (OSError, *wire.UNREADABLE):
        return None


def _is_running(project: Project, task: Task) -> bool:
    try:
        return bool(task.loop) and is_locked(project.state.loop(str(task.loop)).lock)
    except RalphError:
        return False
