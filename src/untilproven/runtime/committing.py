"""Committing proven work, before the loop is said to be done: whoever must be asked can still be asked."""

from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec import UNSET

from untilproven.core import naming, verdict
from untilproven.core.text import text
from untilproven.core.trailers import Message
from untilproven.model.events import NotCommitted, StatusChanged, WorkCommitted
from untilproven.model.status import Status
from untilproven.model.task import TaskStatus
from untilproven.runtime.closing import write_receipt
from untilproven.store import files
from untilproven.workspace.git.committing import Committed, Waiting, commit
from untilproven.workspace.snapshots.work import work_of

if TYPE_CHECKING:
    from untilproven.core.course import Lap
    from untilproven.runtime.driver import Driver

_LISTED = 100


def commit_work(driver: "Driver", last: "Lap") -> str:
    """Commit what the loop changed; returns why somebody has to see to it first, if so."""
    judged = verdict.judge(driver.course, last)
    if judged.proof is None:
        return ""
    loop, state, root = driver.writer.loop, driver.state, driver.cast.project.root
    plan = driver.course.plan
    if not loop.receipt.exists():
        write_receipt(loop, state, StatusChanged(to=Status.COMPLETED, reason=judged.reason), judged.proof)
    message = Message(
        task=driver.cast.task,
        loop_id=state.loop_id,
        proof=judged.proof,
        receipt=f"sha256:{sha256(files.read(loop.receipt)).hexdigest()}",
        task_id=plan.task_id or "",
        body=judged.reason,
    )
    branch = naming.slug(driver.cast.task) if plan.new_branch else ""
    project = driver.cast.project
    end = None
    if plan.task_id:
        from untilproven.runtime import queued  # noqa: PLC0415  only loops of the queue

        end = queued.drafted(project, loop, state, TaskStatus.DONE, judged.reason, plan.task_id)
    along = end.files if end else {}
    done = commit(root, work_of(root, state.loop_id), message, branch=branch, along=along)
    if isinstance(done, Waiting):
        return f"the work cannot be committed: {done.why}" + (f" ({done.hint})" if done.hint else "")
    if end:
        queued.write(project, end, done)
        driver.alarm(end.anomalies)
    driver.record(
        WorkCommitted(
            commit=done.commit if isinstance(done, Committed) else UNSET,
            branch=text(done.branch) if isinstance(done, Committed) and done.branch else UNSET,
            paths=done.paths if isinstance(done, Committed) else 0,
            left_out=tuple(NotCommitted(path=text(one.path), why=one.why) for one in done.left_out[:_LISTED]),
            ignored=done.ignored,
        ),
        durable=True,
    )
    return ""
