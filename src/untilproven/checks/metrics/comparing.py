"""What got worse between two measurements. Nothing is derived from a value that either of them lacks."""

from collections.abc import Collection, Iterator

from untilproven.checks.metrics.measuring import Measured
from untilproven.checks.protected import is_allowed
from untilproven.guard.finding import Signal

_WHOLE = "."
"""Where a signal stands that is about the whole project."""
_NOTABLE = 2.0
_NOTABLE_IN_SENSITIVE = 1.0


def drops(baseline: Measured, now: Measured, *, sensitive: Collection[str]) -> list[Signal]:
    """`sensitive` are the user's patterns of paths; each also means everything below what it matches."""
    return [*_coverage(baseline, now, sensitive), *_problems(baseline, now)]


def _coverage(baseline: Measured, now: Measured, sensitive: Collection[str]) -> Iterator[Signal]:
    if baseline.coverage_tool != now.coverage_tool:
        return  # another tool counts otherwise
    whole = (
        ("coverage-drop", "the project", baseline.coverage, now.coverage),
        ("branch-coverage-drop", "branches", baseline.branch_coverage, now.branch_coverage),
    )
    for name, subject, was, is_now in whole:
        if was is not None and is_now is not None and _fall(was, is_now) >= _NOTABLE:
            yield _fallen(name, _WHOLE, subject, was, is_now)
    for path in sorted(baseline.coverage_by_file.keys() & now.coverage_by_file.keys()):
        was, is_now = baseline.coverage_by_file[path], now.coverage_by_file[path]
        # The pattern language is that of `--allow-test-edits`.
        if _fall(was, is_now) >= _NOTABLE_IN_SENSITIVE and is_allowed(path, sensitive):
            yield _fallen("sensitive-coverage-drop", path, path, was, is_now)


def _problems(baseline: Measured, now: Measured) -> Iterator[Signal]:
    numbers = (
        ("types-worse", "type errors", baseline.type_errors, now.type_errors),
        ("lint-worse", "lint errors", baseline.lint_errors, now.lint_errors),
        ("lint-worse", "lint warnings", baseline.lint_warnings, now.lint_warnings),
    )
    for name, subject, was, is_now in numbers:
        if was is not None and is_now is not None and is_now > was:
            yield Signal(name, _WHOLE, 1, subject=subject, was=str(was), now=str(is_now), amount=is_now - was)


def _fall(was: float, is_now: float) -> float:
    return round(was - is_now, 2)


def _fallen(name: str, path: str, subject: str, was: float, is_now: float) -> Signal:
    amount = _fall(was, is_now)
    return Signal(name, path, 1, subject=subject, was=f"{was:g} %", now=f"{is_now:g} %", amount=amount)
