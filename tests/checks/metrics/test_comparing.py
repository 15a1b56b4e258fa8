from msgspec.structs import replace

from untilproven.checks.metrics.comparing import drops
from untilproven.checks.metrics.measuring import Measured
from untilproven.guard.catalogue import patterns
from untilproven.guard.finding import Signal

BASE = Measured(
    coverage=85,
    branch_coverage=70,
    coverage_by_file={"src/auth/login.py": 90, "src/cart.py": 80, "src/auth.py": 50},
    coverage_tool="lcov",
    type_errors=2,
    lint_errors=1,
    lint_warnings=5,
)


def named(now: Measured, *sensitive: str, base: Measured = BASE) -> list[tuple[str, str, float]]:
    return [(one.name, one.subject, one.amount) for one in drops(base, now, sensitive=sensitive)]


def test_nothing_is_said_of_what_is_as_it_was_or_better() -> None:
    better = Measured(coverage=86, branch_coverage=71, coverage_tool="lcov", type_errors=0, lint_errors=1)
    assert named(BASE) == named(better) == []


def test_coverage_counts_from_two_points_on() -> None:
    assert named(replace(BASE, coverage=83.01, branch_coverage=68.01)) == []
    assert named(replace(BASE, coverage=83, branch_coverage=59.5)) == [
        ("coverage-drop", "the project", 2),
        ("branch-coverage-drop", "branches", 10.5),
    ]
    assert named(replace(BASE, coverage=30.01), base=replace(BASE, coverage=32.01)) == [
        ("coverage-drop", "the project", 2)
    ]


def test_in_sensitive_files_it_counts_from_one_point_on() -> None:
    now = replace(BASE, coverage_by_file={"src/auth/login.py": 89, "src/cart.py": 10, "src/auth.py": 49.01})
    assert named(now) == []
    assert named(now, "src/auth", "src/auth.py") == [("sensitive-coverage-drop", "src/auth/login.py", 1)]
    assert named(now, "**/login.*") == [("sensitive-coverage-drop", "src/auth/login.py", 1)]


def test_a_file_that_only_one_side_has_says_nothing() -> None:
    now = replace(BASE, coverage_by_file={"src/auth/new.py": 0})
    assert named(now, "**") == []


def test_more_errors_and_warnings_are_worse() -> None:
    now = replace(BASE, type_errors=4, lint_errors=2, lint_warnings=9)
    assert drops(BASE, now, sensitive=()) == [
        Signal("types-worse", ".", 1, subject="type errors", was="2", now="4", amount=2),
        Signal("lint-worse", ".", 1, subject="lint errors", was="1", now="2", amount=1),
        Signal("lint-worse", ".", 1, subject="lint warnings", was="5", now="9", amount=4),
    ]


def test_nothing_is_derived_from_what_either_side_lacks() -> None:
    worst = Measured(
        coverage=0,
        branch_coverage=0,
        coverage_by_file=dict.fromkeys(BASE.coverage_by_file, 0),
        coverage_tool="lcov",
        type_errors=99,
        lint_errors=99,
        lint_warnings=99,
    )
    unknown = Measured()
    assert len(named(worst, "**")) == 8
    assert named(unknown, "**") == named(worst, "**", base=unknown) == named(unknown, "**", base=unknown) == []


def test_numbers_of_two_tools_are_not_compared() -> None:
    assert named(replace(BASE, coverage=10, coverage_tool="cobertura"), "**") == []


def test_the_guard_has_a_pattern_for_every_drop_of_coverage() -> None:
    now = replace(BASE, coverage=60, branch_coverage=50, coverage_by_file={"src/auth/login.py": 10})
    fitting = {
        one.id for signal in drops(BASE, now, sensitive=["**"]) for one in patterns() if one.fits(signal, "source")
    }
    assert {"LP-009", "LP-011", "UP-031"} <= fitting
