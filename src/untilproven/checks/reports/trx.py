"""The test results file of `dotnet test`."""

from pathlib import Path

from untilproven.checks.reports import markup
from untilproven.checks.reports.results import ERROR, FAILED, PASSED, SKIPPED, result
from untilproven.contract import TestResult

_OUTCOMES = {"Passed": PASSED, "Failed": FAILED, "NotExecuted": SKIPPED}
_MESSAGE = 4_000


def read(report: Path) -> list[TestResult]:
    """Every UnitTestResult, by the name that holds its class."""
    heard = _Results()
    markup.listen(report, heard)
    return [result(name, outcome, message) for name, outcome, message in heard.found]


class _Results:
    def __init__(self) -> None:
        self.found: list[tuple[str, str, str]] = []
        self._inside = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "UnitTestResult":
            outcome = _OUTCOMES.get(attributes.get("outcome", ""), ERROR)
            self.found.append((attributes.get("testName", ""), outcome, ""))
        self._inside = tag == "Message" and bool(self.found)

    def data(self, text: str) -> None:
        if self._inside:
            name, outcome, message = self.found[-1]
            self.found[-1] = (name, outcome, (message + text)[:_MESSAGE])

    def end(self, tag: str) -> None:
        self._inside = self._inside and tag != "Message"
