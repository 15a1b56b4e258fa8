"""Whether a loop still proves what its task asks for: somebody may have changed the task since it was begun."""

from collections.abc import Container, Iterable

from msgspec import UNSET, UnsetType

from untilproven.core.tasks import completions
from untilproven.model.plan import Plan
from untilproven.model.task import Command, Completion, Explicit, FileExists, Task, Validate
from untilproven.model.task import TestPassing as Tests


def asks_for_the_same(task: Task, plan: Plan) -> bool:
    """By its checks, and by what it must leave alone; its words may change."""
    asked, planned = completions(task), [check.completion for check in plan.checks if check.completion]
    found = {one.grep for one in asked if isinstance(one, Tests) and one.command is UNSET}
    same = _meanings(asked, found) == _meanings(planned, found)
    return same and {*(task.never_touch or ())} == {*plan.never_touch}


def _meanings(checks: Iterable[Completion], found: Container[str | UnsetType]) -> set[tuple[str, ...]]:
    """Where a task named no command for its tests, the plan has the one that was found."""
    return {
        _meaning(Tests(grep=one.grep) if isinstance(one, Tests) and one.grep in found else one)
        for one in checks
        if not isinstance(one, Explicit)
    }


def _meaning(one: Completion) -> tuple[str, ...]:
    match one:
        case Command(command=line):
            return "command", line
        case FileExists(path=path):
            return "file", path
        case Validate(script=script):
            return "script", script
        case Tests(grep=grep, command=line):
            return "tests", grep or "", line or ""
        case Explicit():
            return ("word",)
