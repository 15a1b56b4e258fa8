"""What the agent is told about what happened before."""

from datetime import UTC, datetime
from typing import Any

import pytest

from untilproven.core.beginning import new_state
from untilproven.core.course import Course, Lap
from untilproven.core.prompt import Briefing, continuation, first_prompt
from untilproven.core.stuck import Step
from untilproven.core.telling import briefing
from untilproven.model import events
from untilproven.model.iteration import Complete
from untilproven.model.plan import Allowance, Plan, PlannedCheck
from untilproven.model.state import LoopState, ProcessIdentity

PLAN = Plan(
    agent="command",
    task_hash="x",
    checks=(PlannedCheck(line="check"), PlannedCheck(line="suite", role="auto_test")),
    promise="DONE",
)
STATE: LoopState = new_state(
    "ralph-told-0123abcd",
    task="the beginning of it",
    plan=PLAN,
    allowance=Allowance(iterations=7),
    owner="me",
    working_directory="/",
    process=ProcessIdentity(pid=1, start="1", boot_id="b"),
    at=datetime(2026, 2, 2, tzinfo=UTC),
)


def check(name: str = "check", *, passed: bool = False, iteration: int = 1, **more: Any) -> events.CheckFinished:
    return events.CheckFinished(iteration=iteration, check=name, kind="command", passed=passed, **more)


def lap(*checks: events.CheckFinished, **seen: Any) -> Lap:
    observed = events.IterationObserved(iteration=1, delta=(), tree="t1", **seen)
    return Lap(number=1, observed=observed, checks={one.check: one for one in checks})


def told(*, can_discard: bool = True, **known: Any) -> Briefing:
    course = Course(plan=PLAN, start_tree="t0", touched=True, **known)
    return briefing(STATE, course, task="the whole task", index={"AGENTS.md": "Tabs."}, can_discard=can_discard)


def test_the_first_time_it_is_told_the_task_the_checks_and_the_limits() -> None:
    first = told(control={"check": check(iteration=0, output="1 error"), "suite": check("suite", iteration=0)})
    assert (first.task, first.iteration, first.max_iterations) == ("the whole task", 1, 7)
    assert first.checks == ("check",)
    assert first.promise == "DONE"
    assert first.notes == ()
    (report,) = first.reports
    assert (report.name, report.passed, report.output) == ("check", False, "1 error")
    assert "Tabs." in first_prompt(first)


def test_what_was_seen_last_is_told_and_not_what_was_seen_first() -> None:
    later = told(control={"check": check(iteration=0, output="old")}, last=lap(check(output="new"), check("suite")))
    assert [report.output for report in later.reports] == ["new", ""]
    assert "old" not in first_prompt(later)


def test_green_with_tests_gone_is_told_as_a_failure_that_names_them() -> None:
    (report,) = told(
        last=lap(check(passed=True, lost="tests that passed before are gone: a", output="9 passed"))
    ).reports
    assert not report.passed
    assert report.output == "tests that passed before are gone: a\n9 passed"


@pytest.mark.parametrize("seen", [{"claim": "DONE"}, {"result": Complete()}])
def test_a_claim_that_was_refused_is_told_with_the_reason(seen: dict[str, Any]) -> None:
    known: dict[str, Any] = {"control": {"check": check(iteration=0)}, "last": lap(check(), **seen)}
    assert told(**known).notes == ("You said that the work is done. It is not: check does not pass yet.",)
    assert "check does not pass yet" in continuation(told(**known))


@pytest.mark.parametrize(
    ("can_discard", "words"),
    [(True, "has been taken back"), (False, "is still in the tree: nothing could be taken back")],
)
def test_what_became_of_a_discarded_iteration_is_told_as_it_is(can_discard: bool, words: str) -> None:
    (note,) = told(discarded="you ended with an error: x", last=lap(claim="DONE"), can_discard=can_discard).notes
    assert note == f"The iteration before was thrown away, because you ended with an error: x. What it changed {words}."


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        ("wall", "it took too long"),
        ("idle", "it was silent for too long"),
        ("output", "it printed too much"),
        ("cost", "a limit was reached"),
    ],
)
def test_an_iteration_that_was_cut_is_told_why(cut: str, words: str) -> None:
    assert told(last=lap(check(), cut=cut)).notes == (f"The iteration before was stopped: {words}.",)


def test_a_loop_that_stands_still_is_told_so() -> None:
    steps = tuple(Step("t0") for _ in range(4))
    assert told(steps=steps).notes == ("Your last iterations changed nothing. Try something else.",)
