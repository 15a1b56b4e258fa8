"""What can be seen only over a loop, or from its numbers: many iterations for nothing, passing tests that ask less."""

from types import SimpleNamespace
from typing import Any

import pytest

from untilproven.checks.metrics.measuring import Measured
from untilproven.core.quality import Scored
from untilproven.model.events import CheckFinished
from untilproven.model.fields import Severity
from untilproven.model.iteration import Finding
from untilproven.runtime import judging, measuring

WEAKER = Finding(
    pattern_id="UP-005",
    pattern_name="Assertion Removed",
    severity=Severity.MEDIUM,
    blocking=False,
    details={"id": "UP-005-1", "category": "assertion_weakening"},
)


def driver(*, scores: tuple[float, ...] = (), passed: bool | None = True, found: tuple[Finding, ...] = ()) -> Any:
    """`passed` is None if there is no check."""
    checks = {} if passed is None else {"pytest": CheckFinished(iteration=1, check="x", kind="tests", passed=passed)}
    lap = SimpleNamespace(findings=found, checks=checks)
    scored = tuple(Scored(number, one) for number, one in enumerate(scores, 1))
    course = SimpleNamespace(scores=scored, lap=lap, plan=SimpleNamespace(sensitive=()))
    return SimpleNamespace(course=course, cast=SimpleNamespace(task=""))


@pytest.mark.parametrize(
    ("scores", "seen"), [((50.0,) * 11, ["LP-020"]), ((50.0,) * 10, []), ((50.0,) * 10 + (61.0,), [])]
)
def test_more_than_ten_iterations_for_next_to_nothing_are_noticed(scores: tuple[float, ...], seen: list[str]) -> None:
    assert [one.pattern for one in judging._getting_nowhere(driver(scores=scores))] == seen


@pytest.mark.parametrize(
    ("passed", "found", "now", "seen"),
    [
        (True, (WEAKER,), 70.0, True),
        (False, (WEAKER,), 70.0, False),
        (None, (WEAKER,), 70.0, False),
        (True, (), 70.0, False),
        (True, (WEAKER,), 79.0, False),
    ],
)
def test_passing_checks_that_cover_less_and_ask_less_are_noticed(
    passed: bool | None, found: tuple[Finding, ...], now: float, seen: bool
) -> None:
    was = Measured(coverage=80.0, coverage_tool="x")
    events = measuring._worse(driver(passed=passed, found=found), 1, was, Measured(coverage=now, coverage_tool="x"))
    assert ("LP-022" in {event.finding.pattern_id for event in events}) is seen  # type: ignore[union-attr]
