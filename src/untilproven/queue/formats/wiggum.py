"""`.ralph/ralph-tasks.md`, whose boxes also know what is being worked on: open-ralph-wiggum."""

from collections.abc import Sequence
from pathlib import PurePath

from untilproven.model.task import Task, TaskStatus
from untilproven.queue.formats import checklist
from untilproven.queue.formats.contract import Imported

NAME = "wiggum"
ABOUT = ".ralph/ralph-tasks.md with [ ], [/] and [x]"
HOLDS = checklist.HOLDS
_MARKS = {TaskStatus.DONE: "x", TaskStatus.IN_PROGRESS: "/"}


def recognises(path: PurePath, text: str) -> bool:  # noqa: ARG001  it is the name that tells
    return path.name == "ralph-tasks.md"


def read(text: str) -> Imported:
    return checklist.read(text)


def write(tasks: Sequence[Task], original: str) -> str:
    return checklist.ticked(tasks, original, _MARKS)
