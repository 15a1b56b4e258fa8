"""A loop that works on a task of the queue: the task says so while it lasts, and how it ended when that is certain.

Work that is committed has the task's end in the same commit, and only then do the files say it. A loop that ends
otherwise ends first, and its task after it. Whoever takes over from a killed runner finds what is there and adds what
is missing.
"""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from untilproven.core import task_end
from untilproven.core.decide import AGENT
from untilproven.core.task_checks import asks_for_the_same
from untilproven.core.trailers import Plain
from untilproven.errors import Busy, Overtaken, RalphError, TaskRefused
from untilproven.model import events, wire
from untilproven.model.learning import Progress, StatusChange
from untilproven.model.plan import Plan
from untilproven.model.receipt import Receipt
from untilproven.model.state import LoopState
from untilproven.model.status import Status
from untilproven.model.task import Task, TaskStatus, Update
from untilproven.store import clock, files, learning, reader
from untilproven.store.journal import scan
from untilproven.store.layout import LoopDirectory, Project
from untilproven.store.learning import End
from untilproven.store.lock import is_locked
from untilproven.store.tasks import TaskBook, book_of
from untilproven.workspace.git.committing import Committed, Nothing, Waiting, added_by, commit

_TO_PROGRESS = {
    TaskStatus.DISCOVERED: (TaskStatus.PENDING, TaskStatus.IN_PROGRESS),
    TaskStatus.BLOCKED: (TaskStatus.PENDING, TaskStatus.IN_PROGRESS),
    TaskStatus.PENDING: (TaskStatus.IN_PROGRESS,),
    TaskStatus.IN_PROGRESS: (TaskStatus.IN_PROGRESS,),
}


def claim(project: Project, task_id: str, loop_id: str) -> Task:
    """From now on this loop works on the task; nothing is said if it does already, or has done it."""
    book = book_of(project)
    task = _task(book, task_id)
    if task.loop == loop_id and task.status in {TaskStatus.IN_PROGRESS, TaskStatus.DONE}:
        return task
    ways = _ways(task)
    steps = [_update(task_id, status=status, loop=loop_id) for status in ways]
    claimed = book.append(*steps, expect={task_id: task.status}).by_id[task_id]
    before = (task.status, *ways)
    learning.progress_of(project).append(
        *(_change(task_id, loop_id, was, now, "picked") for was, now in zip(before, ways, strict=False) if was != now)
    )
    return claimed


def refuse_taken(project: Project, task_id: str, loop_id: str) -> None:
    """Before a loop goes on: its task must be there to be worked on, and no other loop be at work on it."""
    task = _task(book_of(project), task_id)
    if task.loop == loop_id and task.status is TaskStatus.DONE:
        return
    _ways(task)
    if task.loop != loop_id and task.status is TaskStatus.IN_PROGRESS and _is_running(project, task.loop or ""):
        raise Busy(f"{task.loop} works on {task_id}", hint=f"ralph attach {task.loop}")


def let_go_on(project: Project, task_id: str, loop_id: str) -> bool:
    """A task that is blocked since its loop ended is to be worked on again; False if it is not so any more."""
    book = book_of(project)
    task = book.read().by_id.get(task_id)
    if task is None or task.loop != loop_id or task.status is not TaskStatus.BLOCKED:
        return False
    book.append(
        Update(id=task_id, changes={"status": TaskStatus.PENDING}, source="manual"),
        expect={task_id: TaskStatus.BLOCKED},
    )
    return True


def taken_away(project: Project, task_id: str, loop_id: str, plan: Plan, *, delivered: bool) -> str:
    """What somebody has done to the task while a loop worked on it; empty if it is still the loop's. A file that went
    back to what it was before, as by a checkout, is no decision of anybody's: the task is claimed again. One that is
    to be proven otherwise by now is not proven by what this loop was begun with; and one that is done, perhaps by
    somebody's word, is worked on no more: only what was `delivered` may be so already."""
    task = book_of(project).read().by_id.get(task_id)
    if task is None:
        return f"{task_id} is no longer in the queue"
    if task.status is TaskStatus.PENDING and (not task.loop or task.loop == loop_id):
        task = claim(project, task_id, loop_id)
    if task.loop != loop_id:
        return f"{task_id} is another loop's by now ({task.loop or 'nobody says which'})"
    if task.status is not TaskStatus.IN_PROGRESS and not (delivered and task.status is TaskStatus.DONE):
        return f"{task_id} is {task.status} by now"
    if task.status is TaskStatus.IN_PROGRESS and not asks_for_the_same(task, plan):
        return f"what {task_id} must pass was changed since it was begun; ralph task unblock {task_id} begins it anew"
    return ""


def is_done(project: Project, task_id: str, loop_id: str) -> bool:
    """Whether a loop has brought its task to its end, so that only the loop itself has to end."""
    task = book_of(project).read().by_id.get(task_id)
    return task is not None and task.loop == loop_id and task.status is TaskStatus.DONE


