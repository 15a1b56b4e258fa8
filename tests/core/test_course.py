"""How far a loop has come, from nothing but its events."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import UNSET

from untilproven.core.course import REMEMBERED, TOLD_BYTES, Course, fold, verdict_on
from untilproven.core.stuck import Verdict
from untilproven.model import events
from untilproven.model.iteration import Action, Continue, Failed, Fate, FileChange, IterationResult, Usage
from untilproven.model.plan import Plan, PlannedCheck
from untilproven.model.state import ProcessIdentity
from untilproven.model.status import Status

PLAN = Plan(agent="command", task_hash="x", checks=(PlannedCheck(line="check"),))
ADOPTED = events.LoopAdopted(process=ProcessIdentity(pid=1, start="1", boot_id="b"), vouch="")
RUNNING = events.StatusChanged(to=Status.RUNNING)
AT = datetime(2026, 2, 2, 21, 0, tzinfo=UTC)


def course(*happened: events.Event) -> Course:
    known = Course(plan=PLAN)
    for event in happened:
        known = fold(known, event)
    return known


def started(state: dict[str, Any] | None = None) -> events.LoopStarted:
    return events.LoopStarted(state=state or {}, started_with="", vouch="")


def begun(number: int = 1, tree: str = "t0") -> events.IterationStarted:
    return events.IterationStarted(iteration=number, tree=tree)


def observed(number: int = 1, *, changed: bool = True, tree: str = "t1", **more: Any) -> events.IterationObserved:
    delta = (FileChange(path="a", change="modified"), FileChange(path="b", change="created")) if changed else ()
    return events.IterationObserved(iteration=number, delta=delta, tree=tree, **more)


def finished(
    number: int = 1, *, result: IterationResult | None = None, fate: Fate = Fate.KEPT, **more: Any
) -> events.IterationFinished:
    more = {"counted": True, "progressed": False, "duration_seconds": 1.0, **more}
    return events.IterationFinished(iteration=number, result=result or Continue(reason=""), fate=fate, **more)


def checked(iteration: int, *, passed: bool = False, **more: Any) -> events.CheckFinished:
    return events.CheckFinished(iteration=iteration, check="check", kind="command", passed=passed, **more)


def test_the_tree_at_the_start_is_the_first_one_seen_and_stays() -> None:
    known = course(started(), begun(tree="t0"), observed(), finished(), begun(2, tree="t1"))
    assert known.start_tree == "t0"
    assert course(started({"start_tree": "older"}), begun(tree="t0")).start_tree == "older"


@pytest.mark.parametrize(
    ("happened", "touched"),
    [
        ([started(), begun(), observed(changed=False), checked(1), finished(), begun(2, tree="t9")], False),
        ([started(), begun(), observed()], True),
        ([started(), begun(), observed(), finished(fate=Fate.DISCARDED)], True),
        ([started(), begun(), ADOPTED], True),
        ([started(), ADOPTED], False),
        ([started(), RUNNING], False),
        ([started({"start_tree": "t0"})], False),
        ([started({"start_tree": "t0", "touched": True})], True),
    ],
    ids=[
        "checks only",
        "agent",
        "failed agent",
        "killed agent",
        "killed before",
        "pause",
        "continued",
        "continued work",
    ],
)
def test_the_tree_is_touched_by_agents_only(happened: list[events.Event], touched: bool) -> None:
    assert course(*happened).touched is touched


def test_the_control_keeps_every_tests_outcome_and_later_checks_do_not() -> None:
    outcomes = {"a": "passed"}
    known = course(checked(0, outcomes=outcomes), begun(), observed(), checked(1, outcomes=outcomes))
    assert known.control["check"].outcomes == outcomes
    assert known.lap
    assert known.lap.checks["check"].outcomes is UNSET


def test_a_check_belongs_to_the_iteration_it_names() -> None:
    known = course(begun(), observed(), finished(), checked(1, passed=True), checked(7, passed=True))
    assert known.lap is None
    assert known.last
    assert known.last.checks["check"].passed


def test_what_is_long_is_not_carried_along() -> None:
    known = course(
        begun(), observed(actions=(Action(kind="bash", target="x", at=AT),)), checked(1, output="x" * 100_000)
    )
    assert known.lap
    assert known.lap.observed
    assert len(known.lap.observed.delta) == 1
    assert known.lap.observed.actions == ()
    assert len(known.lap.checks["check"].output or "") <= TOLD_BYTES


def test_failures_are_counted_in_a_row_and_forgiven_by_whoever_goes_on() -> None:
    failed = (begun(), observed(), finished(result=Failed(error="x"), fate=Fate.DISCARDED))
    assert course(*failed, *failed).failures == 2
    assert course(*failed, *failed, begun(), observed(), finished()).failures == 0
    assert course(*failed, *failed, RUNNING).failures == 0
    cut = finished(result=Failed(error="x"), fate=Fate.KEPT)
    assert course(begun(), observed(), cut).failures == 0


def test_what_was_thrown_away_is_remembered_until_the_agent_has_been_told() -> None:
    failed = (begun(), observed(), finished(result=Failed(error="exited with 1"), fate=Fate.DISCARDED))
    assert course(*failed).discarded == "you ended with an error: exited with 1"
    assert course(*failed, begun(2)).discarded == ""
    stopped = finished(fate=Fate.DISCARDED, counted=False)
    assert course(begun(), observed(interrupted="pause"), stopped).discarded == "it was stopped at once"
    assert course(begun(), ADOPTED).discarded == "the runner was killed while you worked"
    assert course(*failed, ADOPTED).discarded == "you ended with an error: exited with 1"


def test_a_killed_iteration_is_under_way_no_more() -> None:
    known = course(begun(), observed(), finished(), begun(2), ADOPTED)
    assert known.lap is None
    assert known.last
    assert known.last.number == 1


def test_a_broken_check_is_looked_at_again_by_whoever_goes_on_and_a_sound_one_is_not() -> None:
    sound = events.CheckFinished(iteration=0, check="sound", kind="command", passed=True)
    assert list(course(checked(0, broken=True), sound, RUNNING).control) == ["sound"]
    known = course(sound, begun(), observed(), checked(1, broken=True), finished(), RUNNING)
    assert known.last
    assert known.last.checks == {}
    assert known.pardoned


def test_once_there_was_work_the_control_stays_as_it_was() -> None:
    known = course(checked(0, broken=True), begun(), observed(), finished(), RUNNING)
    assert list(known.control) == ["check"]


def test_costs_are_those_that_were_reported_and_the_oldest_are_forgotten() -> None:
    laps = [
        event
        for number in range(1, REMEMBERED + 11)
        for event in (begun(number), observed(number), finished(number, usage=Usage(cost_usd=float(number))))
    ]
    known = course(*laps, begun(99), observed(99), finished(99, usage=Usage(total_tokens=5)))
    assert known.costs[0] == 11
    assert len(known.costs) == len(known.steps) == REMEMBERED


def test_a_continued_loop_knows_what_an_iteration_usually_costs() -> None:
    metrics = {"total_iterations": 5, "unknown_cost_iterations": 1, "total_cost_usd": 2.0}
    assert course(started({"metrics": metrics})).costs == (0.5,)
    assert course(started({"metrics": {"total_iterations": 5}})).costs == ()
    assert course(started({"metrics": {**metrics, "unknown_cost_iterations": 9}})).costs == ()
    assert course(started()).costs == ()


def test_the_same_failure_is_known_again_whatever_numbers_are_in_it() -> None:
    laps: list[events.Event] = []
    for number in (1, 2, 3):
        said = f"took {number}.3 s at 0x{number:x}fe"
        laps += [begun(number), observed(number, tree=f"t{number}"), checked(number, output=said), finished(number)]
    assert course(*laps).stuck is Verdict.SAME_ERROR
    assert course(*laps[:-4], begun(3), observed(3, tree="t3"), checked(3, output="else"), finished(3)).stuck is None


def test_iterations_that_do_not_count_are_no_step() -> None:
    stopped = (begun(), observed(), finished(counted=False))
    assert course(*stopped, *stopped, *stopped).steps == ()


def test_a_session_is_the_last_one_named() -> None:
    known = course(begun(), observed(session="s1"), finished(), begun(2), observed(2), finished(2))
    assert known.session == "s1"


def test_what_this_version_does_not_know_changes_nothing() -> None:
    known = course(begun(), observed())
    assert fold(known, None) == known
    assert fold(known, events.StatusChanged(to=Status.PAUSED)) == known


def test_a_verdict_is_remembered_for_its_tree_until_the_loop_is_resumed() -> None:
    one = (begun(1), observed(1, tree="t1"), checked(1, passed=True), finished(1))
    two = (begun(2), observed(2, tree="t2"), checked(2), finished(2))
    known = course(started(), *one, *two)
    first, second = verdict_on(known, "t1", "check"), verdict_on(known, "t2", "check")
    assert first
    assert second
    assert (first.iteration, first.passed, second.iteration, second.passed) == (1, True, 2, False)
    assert verdict_on(known, "t3", "check") is None
    assert verdict_on(known, "t1", "other") is None
    assert verdict_on(course(started(), *one, *two, RUNNING), "t1", "check") is None


def test_a_check_that_could_not_be_run_is_no_verdict_on_a_tree() -> None:
    known = course(started(), begun(1), observed(1, tree="t1"), checked(1, broken=True), finished(1))
    assert verdict_on(known, "t1", "check") is None
