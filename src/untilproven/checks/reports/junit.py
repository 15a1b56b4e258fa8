"""JUnit XML in the dialects of pytest, node, surefire, gradle, ctest, phpunit and nextest."""

from collections.abc import Callable

from untilproven.checks.reports import markup
from untilproven.checks.reports.results import ERROR, FAILED, PASSED, SKIPPED, Report, result
from untilproven.contract import TestResult

Naming = Callable[[dict[str, str], list[str]], str]
"""From a testcase's attributes and the suites around it to the name its runner gives it."""

_VERDICTS = {"failure": FAILED, "error": ERROR, "skipped": SKIPPED}
_NOT_RUN = frozenset({"disabled", "notrun", "skipped", "ignored"})
_MESSAGE = 4_000


def by_class(attributes: dict[str, str], _suites: list[str]) -> str:
    place, name = attributes.get("classname", ""), attributes.get("name", "")
    return name if place in {"", name} else f"{place}::{name}"


def by_suite(attributes: dict[str, str], suites: list[str]) -> str:
    return " > ".join((*suites, attributes.get("name", "")))


def by_file(attributes: dict[str, str], _suites: list[str]) -> str:
    """pytest's own node id, from what it writes in the xunit1 family."""
    file, place, name = (attributes.get(key, "") for key in ("file", "classname", "name"))
    module = file.removesuffix(".py").replace("/", ".")
    if not file:
        return by_class(attributes, [])
    if not place and name == module:  # a file that could not be collected
        return file
    inner = place.removeprefix(module).strip(".")
    return "::".join((file, *inner.split("."), name)) if inner else f"{file}::{name}"


def read(report: Report, naming: Naming = by_class) -> list[TestResult]:
    """Every test case of one file."""
    heard = _Cases(naming)
    markup.listen(report, heard)
    return heard.results


class _Cases:
    def __init__(self, naming: Naming) -> None:
        self.results: list[TestResult] = []
        self._naming = naming
        self._suites: list[str] = []
        self._case: dict[str, str] | None = None
        self._outcome = PASSED
        self._message = ""
        self._inside = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "testsuite":
            self._suites.append(attributes.get("name", ""))
        elif tag == "testcase":
            self._case = attributes
            self._outcome = SKIPPED if attributes.get("status") in _NOT_RUN else PASSED
            self._message = ""
        elif self._case is not None and tag in _VERDICTS and self._outcome not in {FAILED, ERROR}:
            self._outcome, self._message = _VERDICTS[tag], attributes.get("message", "") + "\n"
            self._inside = tag

    def data(self, text: str) -> None:
        if self._inside and len(self._message) < _MESSAGE:
            self._message += text[:_MESSAGE]

    def end(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""
        elif tag == "testsuite":
            self._suites.pop()
        elif tag == "testcase" and self._case is not None:
            self.results.append(result(self._naming(self._case, self._suites), self._outcome, self._message))
            self._case = None