def drafted(
    project: Project, loop: LoopDirectory, state: LoopState, to: TaskStatus, reason: str, task_id: str
) -> End | None:
    """What the queue's files are to say of the end of this loop's work; None if the task is not the loop's any more."""
    task = book_of(project).read().by_id.get(task_id)
    if task is None or task.loop != loop.loop_id or task.status is not TaskStatus.IN_PROGRESS:
        return None
    now = clock.now()
    changes: dict[str, Any] = {"status": to, "actual": state.iteration}
    if to is TaskStatus.BLOCKED:
        changes["blocker"] = reason
    entries = [found for found in scan(loop.journal, loop.loop_id) if isinstance(found, events.Entry)]
    progress: list[Progress] = [
        *task_end.iterations(task_id, loop.loop_id, entries),
        _change(task_id, loop.loop_id, TaskStatus.IN_PROGRESS, to, reason),
    ]
    if to is TaskStatus.BLOCKED:
        progress.append(task_end.blocked(task_id, loop.loop_id, reason, entries, now))
    receipt = _receipt(loop) if to is not TaskStatus.PENDING else None
    lessons = [note.id for note in state.plan.learnings] if state.plan else []
    learnt = task_end.completed(task, receipt, success=to is TaskStatus.DONE, lessons=lessons) if receipt else None
    update = Update(id=task_id, changes=changes, source="agent", timestamp=now)
    try:
        return learning.ended(project, update, progress, learnt, now)
    except Overtaken:
        return None


def write(project: Project, end: End, done: Committed | Nothing | None = None) -> None:
    """Let the files say it; if a killed runner has committed it, in the words of that commit."""
    lines = end.lines
    if isinstance(done, Committed) and done.again:
        found = added_by(project.root, done.commit, lines)
        lines = lines | {path: added for path, added in found.items() if added}
    learning.write(project, lines)


def settle(project: Project, loop: LoopDirectory, state: LoopState, note: Callable[[str], None]) -> End | None:
    """The loop has ended: so does its task, unless it has, or is not the loop's. Returns what became known by that."""
    plan = state.plan
    if not plan or not plan.task_id:
        return None
    to, reason = _outcome(loop, state)
    end = drafted(project, loop, state, to, reason, plan.task_id)
    if end is None:
        return None
    done: Committed | Nothing | None = None
    if plan.commit and to is not TaskStatus.PENDING:
        done = commit_status(project, plan.task_id, loop.loop_id, to, reason, end, note)
    write(project, end, done)
    return end


def block(project: Project, task: Task, reason: str, *, commits: bool, note: Callable[[str], None]) -> None:
    """A task cannot even be begun: a human has to see to it."""
    now = clock.now()
    update = Update(
        id=task.id, changes={"status": TaskStatus.BLOCKED, "blocker": reason}, source="agent", timestamp=now
    )
    progress: list[Progress] = [
        _change(task.id, "", task.status, TaskStatus.BLOCKED, reason),
        task_end.blocked(task.id, "", reason, (), now),
    ]
    end = learning.ended(project, update, progress, None, now, task.status)
    if commits:
        commit_status(project, task.id, "", TaskStatus.BLOCKED, reason, end, note)
    write(project, end)


def commit_status(
    project: Project,
    task_id: str,
    loop_id: str,
    to: TaskStatus,
    reason: str,
    end: End,
    note: Callable[[str], None],
) -> Committed | Nothing | None:
    """Commit how a task ended that has no work to commit; if that cannot be, the next commit has it."""
    about = Plain(about=f"{task_id} is {to}: {reason}", status=to.value, task_id=task_id, loop_id=loop_id)
    try:
        done = commit(project.root, {}, about, along=end.files)
    except RalphError as error:
        done = Waiting(why=error.message)
    if isinstance(done, Waiting):
        note(f"that {task_id} is {to} is not committed yet: {done.why}")
        return None
    return done


def _outcome(loop: LoopDirectory, state: LoopState) -> tuple[TaskStatus, str]:
    """What the end of a loop means for its task. One whose agent could not even work has not been tried."""
    reason = state.reason or ""
    if state.status is Status.COMPLETED:
        return TaskStatus.DONE, reason
    code, seen = 0, None
    for found in scan(loop.journal, loop.loop_id):
        event = found.event if isinstance(found, events.Entry) else None
        if isinstance(event, events.IterationObserved):
            seen = event
        elif isinstance(event, events.LoopFinished):
            code = event.exit_code
    if code == AGENT and seen and (seen.unable or seen.not_started):
        return TaskStatus.PENDING, reason
    aborted = state.status is Status.ABORTED or reason == "aborted_by_user"
    return TaskStatus.BLOCKED, "aborted by the user" if aborted else reason or "its loop failed, and nobody said why"


def _receipt(loop: LoopDirectory) -> Receipt | None:
    try:
        return wire.decode(Receipt, files.read(loop.receipt))
    except (OSError, *wire.UNREADABLE):
        return None


def _task(book: TaskBook, task_id: str) -> Task:
    task = book.read().by_id.get(task_id)
    if task is None:
        raise TaskRefused(f"there is no task {task_id} in {book.path}", hint="ralph task list --all")
    return task


def _is_running(project: Project, loop_id: str) -> bool:
    try:
        return is_locked(reader.view(project.state, loop_id).directory.lock)
    except RalphError:  # a name in a file that comes from elsewhere may mean no loop at all
        return False


def _ways(task: Task) -> tuple[TaskStatus, ...]:
    """Through which statuses it comes to be in progress."""
    if task.status not in _TO_PROGRESS:
        raise TaskRefused(f"{task.id} is {task.status}: there is nothing to work on", hint=f"ralph task show {task.id}")
    return _TO_PROGRESS[task.status]


def _update(task_id: str, **changes: Any) -> Update:
    return Update(id=task_id, changes=changes, source="agent")


def _change(task_id: str, loop_id: str, was: TaskStatus, to: TaskStatus, reason: str) -> StatusChange:
    return StatusChange(
        task_id=task_id,
        loop_id=loop_id or UNSET,
        from_=was,
        to=to,
        reason=task_end.short(reason),
        timestamp=clock.now(),
    )
