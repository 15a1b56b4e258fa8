"""What the journal says of a check that has run."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from untilproven.contract import Evidence, Room, TestResult
from untilproven.core.evidence import OUTPUT_BYTES, finished
from untilproven.model.events import CheckFinished


class NamedCheck(msgspec.Struct):
    """Only its name matters here."""

    name: str = "suite"
    kind: str = "tests"

    def run(self, room: Room, *, timeout: float) -> Evidence:
        raise NotImplementedError


def results(**outcomes: str) -> tuple[TestResult, ...]:
    return tuple(TestResult(name, outcome) for name, outcome in outcomes.items())


def record(
    iteration: int, control: CheckFinished | None = None, *, broken: bool = False, **found: Any
) -> CheckFinished:
    return finished(iteration, NamedCheck(), Evidence(**{"passed": True, **found}), control, broken=broken)


def test_the_control_keeps_how_every_test_ended() -> None:
    control = record(0, tests=results(a="passed", b="failed", c="skipped", d="error"), passed=False)
    assert control.outcomes == {"a": "passed", "b": "failed", "c": "skipped", "d": "error"}
    assert control.tests
    assert (control.tests.total, control.tests.passed, control.tests.failed, control.tests.skipped) == (4, 1, 2, 1)
    assert control.lost is UNSET


@pytest.mark.parametrize(
    ("now", "lost"),
    [
        ({"a": "passed", "b": "passed"}, ""),
        ({"a": "passed", "b": "failed", "new": "failed"}, ""),
        ({"a": "passed"}, "tests that failed before are not run any more: b"),
        ({"a": "passed", "b": "skipped"}, "tests that failed before are not run any more: b"),
        ({"a": "passed", "other": "passed"}, "tests that failed before are not run any more: b"),
        ({"b": "passed"}, "tests that passed before are gone: a"),
        ({"a": "skipped", "b": "passed"}, "tests that passed before are skipped: a"),
        ({"a": "failed", "b": "passed"}, "tests that passed before fail: a"),
        ({"a": "error", "b": "passed"}, "tests that passed before fail: a"),
    ],
)
def test_what_was_green_and_is_not_any_more_is_named(now: dict[str, str], lost: str) -> None:
    control = record(0, tests=results(a="passed", b="failed"), passed=False)
    later = record(1, control, tests=results(**now))
    assert (later.lost or "") == lost
    assert later.outcomes is UNSET


@pytest.mark.parametrize(
    ("before", "now", "lost"),
    [
        ({"m.py": "error"}, {"m.py::a": "passed"}, ""),
        ({"n.py::a": "passed", "m.py": "error"}, {"n.py::a": "passed", "m.py::a": "passed"}, ""),
        ({"n.py::a": "passed", "m.py": "error"}, {"n.py::a": "passed"}, "fewer tests are run than before: 1, not 2"),
        ({"m.T.a": "passed", "m.T.b": "error"}, {"m.T.a": "passed", "m.T.c": "passed"}, "not run any more: m.T.b"),
        ({"m.T.a": "passed", "m.T.b": "error"}, {"m.T.a": "passed", "m.T.b": "passed"}, ""),
        ({"l._FailedTest.m": "error", "n.T.a": "passed"}, {"m.T.a": "passed", "n.T.a": "passed"}, ""),
        ({"setUpClass (m.T)": "error", "m.U.a": "passed"}, {"m.T.a": "passed", "m.U.a": "passed"}, ""),
        ({"a": "passed", "b": "error"}, {"a": "passed", "c": "passed"}, ""),
        ({"a": "passed", "b": "skipped"}, {"a": "passed"}, ""),
    ],
)
def test_a_file_that_could_not_be_loaded_may_become_its_tests_and_a_test_may_not_vanish(
    before: dict[str, str], now: dict[str, str], lost: str
) -> None:
    later = record(1, record(0, tests=results(**before), passed=False), tests=results(**now))
    assert (later.lost or "").endswith(lost)
    assert bool(later.lost) is bool(lost)


@pytest.mark.parametrize("found", [{"tests": None}, {"tests": ()}])
def test_tests_that_can_be_seen_no_more_are_lost(found: dict[str, Any]) -> None:
    later = record(1, record(0, tests=results(a="passed")), **found)
    assert later.lost == "its tests were seen one by one before the work, and are not any more"


def test_where_no_test_was_ever_seen_none_is_lost() -> None:
    assert record(1, record(0)).lost is UNSET
    assert record(1).lost is UNSET
    assert record(1, record(0, tests=())).lost is UNSET


def test_counts_are_left_out_where_nobody_counts() -> None:
    assert record(1).tests is UNSET
    nothing = record(1, tests=()).tests
    assert nothing
    assert nothing.total == 0


def test_output_is_cut_with_its_end_in_place() -> None:
    output = record(1, output="x" * OUTPUT_BYTES + "the verdict").output
    assert output
    assert len(output.encode()) <= OUTPUT_BYTES
    assert output.endswith("the verdict")


def test_what_is_not_so_is_not_said() -> None:
    sound = record(1, seconds=0.1234567)
    assert (sound.broken, sound.missing, sound.lost) == (UNSET, UNSET, UNSET)
    assert sound.duration_seconds == 0.123457
    gone = record(1, passed=False, broken=True, missing="./check")
    assert (gone.broken, gone.missing) == (True, "./check")
