"""The score of an iteration, the best of several, and when nothing is gained any more."""

import pytest

from untilproven.core.quality import Evidence, Scored, best, gains_in_a_row, is_worse, on_plateau, score
from untilproven.model.events import CheckFinished
from untilproven.model.fields import Severity
from untilproven.model.iteration import Finding
from untilproven.model.persistence import TestResults


def check(
    name: str = "pytest", *, passed: bool = True, tests: tuple[int, int] | None = None, lost: str = ""
) -> CheckFinished:
    more = {"lost": lost} if lost else {}
    if tests:
        more["tests"] = TestResults(total=tests[1], passed=tests[0], failed=tests[1] - tests[0], skipped=0)  # type: ignore[assignment]
    return CheckFinished(iteration=1, check=name, kind="tests", passed=passed, **more)  # type: ignore[arg-type]


def breakdown(evidence: Evidence) -> dict[str, float]:
    found = score(evidence)
    assert found is not None
    return {name: value for name in found[1].__struct_fields__ if isinstance(value := getattr(found[1], name), float)}


def test_without_evidence_there_is_no_score() -> None:
    assert score(Evidence(files=3, findings=())) is None


def test_a_dimension_without_evidence_is_left_out_and_the_others_weigh_more() -> None:
    evidence = Evidence(checks={"pytest": check()}, wanted=("pytest",), findings=(), progressed=True)
    assert score(evidence) == (100.0, score(evidence)[1])  # type: ignore[index]
    assert set(breakdown(evidence)) == {"completeness", "readability", "efficiency"}


@pytest.mark.parametrize(
    ("tests", "before", "lost", "correct"),
    [((3, 4), None, "", 75.0), ((2, 2), (2, 4), "", 50.0), ((4, 4), (2, 4), "", 100.0), ((4, 4), (4, 4), "x", 75.0)],
)
def test_correctness_is_the_share_of_tests_that_pass_of_those_there_are_or_were(
    tests: tuple[int, int], before: tuple[int, int] | None, lost: str, correct: float
) -> None:
    control = {"pytest": check(tests=before)} if before else {}
    evidence = Evidence(checks={"pytest": check(tests=tests, lost=lost)}, wanted=("pytest",), control=control)
    assert breakdown(evidence)["correctness"] == correct


@pytest.mark.parametrize(
    ("was", "now", "expected"), [(12, 0, 100), (12, 12, 70), (12, 6, 85), (6, 12, 35), (0, 0, 100), (0, 1, 35)]
)
def test_validation_compares_with_the_baseline(was: int, now: int, expected: float) -> None:
    evidence = Evidence(checks={"c": check("c")}, wanted=("c",), problems=((was, now),))
    assert breakdown(evidence)["validation"] == expected


def test_completeness_is_the_share_of_the_criteria() -> None:
    checks = {"a": check("a"), "b": check("b", passed=False)}
    assert breakdown(Evidence(checks=checks, wanted=("a", "b")))["completeness"] == 50.0


def test_readability_falls_with_what_the_guard_and_the_linter_say() -> None:
    found = [
        Finding(pattern_id="X", pattern_name="x", severity=severity, blocking=False)
        for severity in (Severity.MEDIUM, Severity.LOW)
    ]
    evidence = Evidence(checks={"c": check("c")}, wanted=("c",), findings=found, new_warnings=4)
    assert breakdown(evidence)["readability"] == 100 - 10 - 3 - 8


def test_efficiency_falls_with_the_size_of_the_change_and_without_a_gain() -> None:
    small = Evidence(checks={"c": check("c")}, wanted=("c",), files=0, progressed=True)
    large = Evidence(checks={"c": check("c")}, wanted=("c",), files=100, progressed=False)
    assert (breakdown(small)["efficiency"], breakdown(large)["efficiency"]) == (100.0, 25.0)


def scored(*scores: float) -> tuple[Scored, ...]:
    return tuple(Scored(number, one) for number, one in enumerate(scores, 1))


def test_of_equals_the_earlier_is_the_best() -> None:
    found = best(scored(60, 85, 83, 85))
    assert found is not None
    assert found.iteration == 2
    assert best(()) is None


def test_what_passes_for_the_same_is_not_worse() -> None:
    assert not is_worse(Scored(2, 96), Scored(1, 100))
    assert is_worse(Scored(2, 94), Scored(1, 100))


@pytest.mark.parametrize(
    ("scores", "flat"),
    [((50, 51, 52, 53), True), ((50, 51, 52), False), ((50, 60, 61, 62), False), ((80, 70, 71, 72), True)],
)
def test_three_iterations_that_gain_next_to_nothing_are_a_plateau(scores: tuple[float, ...], flat: bool) -> None:
    assert on_plateau(scored(*scores)) is flat


def test_gains_are_counted_as_long_as_nothing_is_found() -> None:
    assert gains_in_a_row(scored(10, 50, 60)) == 2
    assert gains_in_a_row((Scored(1, 10), Scored(2, 50, clean=False), Scored(3, 60))) == 1
    assert gains_in_a_row(()) == 0
