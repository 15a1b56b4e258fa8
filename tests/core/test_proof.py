"""From evidence to a kind of proof: when this, then that."""

import pytest

from untilproven.core.proof import Outcome, Verdict, judge, lost
from untilproven.model.receipt import Proof

GREEN, RED, BROKEN = Outcome(passed=True), Outcome(passed=False), Outcome(passed=False, broken=True)


def one(before: Outcome, now: Outcome, *, claimed: bool = False, changed: bool = True) -> Verdict:
    return judge({"check": before}, {"check": now}, claimed=claimed, changed=changed)


@pytest.mark.parametrize("before", [RED, BROKEN])
def test_a_check_that_was_not_green_and_is_now_is_red_to_green(before: Outcome) -> None:
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
    verdict = judge({"check": GREEN}, {"check": GREEN}, claimed=True, changed=True, new_tests=True)
    assert verdict.proof is Proof.NEW_TESTS


def test_new_tests_alone_do_not_say_that_all_of_the_work_is_done() -> None:
    verdict = judge({"check": GREEN}, {"check": GREEN}, claimed=False, changed=True, new_tests=True)
    assert verdict.proof is None
    assert "nothing is claimed" in verdict.reason


@pytest.mark.parametrize("now", [RED, BROKEN])
@pytest.mark.parametrize("before", [GREEN, RED, BROKEN])
def test_a_check_that_is_not_green_now_is_never_proof_whatever_is_claimed(before: Outcome, now: Outcome) -> None:
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
        ({"new": "passed"}, "gone: kept"),
        ({"kept": "skipped", "new": "passed"}, "skipped: kept"),
        ({}, "not any more"),
        ({"kept": "failed"}, "fail: kept"),
        ({"kept": "error"}, "fail: kept"),
    ],
)
def test_a_test_that_passed_before_and_is_not_seen_to_pass_is_lost_and_named(now: dict[str, str], word: str) -> None:
    assert word in lost({"kept": "passed", "new": "failed"}, now)


def test_what_was_lost_is_no_proof_however_green_the_rest() -> None:
    verdict = one(RED, Outcome(passed=True, lost="tests that passed before are gone: kept"), claimed=True)
    assert verdict == Verdict(None, "check: tests that passed before are gone: kept")


def test_a_test_that_failed_before_may_go() -> None:
    assert not lost({"kept": "passed", "old": "failed"}, {"kept": "passed"})


def test_without_tests_seen_one_by_one_nothing_can_be_lost() -> None:
    assert not lost({}, {"new": "failed"})


def test_a_bare_claim_is_accepted_only_when_trusted() -> None:
    assert judge({}, {}, claimed=True, changed=True).proof is None
    assert judge({}, {}, claimed=False, changed=True, trust_promise=True).proof is None
    assert judge({}, {}, claimed=True, changed=False, trust_promise=True).proof is Proof.CLAIMED
    trusted = judge({"a": GREEN}, {"a": GREEN}, claimed=True, changed=False, trust_promise=True)
    assert trusted.proof is Proof.CLAIMED
