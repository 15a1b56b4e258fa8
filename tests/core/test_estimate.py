"""An end is foretold only where the past has a direction."""

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import MOMENT
from untilproven.core.estimate import REACH, WINDOW, Point, estimated_completion, point
from untilproven.model.events import CheckFinished
from untilproven.model.persistence import TestResults

MINUTE = timedelta(minutes=1)
NOW = MOMENT + timedelta(hours=1)


def walked(passed: list[int], total: int = 10, each: timedelta = MINUTE) -> list[Point]:
    """One iteration after the other; as many tests pass as given."""
    return [Point(number, MOMENT + number * each, count, total) for number, count in enumerate(passed, start=1)]


def test_steady_progress_is_carried_on_to_its_end() -> None:
    assert estimated_completion(walked([1, 2, 3, 4]), NOW) == NOW + 6 * MINUTE
    assert estimated_completion(walked([2, 4, 6]), NOW) == NOW + 2 * MINUTE
    assert estimated_completion(walked([1, 4, 7]), NOW) == NOW + MINUTE


@pytest.mark.parametrize(
    "passed",
    [
        [],
        [1],
        [1, 5],
        [5, 5, 5],
        [5, 4, 3],
        [1, 9, 1, 9, 1, 9],
        [1, 6, 2, 7, 3],
        [2, 5, 5, 5, 5],
        [1, 2, 3, 4, 5, 5, 5],
        [3, 6, 10],
        [0, 0, 0],
    ],
)
def test_nothing_is_foretold_without_a_direction(passed: list[int]) -> None:
    assert estimated_completion(walked(passed), NOW) is None


def test_one_step_back_among_many_forward_is_no_noise() -> None:
    assert estimated_completion(walked([1, 2, 1, 3, 4, 5]), NOW) is not None


def test_a_night_of_pause_changes_nothing() -> None:
    points = walked([1, 2, 3, 4, 5])
    late = [*points[:3], *(Point(p.iteration, p.at + timedelta(hours=9), p.passed, p.total) for p in points[3:])]
    assert estimated_completion(late, NOW) == estimated_completion(points, NOW)


def test_an_iteration_without_checks_counts_as_one_all_the_same() -> None:
    points = [point for point in walked([1, 2, 3, 4, 5, 6]) if point.iteration not in {2, 4}]
    assert estimated_completion(points, NOW) == NOW + 4 * MINUTE


def test_new_tests_that_pass_and_tests_that_cannot_be_found_are_no_progress() -> None:
    added = [Point(n, MOMENT + n * MINUTE, 5 + 10 * n, 10 + 10 * n) for n in range(1, 5)]
    assert added[-1].share > added[0].share
    assert estimated_completion(added, NOW) is None
    lost = [*walked([2, 3, 4]), Point(4, MOMENT + 4 * MINUTE, 0, 1)]
    assert estimated_completion(lost, NOW) is None
    fewer = [Point(0, MOMENT, 95, 100), *walked([1, 2, 3, 4, 5, 6, 7, 8, 9])]
    assert estimated_completion(fewer, NOW) is None


def test_a_point_without_tests_is_passed_over() -> None:
    points = [Point(0, MOMENT, 0, 0), *walked([1, 2, 3, 4]), Point(5, MOMENT + 5 * MINUTE, 0, 0)]
    assert estimated_completion(points, NOW) == NOW + 6 * MINUTE


def test_what_is_further_away_than_the_limits_is_not_foretold() -> None:
    points = walked([1, 2, 3, 4])
    assert estimated_completion(points, NOW, iterations_left=6) == NOW + 6 * MINUTE
    assert estimated_completion(points, NOW, iterations_left=5) is None
    assert estimated_completion(points, NOW, latest=NOW + 6 * MINUTE) == NOW + 6 * MINUTE
    assert estimated_completion(points, NOW, latest=NOW + 5 * MINUTE) is None


