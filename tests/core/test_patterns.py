"""What ended tasks have in common: from how many of them on, how sure, and with which tasks as evidence."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from core.ended import NOW, ended
from untilproven.core.pattern import Pattern, finished
from untilproven.core.patterns import failure_kind, patterns
from untilproven.model.learning import Learnt, Lesson, TaskCompleted


def of_kind(kind: str, *records: TaskCompleted) -> list[Pattern]:
    return [one for one in patterns(records, NOW) if one.kind == kind]


@pytest.mark.parametrize(
    ("ratio", "subject"),
    [(1.6, "above the estimates"), (0.6, "below the estimates"), (1.5, ""), (0.7, ""), (1.0, "")],
)
def test_estimates_drift_outside_of_their_band(ratio: float, subject: str) -> None:
    records = [ended(number, estimate=10, iterations=round(10 * ratio)) for number in range(5)]
    assert [one.subject for one in of_kind("estimate_drift", *records)] == ([subject] if subject else [])


def test_drift_needs_five_tasks_that_were_estimated_and_succeeded() -> None:
    four = [ended(number, estimate=1, iterations=4) for number in range(4)]
    assert of_kind("estimate_drift", *four, ended(4, iterations=4)) == []
    assert of_kind("estimate_drift", *four, ended(4, estimate=1, iterations=4, success=False)) == []
    [found] = of_kind("estimate_drift", *four, ended(4, estimate=1, iterations=1))
    assert (found.samples, found.strength, found.confidence) == (5, 0.8, 0.8)
    assert found.evidence == ("RALPH-000", "RALPH-001", "RALPH-002", "RALPH-003", "RALPH-004")


@pytest.mark.parametrize(
    ("kind", "fields"), [("bug_hotspot", {"task_type": "bug"}), ("failure_hotspot", {"success": False})]
)
def test_three_bugs_or_failures_make_a_file_a_hot_spot(kind: str, fields: dict[str, Any]) -> None:
    bad = [ended(number, files_changed=("src/a.py", f"x{number}.py"), **fields) for number in range(3)]
    good = ended(3, files_changed=("src/a.py",))
    assert of_kind(kind, *bad[:2], good) == []
    [found] = of_kind(kind, *bad, good)  # not the directory, which has nothing to add
    assert (found.subject, found.glob, found.samples, found.strength) == ("src/a.py", "src/a.py", 3, 0.75)
    assert found.evidence == ("RALPH-000", "RALPH-001", "RALPH-002")


def test_a_directory_is_a_hot_spot_when_its_files_together_are() -> None:
    records = [ended(number, files_changed=(f"src/deep/{number}.py",), task_type="bug") for number in range(3)]
    [found] = of_kind("bug_hotspot", *records)
    assert (found.subject, found.glob, found.confidence) == ("src/deep/", "src/deep/**", 1.0)


def test_one_task_tried_three_times_is_one_task() -> None:
    tries = [ended(1, loop_id=f"ralph-x-{n:08x}", files_changed=("a/b.py",), success=False) for n in range(3)]
    assert [one.kind for one in patterns(tries, NOW)] == []


def test_files_that_most_tasks_change_churn() -> None:
    records = [ended(number, files_changed=("CHANGELOG.md", f"own{number}.py")) for number in range(5)]
    [found] = of_kind("churn", *records)
    assert (found.subject, found.samples, found.strength) == ("CHANGELOG.md", 5, 1.0)
    assert of_kind("churn", *records[:4]) == []
    alike = [ended(number, files_changed=("a.py", "b.py")) for number in range(5)]
    assert of_kind("churn", *alike) == []  # no more than the mean


def test_a_loop_with_far_more_iterations_stands_out() -> None:
    usual = [ended(number, iterations=2) for number in range(9)]
    [found] = of_kind("iteration_anomaly", *usual, ended(9, iterations=30))
    assert (found.subject, found.evidence, found.samples, found.confidence) == ("RALPH-009", ("RALPH-009",), 10, 1.0)
    assert of_kind("iteration_anomaly", *usual[:3], ended(9, iterations=30)) == []
    assert of_kind("iteration_anomaly", *usual) == []


def test_two_tasks_that_failed_for_the_same_reason_show_a_failure_mode() -> None:
    first = ended(1, success=False, blockers=('10 iterations are over, "a.py" is broken',))
    second = ended(2, success=False, blockers=('12 iterations are over, "b.py" is broken',))
    other = ended(3, success=False, blockers=("the agent is gone",))
    assert of_kind("failure_mode", first, other) == []
    [found] = of_kind("failure_mode", first, second, other)
    assert (found.subject, found.samples, found.strength) == ("n iterations are over, ... is broken", 2, 0.6667)
    assert found.evidence == ("RALPH-001", "RALPH-002")


def test_two_tasks_that_failed_in_the_same_place_show_a_failure_mode() -> None:
    records = [ended(number, success=False, files_changed=(f"src/{number}.py",)) for number in range(2)]
    [found] = of_kind("failure_mode", *records, ended(5, files_changed=("src/5.py",)))
    assert (found.subject, found.glob, found.strength) == ("src/", "src/**", 0.6667)


def test_tasks_that_wait_for_one_another_are_a_chain() -> None:
    records = [
        ended(1),
        ended(2, blocked_by=("RALPH-001", "RALPH-404")),
        ended(3, blocked_by=("RALPH-002", "RALPH-001")),
        ended(4),
        ended(5, blocked_by=("RALPH-004",)),
    ]
    [found] = of_kind("blocking_chain", *records)
    assert (found.subject, found.samples, found.strength) == ("RALPH-001", 3, 0.6)
    assert found.message.endswith("RALPH-001, RALPH-002, RALPH-003")


def test_tasks_that_wait_in_a_circle_are_no_chain_and_a_long_one_is_no_trouble() -> None:
    circle = [ended(number, blocked_by=(f"RALPH-{(number + 1) % 3:03d}",)) for number in range(3)]
    assert of_kind("blocking_chain", *circle) == []
    long = [ended(number, blocked_by=(f"RALPH-{number - 1:03d}",)) for number in range(3000)]
    [found] = of_kind("blocking_chain", *long)
    assert (found.samples, len(found.evidence)) == (3000, 100)


def test_what_is_older_than_90_days_does_not_count() -> None:
    records = [ended(number, success=False, blockers=("x",), days_ago=91) for number in range(2)]
    assert patterns(records, NOW) == ()
    assert len(patterns(records, NOW - timedelta(days=10))) == 1


def test_a_loop_counts_once_however_often_it_is_written_down() -> None:
    record = ended(1, success=False, blockers=("x",))
    later = ended(1, days_ago=0.5)
    assert finished([record, later, record]) == finished([later, record, later]) == [later]


def test_a_failure_without_a_reason_is_of_no_kind() -> None:
    assert failure_kind(ended(1, success=False)) == ""


TEXTS = st.text(max_size=12) | st.sampled_from(["src/a.py", "src/b/c.py", "/", "//", "a/", "RALPH-001", "\x1b[31m"])
WHENS = st.datetimes(timezones=st.just(UTC)) | st.integers(0, 200).map(lambda days: NOW - timedelta(days=days))
ENDS = st.builds(
    TaskCompleted,
    task_id=st.sampled_from([f"RALPH-{number:03d}" for number in range(8)]) | TEXTS,
    loop_id=st.sampled_from([f"ralph-x-{number:08x}" for number in range(20)]),
    actual=st.integers(0, 10**30),
    iterations=st.integers(0, 12) | st.integers(0, 10**30),
    success=st.booleans(),
    timestamp=WHENS,
    estimate=st.just(UNSET) | st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from([0.0, 1.0, 5e-324]),
    task_type=st.just(UNSET) | st.sampled_from(["bug", "task"]) | TEXTS,
    files_changed=st.lists(TEXTS, max_size=4).map(tuple),
    files_changed_count=st.just(0),
    blockers=st.lists(TEXTS, max_size=2).map(tuple),
    blocked_by=st.lists(TEXTS | st.sampled_from(["RALPH-002", "RALPH-003"]), max_size=3).map(tuple),
    lessons=st.just(()),
)
NOTES = st.builds(Lesson, id=TEXTS, text=TEXTS, source=st.just("human"), created_at=WHENS)


@given(records=st.lists(ENDS | NOTES, max_size=40), seed=st.randoms(use_true_random=False))
def test_whatever_is_recorded_patterns_are_found_and_the_order_of_lines_is_no_matter(
    records: list[Learnt], seed: random.Random
) -> None:
    found = patterns(records, NOW)
    for one in found:
        assert 0 <= one.strength <= 1
        assert 0 <= one.confidence <= one.strength
        assert one.confidence == round(one.confidence, 4)
        assert one.samples >= len(one.evidence) >= 1
        assert one.message.isprintable()
    shuffled = [*records]
    seed.shuffle(shuffled)
    assert patterns(shuffled, NOW) == found
    assert patterns([*records, *records], NOW) == found


def test_dates_at_the_ends_of_time_are_no_trouble() -> None:
    records = [ended(number, timestamp=datetime.max.replace(tzinfo=UTC)) for number in range(5)]
    assert patterns(records, datetime.min.replace(tzinfo=UTC)) == ()
