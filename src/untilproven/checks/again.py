"""Tests that failed are run once more, by themselves where they can be named: one that passes now is flaky."""

import re
from collections.abc import Collection

import msgspec

from untilproven.checks.plants.plant import given, inside
from untilproven.checks.plants.python import PYTEST_VALUES, UNITTEST_VALUES
from untilproven.checks.reported import Reported, reported
from untilproven.checks.reports.results import PASSED, RED
from untilproven.checks.runners.known import way_of
from untilproven.checks.runners.reporting import Also, Call
from untilproven.checks.tests import TestsCheck
from untilproven.contract import Room

_MOST = 200
_LONGEST = 900
_PYTEST = frozenset({"pytest", "py.test"})


class Again(msgspec.Struct, frozen=True):
    """What a second run came to."""

    passed: frozenset[str]
    """Those that passed this time; one that is not reported has not."""
    alone: bool
    """Whether only they were run."""


def again(check: TestsCheck, room: Room, names: Collection[str], *, timeout: float) -> Again:
    """Run these tests of a check again."""
    way = way_of(check.line, room)
    only = _only(way.call, room, names) if way and not way.manager else None
    if only:
        found = reported(check.line, room, timeout=timeout, also=only)
        if found and _tells_of(found, names):
            return Again(_passed(found, names), alone=True)
    found = reported(check.line, room, timeout=timeout)
    return Again(_passed(found, names) if found else frozenset(), alone=False)


def _passed(found: Reported, names: Collection[str]) -> frozenset[str]:
    return frozenset(test.name for test in found.tests or () if test.outcome == PASSED and test.name in names)


def _tells_of(found: Reported, names: Collection[str]) -> bool:
    """Whether every one of them is in the report, so that naming them was no mistake."""
    return set(names) <= {test.name for test in found.tests or () if test.outcome in {PASSED, *RED}}


def _only(call: Call, room: Room, names: Collection[str]) -> Also | None:
    """What makes the runner run these alone; None where that is not certain."""
    if not names or len(names) > _MOST or not all(map(_is_plain, names)):
        return None
    if call.runner in _PYTEST:
        return _node_ids(call, room, names)
    if call.runner == "unittest" and not list(given(call.arguments, UNITTEST_VALUES)):
        return _dotted(call, room, names)
    return None


def _node_ids(call: Call, room: Room, names: Collection[str]) -> Also | None:
    """In place of the files and directories that the line names."""
    paths = [inside(call.directory, name.partition("::")[0]) for name in names if "::" in name]
    named = list(given(call.arguments, PYTEST_VALUES))
    is_certain = len(paths) == len(names) and all(path and room.look(path) for path in set(paths))
    if not is_certain or any(call.arguments.count(word) != 1 for word in named):
        return None
    return Also(tuple(sorted(names)), frozenset(named))


def _dotted(call: Call, room: Room, names: Collection[str]) -> Also | None:
    """Only where modules are found from where the line runs, as without arguments they are."""
    tops = {call.directory / name.split(".")[0] for name in names}
    if not all(room.look(top.with_name(f"{top.name}.py")) or room.look(top / "__init__.py") for top in tops):
        return None
    return Also(tuple(sorted(names))) if all(re.fullmatch(r"[\w.]+", name) for name in names) else None


def _is_plain(name: str) -> bool:
    """As the runner gave it: not cut, and with nothing in it that a report had to write in another way."""
    return len(name) < _LONGEST and name.isprintable() and name.isascii() and not name.startswith("-")