def test_a_trend_is_not_carried_on_for_ever() -> None:
    assert estimated_completion(walked([1, 2, 3], total=3 + 2 * REACH), NOW) is not None
    assert estimated_completion(walked([1, 2, 3], total=4 + 2 * REACH), NOW) is None


def test_only_the_last_iterations_are_looked_at() -> None:
    old = walked([9, 1, 8, 2, 7, 1, 1])
    new = [Point(n, MOMENT + n * MINUTE, n, 30) for n in range(8, 8 + WINDOW)]
    assert estimated_completion([*old, *new], NOW) == estimated_completion(new, NOW) is not None


def test_a_clock_that_was_set_back_or_a_moment_beyond_all_time_foretells_nothing() -> None:
    assert estimated_completion(walked([1, 2, 3], each=-MINUTE), NOW) is None
    assert estimated_completion(walked([1, 2, 3], each=timedelta(days=700_000)), NOW) is None


def check(*, passed: bool, tests: TestResults | None = None) -> CheckFinished:
    made = CheckFinished(iteration=1, check="c", kind="tests", passed=passed)
    return CheckFinished(iteration=1, check="c", kind="tests", passed=passed, tests=tests) if tests else made


def test_tests_are_counted_where_they_are_seen_and_checks_where_not() -> None:
    seen = check(passed=False, tests=TestResults(total=10, passed=6, failed=2, skipped=2))
    assert point(1, MOMENT, [seen]) == Point(1, MOMENT, 6, 8)
    assert point(1, MOMENT, [seen, check(passed=True), check(passed=False)]) == Point(1, MOMENT, 7, 10)
    assert point(1, MOMENT, [check(passed=False, tests=TestResults(total=0))]) == Point(1, MOMENT, 0, 1)
    assert point(1, MOMENT, []) is None


points = st.builds(
    Point,
    st.integers(1, 10_000),
    st.integers(-(10**9), 10**9).map(lambda seconds: MOMENT + timedelta(seconds=seconds)),
    st.integers(-1, 20),
    st.integers(-1, 20),
)


@given(st.lists(points, max_size=30), st.none() | st.integers(-1, 500))
def test_whatever_happened_the_answer_lies_ahead_or_there_is_none(past: list[Point], left: int | None) -> None:
    done = estimated_completion(past, NOW, iterations_left=left)
    assert done is None or (done > NOW and (left is None or left > 0))


@given(st.integers(0, 50), st.integers(1, 20), st.integers(3, WINDOW), st.integers(1, 3600))
def test_a_straight_line_is_met_exactly(start: int, step: int, count: int, seconds: int) -> None:
    passed = [start + step * number for number in range(count)]
    needed = 4
    past = walked(passed, passed[-1] + needed * step, timedelta(seconds=seconds))
    assert estimated_completion(past, NOW) == NOW + needed * timedelta(seconds=seconds)


@given(st.lists(st.integers(0, 99), min_size=3, max_size=WINDOW), st.integers(2, 50))
def test_the_unit_of_counting_does_not_matter(passed: list[int], factor: int) -> None:
    once = estimated_completion(walked(passed, 100), NOW)
    assert once == estimated_completion(walked([count * factor for count in passed], 100 * factor), NOW)


@given(st.lists(st.integers(0, 99), min_size=3, max_size=WINDOW))
def test_no_end_is_foretold_to_work_that_does_not_get_better(passed: list[int]) -> None:
    if all(later <= earlier for earlier, later in pairwise(passed)):
        assert estimated_completion(walked(passed, 100), NOW) is None
    assert estimated_completion(walked(sorted(passed, reverse=True), 100), NOW) is None


@given(st.lists(st.integers(0, 99), min_size=3, max_size=WINDOW), st.integers(1, 300))
def test_a_limit_only_ever_takes_an_answer_away(passed: list[int], left: int) -> None:
    free = estimated_completion(walked(passed, 100), NOW)
    assert estimated_completion(walked(passed, 100), NOW, iterations_left=left) in {free, None}
