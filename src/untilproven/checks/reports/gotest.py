"""`go test -json`: one event a line, with the compiler's own lines between them."""

import re
from collections import defaultdict
from pathlib import Path

import msgspec

from untilproven.checks.reports.results import ERROR, FAILED, PASSED, SKIPPED, events, result
from untilproven.contract import TestResult

_OUTCOMES = {"pass": PASSED, "fail": FAILED, "skip": SKIPPED}
_NOT_BUILT = re.compile(r"FAIL\t(\S+) \[(?:build|setup) failed\]")
_MESSAGE = 4_000


class _Event(msgspec.Struct, rename="pascal"):
    action: str
    package: str = ""
    test: str = ""
    output: str = ""


def read(report: Path) -> list[TestResult]:
    """Every test and subtest as `package.Test/sub`; a package that failed by itself is an error of its own."""
    said: dict[tuple[str, str], str] = defaultdict(str)
    results: list[TestResult] = []
    red: set[str] = set()
    for event in events(report, _Event):
        if isinstance(event, str):
            if found := _NOT_BUILT.match(event):
                results.append(result(found[1], ERROR, event))
            continue
        key = (event.package, event.test)
        if event.action == "output" and len(said[key]) < _MESSAGE:
            said[key] += event.output
        elif event.test and event.action in _OUTCOMES:
            results.append(result(f"{event.package}.{event.test}", _OUTCOMES[event.action], said.pop(key, "")))
            red |= {event.package} if event.action == "fail" else set()
        elif event.package and event.action == "fail" and event.package not in red:
            results.append(result(event.package, ERROR, said[key]))
    return results


def shown(report: Path) -> str:
    """What `go test` would have printed."""
    return "".join(f"{event}\n" if isinstance(event, str) else event.output for event in events(report, _Event))
