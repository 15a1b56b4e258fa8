"""The JSON of mocha's own reporter."""

from pathlib import Path

import msgspec

from untilproven.checks.reports.results import FAILED, PASSED, SKIPPED, document, from_root, result
from untilproven.contract import TestResult


class _Problem(msgspec.Struct):
    message: str = ""
    stack: str = ""


class _Test(msgspec.Struct, rename="camel"):
    full_title: str
    file: str | None = None
    err: _Problem = msgspec.field(default_factory=_Problem)


class _Report(msgspec.Struct):
    passes: tuple[_Test, ...]
    failures: tuple[_Test, ...]
    pending: tuple[_Test, ...] = ()


def read(report: Path, root: Path) -> list[TestResult]:
    """Every test as `file > full title`."""
    found = document(report, _Report, "mocha")
    groups = ((found.passes, PASSED), (found.pending, SKIPPED), (found.failures, FAILED))
    return [
        result(f"{from_root(root, test.file or '')} > {test.full_title}", outcome, test.err.stack or test.err.message)
        for tests, outcome in groups
        for test in tests
    ]
