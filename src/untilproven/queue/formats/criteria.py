"""Criteria in words: those that name a command are to be run, the others are for the agent to read."""

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import UNSET, UnsetType

from untilproven.checks import criterion
from untilproven.core.tasks import commands, completions
from untilproven.model.task import Command, Completion, Explicit, FileExists, Task, TestPassing, Validate

_LONGEST = 500
"""Of a criterion that may name a command; a longer one is words."""
_RUN = re.compile(
    r"(?:re-?)?run\b[^`]*+`([^`\n]+)`[\s:,.;()\u2013\u2014-]*((?:it |they |all )?(?:must|should) pass\b.*)?",
    re.IGNORECASE,
)
"""`run the tests: `make test` - must pass before the next task`, as plans have it."""
_PROVES = re.compile(r"\b(?:tests?|lint\w*|check\w*|vet|verify|build|typecheck|suite)\b", re.IGNORECASE)
"""What is run to prove something, and not to do it, like `go get` and `make fmt`."""
_NAMED = 10
_TYPED = re.compile(r"[a-z0-9_]*[-./][\w./-]*")
"""A first word that nobody begins a sentence with: `golangci-lint`, `./check.sh`."""


def sorted_out(criteria: Iterable[str]) -> tuple[tuple[Completion, ...] | UnsetType, tuple[str, ...] | UnsetType]:
    """What completes a task, and its acceptance criteria."""
    lines, words = _apart(criteria, _wanted)
    return tuple(Command(command=line) for line in lines) or UNSET, words or UNSET


def gates(lines: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Commands, and what is none, from a place that is meant for commands."""
    return _apart(lines, _command)


def _apart(texts: Iterable[str], command_in: Callable[[str], str | None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found: dict[str, None] = {}
    words: list[str] = []
    for text in texts:
        if len(text) <= _LONGEST and text.strip().isprintable() and (command := command_in(text)):
            found[command] = None
        else:
            words.append(text)
    return tuple(found), tuple(words)


def _wanted(text: str) -> str | None:
    """The command that a criterion asks for."""
    if found := criterion.read(text).command:
        return found if _is_command(found, bare=text.strip() == f"`{found}`") else None
    run = _RUN.fullmatch(text.strip())
    proves = run and (run[2] or _PROVES.search(text)) and _is_command(run[1], bare=False)
    return run[1].strip() if run and proves else None


def _is_command(line: str, *, bare: bool) -> bool:
    """Files and names of tests stand in backticks, too; without a word about passing, only known programs are run."""
    if bare:
        return criterion.read(f"{line} passes").command is not None
    return " " in line or line.islower()


def _command(text: str) -> str | None:
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


def shared(tasks: Sequence[Task]) -> tuple[str, ...]:
    """The commands that every one of several tasks must pass."""
    if len(tasks) < 2:
        return ()
    lines = dict.fromkeys(line for task in tasks for line in commands(task))
    return tuple(line for line in lines if all(Command(command=line) in completions(one) for one in tasks))


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
