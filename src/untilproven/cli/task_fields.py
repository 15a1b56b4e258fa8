"""What can be said about a task on the command line, for `ralph task add` and `ralph task edit` alike."""

import contextlib
import math
from collections.abc import Callable
from typing import Any, TypeVar

import click
from msgspec import UNSET, structs

from untilproven.cli import here
from untilproven.config.durations import parse
from untilproven.errors import UsageError
from untilproven.model.task import Command, Completion, FileExists, Task, TaskLimits, Validate
from untilproven.model.task import TestPassing as Tests

_Verb = TypeVar("_Verb", bound=Callable[..., Any])

_LISTS = {"blocked_by": "blocked_by", "tag": "tags", "never_touch": "never_touch", "criterion": "acceptance_criteria"}
_WORDS = {"title": "title", "description": "description", "parent": "parent", "kind": "type"}


def complete_task(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The ids of this project's tasks that are not over."""
    found: list[str] = []
    with contextlib.suppress(Exception):  # a TAB must not print a traceback
        from untilproven.core.picking import CLOSED  # noqa: PLC0415  only a TAB needs it
        from untilproven.store.tasks import book_of  # noqa: PLC0415

        tasks = book_of(here.project()).read().by_id.values()
        found = [task.id for task in tasks if task.id.startswith(incomplete) and task.status not in CLOSED]
    return found


_OPTIONS = (
    click.option("--description", metavar="TEXT", help="what is to be done, in as many words as it takes"),
    click.option(
        "--until", "until", metavar="CMD", multiple=True, help="a command that proves it done; may be repeated"
    ),
    click.option("--file-exists", metavar="PATH", multiple=True, help="a file that must be there, and not empty"),
    click.option(
        "--tests",
        metavar="[GREP]",
        is_flag=False,
        flag_value="",
        help="the project's tests with this in their names must pass; without a word, those with the task's id",
    ),
    click.option(
        "--validate", metavar="SCRIPT", multiple=True, help="a script of the project that says whether it is done"
    ),
    click.option("--priority", metavar="N", type=float, help="higher comes first; 0 if nothing is said"),
    click.option(
        "--blocked-by", metavar="ID", multiple=True, shell_complete=complete_task, help="wait until this is done"
    ),
    click.option("--parent", metavar="ID", shell_complete=complete_task, help="the task that this is a part of"),
    click.option("--type", "kind", metavar="TEXT", help="epic, feature, task, bug, docs, ..."),
    click.option("--tag", metavar="TEXT", multiple=True, help="a word to find it by; may be repeated"),
    click.option("--estimate", metavar="N", type=float, help="how many iterations it is likely to take"),
    click.option("--max-iterations", metavar="N", type=click.IntRange(min=1), help="iterations at most"),
    click.option("--timeout", metavar="DURATION", help="time at most, like 90m"),
    click.option("--max-cost", metavar="USD", type=click.FloatRange(min=0), help="US dollars at most"),
    click.option("--never-touch", metavar="GLOB", multiple=True, help="paths that the work must leave as they are"),
    click.option("--criterion", metavar="TEXT", multiple=True, help="what the agent is told to heed; nothing runs it"),
)


def options(verb: _Verb) -> _Verb:
    for option in reversed(_OPTIONS):
        verb = option(verb)
    return verb


def fields_of(given: dict[str, Any], task: Task | None = None) -> dict[str, Any]:
    """The fields that were given, by their names in a record; UNSET for one that was given as nothing."""
    found: dict[str, Any] = {}
    for option, name in _WORDS.items():
        if given.get(option) is not None:
            found[name] = given[option].strip() or UNSET
    for option, name in _LISTS.items():
        if given[option]:
            found[name] = tuple(dict.fromkeys(filter(None, given[option]))) or UNSET
    for name in ("priority", "estimate"):
        if given[name] is not None:
            found[name] = _finite(name, given[name])
    checks = _checks(given)
    if checks is not None:
        found["completion"] = checks[0] if len(checks) == 1 else tuple(checks) or UNSET
    if limits := _limits(given):
        found["limits"] = structs.replace((task.limits if task else UNSET) or TaskLimits(), **limits)
    if found.get("title", "x") is UNSET:
        raise UsageError("a task needs a title", hint='for example: ralph task add "make add() right"')
    return found


def _finite(name: str, number: float) -> float:
    if not math.isfinite(number):
        raise UsageError(f"--{name} must be a number, not {number}", hint=f"for example: --{name} 2")
    return number


def _checks(given: dict[str, Any]) -> list[Completion] | None:
    """What proves it done; empty if that was given as nothing, None if nothing was said of it."""
    made: list[Completion] = [Command(command=line) for line in given["until"] if line.strip()]
    made += [FileExists(path=path) for path in given["file_exists"] if path]
    made += [Validate(script=script) for script in given["validate"] if script]
    if given["tests"] is not None:
        made.append(Tests(grep=given["tests"] or UNSET))
    said = given["until"] or given["file_exists"] or given["validate"] or given["tests"] is not None
    return made if said else None


def _limits(given: dict[str, Any]) -> dict[str, Any]:
    limits = {name: given[name] for name in ("max_iterations", "max_cost") if given[name] is not None}
    if given["timeout"] is not None:
        try:
            limits["max_time"] = int(parse(given["timeout"]).total_seconds())
        except ValueError as error:
            raise UsageError(f"--timeout: {error}") from error
    return limits
