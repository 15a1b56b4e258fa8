"""From evidence to a kind of proof: when this, then that."""

import pytest

from untilproven.contract import Evidence, TestResult
from untilproven.core.proof import Verdict, judge
from untilproven.model.receipt import Proof

GREEN, RED, BROKEN = Evidence(passed=True), Evidence(passed=False), Evidence(passed=False, broken=True)


def seen(**outcomes: str) -> Evidence:
    tests = tuple(TestResult(name, outcome) for name, outcome in outcomes.items())
    return Evidence(passed=not {"failed", "error"} & set(outcomes.values()), tests=tests)


def one(before: Evidence, now: Evidence, *, claimed: bool = False, changed: bool = True) -> Verdict:
    return judge({"check": before}, {"check": now}, claimed=claimed, changed=changed)


@pytest.mark.parametrize("before", [RED, BROKEN])
def test_a_check_that_was_not_green_and_is_now_is_red_to_green(before: Evidence) -> None:
    assert one(before, GREEN).proof is Proof.RED_TO_GREEN


def test_red_to_green_without_a_change_is_a_check_that_cannot_be_relied_on() -> None:
    verdict = one(RED, GREEN, claimed=False, changed=False)
    assert verdict.proof is None
    assert "nothing has changed" in verdict.reason


def test_green_before_and_after_with_a_claim_and_a_change_is_only_suite_green_and_claim() -> None:
    assert one(GREEN, GREEN, claimed=True).proof is Proof.SUITE_GREEN_AND_CLAIM


@pytest.mark.parametrize(("claimed", "changed"), [(False, True), (True, False), (False, False)])
def test_green_before_and_after_needs_both_claim_and_change(*, claimed: bool, changed: bool) -> None:
    assert one(GREEN, GREEN, claimed=claimed, changed=changed).proof is None


def test_new_tests_found_by_somebody_else_are_a_proof_of_their_own() -> None:
    verdict = judge({"check": GREEN}, {"check": GREEN}, claimed=False, changed=True, new_tests=True)
    assert verdict.proof is Proof.NEW_TESTS


@pytest.mark.parametrize("now", [RED, BROKEN])
@pytest.mark.parametrize("before", [GREEN, RED, BROKEN])
def test_a_check_that_is_not_green_now_is_never_proof_whatever_is_claimed(before: Evidence, now: Evidence) -> None:
    verdict = judge({"a": before}, {"a": now}, claimed=True, changed=True, new_tests=True, trust_promise=True)
    assert verdict.proof is None
    assert verdict.reason.startswith("a ")


def test_all_checks_must_pass_not_only_the_one_that_was_red() -> None:
    verdict = judge({"a": RED, "b": GREEN}, {"a": GREEN, "b": RED}, claimed=True, changed=True)
    assert verdict == Verdict(None, "b does not pass yet")


def test_a_check_of_the_control_that_was_not_run_again_is_not_forgotten() -> None:
    verdict = judge({"a": RED, "b": GREEN}, {"a": GREEN}, claimed=True, changed=True)
    assert verdict == Verdict(None, "b was not run again")


def test_a_check_without_a_control_does_not_count_as_red_before() -> None:
    assert judge({}, {"a": GREEN}, claimed=False, changed=True).proof is None


@pytest.mark.parametrize(
    ("now", "word"),
    [
        (seen(new="passed"), "gone: kept"),
        (seen(kept="skipped", new="passed"), "skipped: kept"),
        (GREEN, "not any more"),
        (seen(), "not any more"),
        (Evidence(passed=True, tests=(TestResult("kept", "failed"),)), "fail: kept"),
    ],
)
def test_a_test_that_passed_before_and_is_not_seen_to_pass_now_is_not_proof_and_is_named(
    now: Evidence, word: str
) -> None:
    verdict = one(seen(kept="passed", new="failed"), now, claimed=True)
    assert verdict.proof is None
    assert word in verdict.reason


def test_a_test_that_failed_before_may_go() -> None:
    assert one(seen(kept="passed", old="failed"), seen(kept="passed")).proof is Proof.RED_TO_GREEN


def test_a_bare_claim_is_accepted_only_when_trusted() -> None:
    assert judge({}, {}, claimed=True, changed=True).proof is None
    assert judge({}, {}, claimed=False, changed=True, trust_promise=True).proof is None
    assert judge({}, {}, claimed=True, changed=False, trust_promise=True).proof is Proof.CLAIMED
    trusted = judge({"a": GREEN}, {"a": GREEN}, claimed=True, changed=False, trust_promise=True)
    assert trusted.proof is Proof.CLAIMED
