"""The text that Rust's own test harness prints, and nextest's JSON form of it."""

import re
from pathlib import Path

import msgspec

from untilproven.checks.reports.results import ERROR, FAILED, PASSED, SKIPPED, events, lines, result
from untilproven.contract import TestResult

_BINARY = re.compile(r"\s+Running (?:unittests )?(\S+) \((?:.*[/\\])?(.+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)")
_DOC_TESTS = re.compile(r"\s+Doc-tests (\S+)")
_TEST = re.compile(r"test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b")
_NOT_BUILT = re.compile(r"error: could not compile `([^`]+)`")
_OUTCOMES = {"ok": PASSED, "FAILED": FAILED, "failed": FAILED, "ignored": SKIPPED}


class _Event(msgspec.Struct):
    type: str = ""
    event: str = ""
    name: str = ""
    stdout: str = ""


def read(report: Path) -> list[TestResult]:
    """Every test as `crate/source::path`: two crates of a workspace may both have a `tests::works`."""
    results: list[TestResult] = []
    place = ""
    for line in lines(report):
        if found := _BINARY.match(line):
            place = f"{found[2]}/{found[1]}::"
        elif found := _DOC_TESTS.match(line):
            place = f"{found[1]}/doc::"
        elif found := _TEST.match(line):
            results.append(result(place + found[1], _OUTCOMES[found[2]]))
        elif found := _NOT_BUILT.match(line):
            results.append(result(found[1], ERROR, line))
    return results


def read_json(report: Path) -> list[TestResult]:
    """Lines of libtest's JSON, as nextest writes them."""
    return [
        result(event.name, _OUTCOMES[event.event], event.stdout)
        for event in events(report, _Event)
        if not isinstance(event, str) and event.type == "test" and event.event in _OUTCOMES
    ]


def shown(report: Path) -> str:
    return "\n".join(lines(report))
