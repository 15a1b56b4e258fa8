"""The JSON of jest, which vitest writes as well."""

from pathlib import Path

import msgspec

from untilproven.checks.reports.results import ERROR, FAILED, PASSED, SKIPPED, document, from_root, result
from untilproven.contract import TestResult

_OUTCOMES = {"passed": PASSED, "failed": FAILED, "pending": SKIPPED, "skipped": SKIPPED, "todo": SKIPPED}


class _Assertion(msgspec.Struct, rename="camel"):
    title: str
    status: str
    ancestor_titles: tuple[str, ...] = ()
    failure_messages: tuple[str, ...] | None = ()


class _File(msgspec.Struct, rename="camel"):
    name: str
    status: str
    message: str = ""
    assertion_results: tuple[_Assertion, ...] = ()


class _Report(msgspec.Struct, rename="camel"):
    test_results: tuple[_File, ...]


def read(report: Path, root: Path) -> list[TestResult]:
    """Every test as `file > suite > title`; a file that could not be loaded is an error of its own."""
    found = document(report, _Report, "jest")
    results: list[TestResult] = []
    for file in found.test_results:
        name = from_root(root, file.name)
        for one in file.assertion_results:
            path = " > ".join((name, *one.ancestor_titles, one.title))
            results.append(result(path, _OUTCOMES.get(one.status, SKIPPED), "\n".join(one.failure_messages or ())))
        if file.status == "failed" and not any(one.status == "failed" for one in file.assertion_results):
            results.append(result(name, ERROR, file.message))
    return results
