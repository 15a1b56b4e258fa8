"""Criteria in words: those that name a command are to be run, the others are for the agent to read."""

import re
from collections.abc import Iterable, Sequence

from msgspec import UNSET, UnsetType

from untilproven.checks import criterion
from untilproven.model.task import Command, Completion, Explicit, FileExists, Task, TestPassing, Validate

_LONGEST = 500
"""Of a criterion that may name a command; a longer one is words."""
_RUN = re.compile(
    r"(?:re-?)?run\b[^`]*+`([^`\n]+)`[\s:,.;()\u2013\u2014-]*(?:(?:it |they |all )?(?:must|should) pass\b.*)?",
    re.IGNORECASE,
)
"""`run the tests: `make test` - must pass before the next task`, as plans have it."""
_NAMED = 10
_TYPED = re.compile(r"[a-z0-9_]*[-./][\w./-]*")
"""A first word that nobody begins a sentence with: `golangci-lint`, `./check.sh`."""


def sorted_out(criteria: Iterable[str]) -> tuple[tuple[Completion, ...] | UnsetType, tuple[str, ...] | UnsetType]:
    """What completes a task, and its acceptance criteria."""
    commands: dict[str, None] = {}
    words: list[str] = []
    for text in criteria:
        if command := _wanted(text):
            commands[command] = None
        else:
            words.append(text)
    return tuple(Command(command=line) for line in commands) or UNSET, tuple(words) or UNSET


def gates(lines: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Commands, and what is none, from a place that is meant for commands."""
    commands: dict[str, None] = {}
    words: list[str] = []
    for text in lines:
        if command := _command(text):
            commands[command] = None
        else:
            words.append(text)
    return tuple(commands), tuple(words)


def _wanted(text: str) -> str | None:
    """The command that a criterion asks for."""
    if len(text) > _LONGEST or not text.strip().isprintable():
        return None
    if found := criterion.read(text).command:
        return found
    run = _RUN.fullmatch(text.strip())
    return run[1].strip() if run else None


def _command(text: str) -> str | None:
    if len(text) > _LONGEST or not text.strip().isprintable():
        return None
    if found := _wanted(text) or criterion.read(f"{text} passes").command:
        return found
    words = text.split()
    if words and _TYPED.fullmatch(words[0]):
        return text.strip()
    quoted = re.match(r"`([^`]+)`", text.strip())
    return quoted[1].strip() if quoted else None


def with_words(task: Task, words: Sequence[str]) -> tuple[str, ...] | UnsetType:
    """Its acceptance criteria and those of the whole file."""
    return tuple(dict.fromkeys([*(task.acceptance_criteria or ()), *words])) or UNSET


def completions(task: Task) -> tuple[Completion, ...]:
    """What completes a task, as a list."""
    if task.completion is UNSET:
        return ()
    return task.completion if isinstance(task.completion, tuple) else (task.completion,)


def commands_of(tasks: Iterable[Task]) -> tuple[str, ...]:
    """Every line that these tasks would run, once."""
    found: dict[str, None] = {}
    for task in tasks:
        for one in completions(task):
            if isinstance(one, Command) or (isinstance(one, TestPassing) and one.command):
                found[str(one.command)] = None
            elif isinstance(one, Validate):
                found[one.script] = None
    return tuple(found)


def shared(tasks: Sequence[Task]) -> tuple[str, ...]:
    """The commands that every one of several tasks must pass."""
    if len(tasks) < 2:
        return ()
    return tuple(line for line in commands_of(tasks) if all(Command(command=line) in completions(one) for one in tasks))


def written(task: Task, without: Sequence[str] = ()) -> list[str]:
    """Acceptance criteria and what completes the task, as text that `sorted_out` takes apart again."""
    return [*(task.acceptance_criteria or ()), *filter(None, (_worded(one, without) for one in completions(task)))]


def _worded(one: Completion, without: Sequence[str]) -> str:
    match one:
        case Command(command=line):
            return "" if line in without else f"`{line}` passes"
        case TestPassing(command=str(line)):
            return f"`{line}` passes"
        case TestPassing(grep=str(name)):
            return f"the tests about {name} pass"
        case TestPassing():
            return "the tests about it pass"
        case Validate(script=script):
            return f"`{script}` passes"
        case FileExists(path=path):
            return f"the file {path} is there and not empty"
        case Explicit():
            return ""


def listed(names: Sequence[str], between: str = ", ") -> str:
    """The first of many names, and how many more there are."""
    more = len(names) - _NAMED
    return between.join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def bent(task: Task) -> bool:
    """Whether something that completes it is more than a command, and becomes words or a plain command elsewhere."""
    return any(not isinstance(one, Command) for one in completions(task))
