"""What a loop was begun with, beside what its task asks for now."""

import pytest

from untilproven.core.task_checks import asks_for_the_same
from untilproven.model.plan import Plan, PlannedCheck
from untilproven.model.task import Command, Completion, Explicit, FileExists, Task, Validate
from untilproven.model.task import TestPassing as Tests

ALL: tuple[Completion, ...] = (
    *(Command(command="make"), FileExists(path="a"), Validate(script="s"), Explicit()),
    *(Tests(), Tests(grep="x"), Tests(grep="y", command="npm test")),
)


def begun(*checks: Completion, never_touch: tuple[str, ...] = ()) -> Plan:
    """A word is no check, and tests that name no command have got the one that was found."""
    found = [Tests(grep=one.grep, command=one.command or "pytest") if isinstance(one, Tests) else one for one in checks]
    planned = tuple(PlannedCheck(line="x", completion=one) for one in found if not isinstance(one, Explicit))
    return Plan(agent="replay", task_hash="x", checks=(*planned, PlannedCheck(line="pytest")), never_touch=never_touch)


def task(*checks: Completion, never_touch: tuple[str, ...] = ()) -> Task:
    return Task(id="T-1", title="t", completion=checks, never_touch=never_touch)


def test_what_nobody_has_changed_is_the_same() -> None:
    assert asks_for_the_same(task(*ALL, never_touch=("a", "b")), begun(*ALL, never_touch=("b", "a")))
    assert asks_for_the_same(Task(id="T-1", title="t"), begun())


@pytest.mark.parametrize("gone", [one for one in ALL if not isinstance(one, Explicit)])
def test_one_check_more_or_less_is_another(gone: Completion) -> None:
    rest = [one for one in ALL if one != gone]
    assert not asks_for_the_same(task(*rest), begun(*ALL))
    assert not asks_for_the_same(task(*ALL), begun(*rest))


def test_what_it_must_leave_alone_counts() -> None:
    assert not asks_for_the_same(task(never_touch=("a",)), begun())
