"""What a run that was killed left half said: done before the next task is picked, so that nothing is done twice."""

from untilproven.errors import RalphError, UsageError
from untilproven.model.status import TERMINAL, Status
from untilproven.model.task import Task, TaskStatus
from untilproven.queue.contract import Teller
from untilproven.runtime import queued, starting
from untilproven.store import learning, reader
from untilproven.store.layout import Project
from untilproven.store.lock import FileLock, is_locked
from untilproven.store.reader import LoopView
from untilproven.store.registry import read_registry
from untilproven.store.tasks import book_of
from untilproven.workspace.git.committing import added_by, made_by

_TURN_SECONDS = 60.0
_SETTLED = frozenset({Status.FAILED, Status.ABORTED})


def mend(project: Project, teller: Teller) -> None:
    """Tasks whose work is committed, or whose loop has ended, say so; loops whose task is done come to their end."""
    cut_off = [
        task for task in book_of(project).read().by_id.values() if task.status is TaskStatus.IN_PROGRESS and task.loop
    ]
    if cut_off:
        turn = project.state.path / "delivery.lock"
        with FileLock(turn, timeout=_TURN_SECONDS, what="the delivery of another task"):
            for task in cut_off:
                _settled(project, task, teller)
    for loop_id in [entry.loop_id for entry in read_registry(project.state).registry.active_loops]:
        _ended(project, loop_id, teller)


def _settled(project: Project, task: Task, teller: Teller) -> None:
    seen = _loop(project, str(task.loop))
    if seen is None or is_locked(seen.directory.lock):
        return
    if committed := _committed(project, task):
        learning.write(project, added_by(project.root, committed, learning.queue_files(project)))
        teller.note(f"{task.id} was committed before the run was cut off: {committed[:12]}")
    elif seen.state.status in _SETTLED or (seen.state.status is Status.COMPLETED and not _commits(seen)):
        queued.settle(project, seen.directory, seen.state, teller.note)


def _commits(seen: LoopView) -> bool:
    """Of a loop that was to commit, without its commit nothing is there: somebody has gone back before it."""
    return bool(seen.state.plan and seen.state.plan.commit)


def _ended(project: Project, loop_id: str, teller: Teller) -> None:
    """Its task is done, and nothing is left to do but to say so of the loop."""
    seen = _loop(project, loop_id)
    plan = seen.state.plan if seen else None
    if not seen or not plan or not plan.task_id or seen.state.status in TERMINAL or is_locked(seen.directory.lock):
        return
    if queued.is_done(project, plan.task_id, loop_id):
        writer = starting.take_up(project, loop_id)
        with starting.driving(project, writer, watchers=teller.watchers()) as driver:
            driver.run()


def _loop(project: Project, loop_id: str) -> LoopView | None:
    """A loop that this user started here, if it can be read."""
    try:
        seen = reader.view(project.state, loop_id)
    except RalphError:
        return None
    return None if seen.foreign else seen


def _committed(project: Project, task: Task) -> str:
    try:
        return made_by(project.root, str(task.loop), task.id)
    except UsageError:  # without a repository there is no commit
        return ""
