"""What an iteration's checks amount to."""

from typing import Any

import pytest
from msgspec import UNSET

from untilproven.core import verdict
from untilproven.core.course import Course, Lap
from untilproven.model import events
from untilproven.model.iteration import Complete, Continue
from untilproven.model.plan import Plan, PlannedCheck
from untilproven.model.receipt import Proof

CHECK, OTHER, SUITE = "check", "other", "suite"


def check(name: str = CHECK, *, passed: bool = True, iteration: int = 1, **more: Any) -> events.CheckFinished:
    return events.CheckFinished(iteration=iteration, check=name, kind="command", passed=passed, **more)


def red(name: str = CHECK, **more: Any) -> events.CheckFinished:
    return check(name, passed=False, **more)


def by_name(*checks: events.CheckFinished) -> dict[str, events.CheckFinished]:
    return {check.check: check for check in checks}


def plan(*until: str, auto: str = "", **more: Any) -> Plan:
    checks = [PlannedCheck(line=line) for line in until]
    checks += [PlannedCheck(line=auto, role="auto_test")] if auto else []
    return Plan(agent="command", task_hash="x", checks=tuple(checks), promise="DONE", **more)


def judged(
    before: list[events.CheckFinished],
    now: list[events.CheckFinished],
    *,
    planned: Plan | None = None,
    tree: str = "t1",
    touched: bool = True,
    **seen: Any,
) -> tuple[Proof | None, str]:
    course = Course(plan=planned or plan(CHECK), control=by_name(*before), start_tree="t0", touched=touched)
    observed = events.IterationObserved(iteration=1, delta=(), tree=tree, **seen)
    found = verdict.judge(course, Lap(number=1, observed=observed, checks=by_name(*now)))
    return found.proof, found.reason


def test_the_users_checks_come_first_and_the_suite_only_once_they_are_green() -> None:
    planned = plan(CHECK, OTHER, auto=SUITE)
    assert verdict.wanted(planned, {}) == (CHECK, OTHER)
    assert verdict.wanted(planned, by_name(check())) == (OTHER,)
    assert verdict.wanted(planned, by_name(check(), red(OTHER))) == ()
    assert verdict.wanted(planned, by_name(check(), check(OTHER))) == (SUITE,)
    assert verdict.wanted(planned, by_name(check(), check(OTHER), check(SUITE))) == ()


def test_the_control_has_every_check_once() -> None:
    course = Course(plan=plan(CHECK, auto=SUITE), control=by_name(red()))
    assert verdict.control_wanted(course) == (SUITE,)


def test_red_then_green_is_proof_only_of_a_tree_that_somebody_changed() -> None:
    assert judged([red()], [check()])[0] is Proof.RED_TO_GREEN
    assert judged([red()], [check()], tree="t0")[0] is None
    proof, why = judged([red()], [check()], touched=False)
    assert proof is None
    assert "nothing has changed: it cannot be relied on" in why


def test_green_all_along_needs_a_claim_and_a_change() -> None:
    claim: dict[str, Any] = {"claim": "DONE"}
    assert judged([check()], [check()])[0] is None
    assert judged([check()], [check()], **claim)[0] is Proof.SUITE_GREEN_AND_CLAIM
    assert judged([check()], [check()], result=Complete())[0] is Proof.SUITE_GREEN_AND_CLAIM
    assert judged([check()], [check()], touched=False, **claim)[0] is None
    assert judged([check()], [check()], tree="t0", **claim)[0] is None


def test_a_claim_never_outweighs_a_check() -> None:
    for more in ({"claim": "DONE"}, {"result": Complete()}):
        planned = plan(CHECK, trust_promise=True)
        assert judged([red()], [red()], planned=planned, **more)[0] is None
        assert judged([red()], [], planned=planned, **more)[0] is None
        assert judged([red()], [red(broken=True)], planned=planned, **more)[0] is None


