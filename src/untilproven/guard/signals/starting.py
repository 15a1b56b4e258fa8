"""When GitHub starts a workflow, and what a job there waits for."""

import re
from collections.abc import Iterator

import msgspec

from untilproven.guard.comparison import Side
from untilproven.guard.signals.commands import commands_in, is_idle
from untilproven.guard.signals.documents import NotUnderstood, below, mapping, values_in, words
from untilproven.guard.signals.trees import Value

_WORKFLOWS = ".github/workflows/"
_OF_CHANGES = frozenset({"opened", "synchronize", "reopened", "labeled", "ready_for_review", "edited"})
_WORKED_ON = re.compile(r"(?i).*(?:main|master|default|dev|trunk|next|\*|\d|\$).*")
_CODE = re.compile(
    r"(?:\./)?(?:src|lib|tests?|pkg|internal|app|packages|crates|spec)(?:/.*)?|\*\*?(?:/\*\*?)?"
    r"|(?:.*/)?\*\.(?:py|[cm]?[jt]sx?|go|rs|java|kt)"
)


class Gate(msgspec.Struct, frozen=True):
    """A job that only says whether those that it waits for went well."""

    needs: frozenset[str]
    is_always_run: bool
    """And so goes well whatever they did."""


def events_of(side: Side) -> frozenset[str] | None:
    """What starts a workflow of GitHub; None if it is none, or says nothing."""
    on = _told(side, "on")
    told = mapping(on)
    named = frozenset(told or words(on))
    return frozenset(event for event in named if _comes_with_changes(event, told.get(event))) if named else None


def _comes_with_changes(event: str, told: Value | None) -> bool:
    """Or is no event that ever does."""
    if event.startswith("pull_request"):
        types = words(below(told, "types"))
        return not types or not _OF_CHANGES.isdisjoint(types)
    if event == "push":
        branches = words(below(told, "branches"))
        return any(map(_WORKED_ON.fullmatch, branches)) if branches else not words(below(told, "tags"))
    return True


def code_left_out(side: Side) -> frozenset[str]:
    """Code by whose changes alone it is not started."""
    told = mapping(_told(side, "on"))
    places = (place for event in told.values() for place in words(below(event, "paths-ignore")))
    return frozenset(place for place in places if _CODE.fullmatch(place))


def gates_in(side: Side) -> dict[str, Gate]:
    """By the names of the jobs."""
    return {
        name: Gate(frozenset(words(below(job, "needs"))), _is_always_run(job))
        for name, job in mapping(_told(side, "jobs")).items()
        if _runs_nothing(job)
    }


def _told(side: Side, key: str) -> Value | None:
    if not side.path.startswith(_WORKFLOWS):
        return None
    try:
        return below(values_in(side.path, side.content), key)
    except NotUnderstood:
        return None


def _is_always_run(job: Value) -> bool:
    return "always()" in "".join(words(below(job, "if"))) and "needs." not in str(job)


def _runs_nothing(job: Value) -> bool:
    return all(is_idle(command.words) for script in _scripts(job) for command in commands_in(script)) and not any(
        words(below(step, "uses")) for step in _steps(job)
    )


def _scripts(job: Value) -> Iterator[str]:
    for step in _steps(job):
        yield from words(below(step, "run"))


def _steps(job: Value) -> list[Value]:
    steps = below(job, "steps")
    return steps if isinstance(steps, list) else []
