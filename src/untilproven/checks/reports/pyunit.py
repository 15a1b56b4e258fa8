"""What our own reporter writes from inside `python -m unittest`."""

from pathlib import Path

from untilproven.checks.reports.results import ERROR, FAILED, PASSED, SKIPPED, document, result
from untilproven.contract import TestResult

_OUTCOMES = frozenset({PASSED, SKIPPED, FAILED, ERROR})


def read(report: Path) -> list[TestResult]:
    """Rows of name, outcome and message."""
    rows = document(report, list[tuple[str, str, str]], "our unittest reporter")
    return [result(name, outcome if outcome in _OUTCOMES else ERROR, message) for name, outcome, message in rows]
