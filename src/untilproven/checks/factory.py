"""From what the user asked for to checks."""

import shlex
from collections.abc import Iterable
from pathlib import Path

from msgspec import UNSET

from untilproven.checks import criterion
from untilproven.checks.command import CommandCheck
from untilproven.checks.find import find_checks, nothing_found
from untilproven.checks.runners.known import is_test_runner
from untilproven.checks.tests import TestsCheck
from untilproven.contract import Check
from untilproven.errors import UsageError
from untilproven.model.plan import PlannedCheck
from untilproven.model.task import Command, Completion, Explicit, FileExists, TestPassing, Validate


def checks_for(lines: Iterable[str]) -> list[Check]:
    """One check for each `--until`: a known test runner is read per test, everything else by its exit code."""
    return [_check(line) for line in dict.fromkeys(_command(line) for line in lines)]


def planned_checks(planned: Iterable[PlannedCheck], *, task_id: str, root: Path) -> list[Check]:
    """The checks of a plan, by their names: lines of `--until`, or what a task of the queue names."""
    found = []
    for one in planned:
        check = check_of(one.completion, task_id=task_id, root=root) if one.completion else _check(_command(one.line))
        if check:
            found.append(check)
    return found


def line_of(planned: PlannedCheck) -> str:
    """What a shell would be given for it; empty if nothing is run."""
    match planned.completion:
        case FileExists():
            return ""
        case Validate(script=script):
            return f"./{script.removeprefix('./')}"
        case Command(command=line) | TestPassing(command=str(line)):
            return line
    return planned.line


def check_of(completion: Completion, *, task_id: str, root: Path) -> Check | None:
    """What completes a task of the queue; None for `explicit`, which is a claim."""
    if "\0" in task_id:
        raise UsageError(
            f"the task id {task_id!r} cannot be given to a program", hint="take the NUL out of tasks.jsonl"
        )
    from untilproven.checks.file_exists import FileExistsCheck  # noqa: PLC0415  only tasks of the queue have these
    from untilproven.checks.validate import ValidateCheck  # noqa: PLC0415

    match completion:
        case FileExists(path=path):
            return FileExistsCheck(path)
        case Validate(script=script):
            return ValidateCheck(script, task_id)
        case Command(command=command):
            return _check(_command(command))
        case TestPassing(grep=grep, command=command):
            line = _found(root) if command is UNSET else _command(str(command))
            return _filtered(line, task_id if grep is UNSET else str(grep))
        case Explicit():
            return None


def _check(line: str) -> Check:
    return TestsCheck(line) if is_test_runner(line) else CommandCheck(line)


def _filtered(line: str, grep: str) -> Check:
    """A command that is no known runner is given the words that source 002 gives to npm."""
    if is_test_runner(line):
        return TestsCheck(line, grep)
    return CommandCheck(line if "--grep" in line else f"{line} -- --grep {shlex.quote(grep)}")


def _command(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise UsageError("a check must be a command, and this one is empty", hint='for example: --until "pytest -q"')
    return criterion.read(text).command or text.strip()


def _found(root: Path) -> str:
    found = find_checks(root)
    if not found:
        raise nothing_found()
    return found[0].command