def test_a_trusted_claim_is_enough_where_there_is_nothing_else() -> None:
    assert judged([], [], planned=plan(trust_promise=True), claim="DONE")[0] is Proof.CLAIMED
    assert judged([], [], planned=plan(trust_promise=True))[0] is None
    assert judged([], [], planned=plan(), claim="DONE")[0] is None


def test_one_green_check_of_two_is_not_enough() -> None:
    planned = plan(CHECK, OTHER)
    assert judged([red(), red(OTHER)], [check(), red(OTHER)], planned=planned)[0] is None
    assert judged([red(), red(OTHER)], [check()], planned=planned)[0] is None
    assert judged([red(), check(OTHER)], [check(), check(OTHER)], planned=planned)[0] is Proof.RED_TO_GREEN


def test_green_tests_of_which_some_are_gone_are_not_green() -> None:
    proof, why = judged([red()], [check(lost="tests that passed before are gone: a")])
    assert proof is None
    assert "are gone: a" in why


@pytest.mark.parametrize(
    ("before", "now", "proof"),
    [
        (check(SUITE), check(SUITE), Proof.RED_TO_GREEN),
        (check(SUITE), red(SUITE), None),
        (check(SUITE), check(SUITE, lost="gone: a"), None),
        (red(SUITE), red(SUITE), Proof.RED_TO_GREEN),
        (red(SUITE), red(SUITE, lost="fail: a"), None),
        (red(SUITE, broken=True), red(SUITE), Proof.RED_TO_GREEN),
        (check(SUITE), red(SUITE, broken=True), None),
    ],
)
def test_the_suite_must_stay_as_green_as_it_was(
    before: events.CheckFinished, now: events.CheckFinished, proof: Proof | None
) -> None:
    assert judged([red(), before], [check(), now], planned=plan(CHECK, auto=SUITE))[0] is proof


def test_a_suite_that_turns_green_proves_nothing_by_itself() -> None:
    planned = plan(CHECK, auto=SUITE)
    assert judged([check(), red(SUITE)], [check(), check(SUITE)], planned=planned)[0] is None


def test_a_suite_that_was_green_must_be_run() -> None:
    assert judged([red(), check(SUITE)], [check()], planned=plan(CHECK, auto=SUITE))[0] is None


@pytest.mark.parametrize(
    ("control", "task", "stops"),
    [
        (None, "make it", True),
        (None, "write verify.sh", False),
        (None, "write tools/verify.sh, please", False),
        (red(), "make it", False),
        (red(broken=True), "make it", True),
    ],
)
def test_a_script_of_the_tree_may_come_or_come_back(
    control: events.CheckFinished | None, task: str, stops: bool
) -> None:
    course = Course(plan=plan(CHECK), control=by_name(control) if control else {})
    missing = red(broken=True, missing="./verify.sh")
    assert (verdict.broken(course, by_name(missing), task) is missing) is stops


def test_a_program_from_elsewhere_cannot_be_waited_for() -> None:
    course = Course(plan=plan(CHECK), control=by_name(red()))
    broken = red(broken=True)
    assert verdict.broken(course, by_name(broken), "install the check") is broken


def test_a_suite_that_cannot_be_run_stops_nothing() -> None:
    course = Course(plan=plan(CHECK, auto=SUITE))
    assert verdict.broken(course, by_name(red(), red(SUITE, broken=True)), "") is None


def test_a_claim_is_a_promise_or_a_result_and_nothing_else() -> None:
    def claimed(**seen: Any) -> str | None:
        return verdict.claim(Lap(number=1, observed=events.IterationObserved(iteration=1, delta=(), **seen)))

    assert claimed(claim="<promise>DONE</promise>") == "<promise>DONE</promise>"
    assert claimed(result=Complete()) == "complete"
    assert claimed(result=Continue(reason="all done"), claim=UNSET) is None
    assert verdict.claim(Lap(number=1)) is None
