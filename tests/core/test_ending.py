import pytest
from msgspec import UNSET

from untilproven.core.ending import CONSEQUENCES, Ending, ending
from untilproven.model.fields import Severity
from untilproven.model.iteration import Blocked, Complete, Continue, Failed, Finding, IterationResult

GOING_ON = Continue(reason="more to do")


def finding(severity: Severity, *, blocking: bool = True, category: str = "") -> Finding:
    details = {"category": category} if category else UNSET
    return Finding(pattern_id="LP-000", pattern_name="x", severity=severity, blocking=blocking, details=details)


@pytest.mark.parametrize(
    ("end", "fate", "counted", "checked"),
    [
        (Ending.NORMAL, "kept", True, True),
        (Ending.GRAVE_FINDING, "parked", True, False),
        (Ending.BLOCKING_FINDING, "discarded", True, False),
        (Ending.FAILED, "discarded", True, False),
        (Ending.CUT, "kept", True, True),
        (Ending.USAGE_LIMIT, "kept", False, True),
        (Ending.BLOCKED, "kept", True, False),
        (Ending.INTERRUPTED, "discarded", False, False),
    ],
)
def test_the_table_of_endings(end: Ending, fate: str, counted: bool, checked: bool) -> None:
    assert CONSEQUENCES[end] == (fate, counted, checked)


@pytest.mark.parametrize("result", [GOING_ON, Complete()])
def test_an_ordinary_end_is_normal_whatever_was_claimed(result: IterationResult) -> None:
    assert ending(result) is Ending.NORMAL
    assert ending(result, [finding(Severity.MEDIUM, blocking=False)]) is Ending.NORMAL


def test_what_the_guard_saw_outweighs_what_the_agent_said() -> None:
    assert ending(Complete(), [finding(Severity.CRITICAL)]) is Ending.GRAVE_FINDING
    assert ending(Complete(), [finding(Severity.HIGH, category="test_deletion")]) is Ending.GRAVE_FINDING
    assert ending(Complete(), [finding(Severity.HIGH)]) is Ending.BLOCKING_FINDING
    assert ending(Blocked(blocker="need a key"), [finding(Severity.HIGH)]) is Ending.BLOCKING_FINDING


def test_a_limit_explains_an_error_and_nothing_blocking_slips_through_it() -> None:
    died = Failed(error="killed by signal 15")
    assert ending(died) is Ending.FAILED
    assert ending(died, cut=True) is Ending.CUT
    assert ending(died, usage_limit=True) is Ending.USAGE_LIMIT
    assert ending(died, [finding(Severity.CRITICAL)], cut=True) is Ending.GRAVE_FINDING
    assert ending(GOING_ON, [finding(Severity.HIGH)], usage_limit=True) is Ending.BLOCKING_FINDING


def test_an_interrupted_iteration_is_nothing_else() -> None:
    assert ending(Complete(), [finding(Severity.CRITICAL)], interrupted=True, cut=True) is Ending.INTERRUPTED


def test_blocked_waits_for_a_human() -> None:
    assert ending(Blocked(blocker="need a key")) is Ending.BLOCKED
