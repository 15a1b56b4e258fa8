"""The JSON of rspec's own formatter."""

from pathlib import Path

import msgspec

from untilproven.checks.reports.results import ERROR, FAILED, PASSED, SKIPPED, document, from_root, result
from untilproven.contract import TestResult

_OUTCOMES = {"passed": PASSED, "failed": FAILED, "pending": SKIPPED}


class _Problem(msgspec.Struct):
    message: str = ""


class _Example(msgspec.Struct):
    full_description: str
    status: str
    file_path: str
    exception: _Problem | None = None


class _Summary(msgspec.Struct):
    errors_outside_of_examples_count: int = 0


class _Report(msgspec.Struct):
    examples: tuple[_Example, ...]
    summary: _Summary
    messages: tuple[str, ...] = ()


def read(report: Path, root: Path) -> list[TestResult]:
    """Every example as `file > description`; what could not be loaded is one error."""
    found = document(report, _Report, "rspec")
    results = [
        result(
            f"{from_root(root, one.file_path)} > {one.full_description}",
            _OUTCOMES.get(one.status, ERROR),
            one.exception.message if one.exception else "",
        )
        for one in found.examples
    ]
    if found.summary.errors_outside_of_examples_count:
        results.append(result("errors outside of examples", ERROR, "\n".join(found.messages)))
    return results
