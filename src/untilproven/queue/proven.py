"""Which tasks of the queue are done by proof: a loop of this user's ended with one, and its receipt is here."""

from untilproven.errors import RalphError
from untilproven.model import wire
from untilproven.model.receipt import PROVEN, Receipt
from untilproven.model.status import Status
from untilproven.model.task import Task, TaskStatus
from untilproven.store import files, reader
from untilproven.store.layout import Project


def is_proven(project: Project, task: Task) -> bool:
    """Whether it is done, and not by the word of a person, of another tool, or of an agent."""
    if task.status is not TaskStatus.DONE or not task.loop:
        return False
    try:
        seen = reader.resolve(project.state, task.loop)
        receipt = wire.decode(Receipt, files.read(seen.directory.receipt))
    except (RalphError, OSError, *wire.UNREADABLE):
        return False
    about = seen.state.plan.task_id if seen.state.plan else None
    return not seen.foreign and about == task.id and seen.state.status is Status.COMPLETED and receipt.proof in PROVEN
