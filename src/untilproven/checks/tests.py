"""Tests, read one by one: green means that some were seen to pass and none to fail."""

import re
import shlex

import msgspec

from untilproven.checks import ending
from untilproven.checks.command import CommandCheck
from untilproven.checks.reported import Reported, reported
from untilproven.checks.reports.results import PASSED, RED
from untilproven.contract import Evidence, Room, TestResult

_NAMED = 5
_MANY = 50


class TestsCheck(msgspec.Struct, frozen=True):
    """A known test runner. With `grep`, only the tests whose names hold it count, whatever the others do."""

    __test__ = False  # its name looks like a test class to pytest

    line: str
    grep: str = ""

    @property
    def name(self) -> str:
        return f"{self.line} (only {self.grep})" if self.grep else self.line

    @property
    def kind(self) -> str:
        return "tests"

    def run(self, room: Room, *, timeout: float) -> Evidence:
        found = reported(self.line, room, timeout=timeout)
        if found is None:
            return self._by_exit_code(room, timeout)
        return ending.could_not_run(room, self.line, found.ran) or judged(found, self.grep, timeout)

    def _by_exit_code(self, room: Room, timeout: float) -> Evidence:
        """A script that ends in an unknown program; the task's id is passed on as source 002 has it."""
        line = self.line
        if self.grep and "--grep" not in line:
            line = f"{line} -- --grep {shlex.quote(self.grep)}"
        return CommandCheck(line).run(room, timeout=timeout)


def judged(found: Reported, grep: str, timeout: float, *, discounted: bool = False) -> Evidence:
    """What a run says. Its exit code counts too, unless it is `discounted` as that of a run with a test that had to
    fail."""
    tests = found.tests
    if grep and tests is not None:
        tests = tuple(test for test in tests if _holds(test.name, grep))
    ended = "" if discounted and found.ran.exit_code is not None else ending.why_not(found.ran, timeout)
    why = found.unread or _why_not(tests or (), grep)
    if ended and not (grep and not why and found.ran.exit_code is not None):
        why = f"{ended}; {why}" if why else ended
    summary = why or f"tests passed: {sum(test.outcome == PASSED for test in tests or ())}"
    output = "\n".join((summary, *_messages(tests or ()), found.printed, found.ran.output))
    return Evidence(passed=not why, output=output, seconds=found.ran.seconds, tests=tests)


def _why_not(tests: tuple[TestResult, ...], grep: str) -> str:
    """One sentence on tests that are no success; empty for a success."""
    red = [test.name for test in tests if test.outcome in RED]
    if red:
        more = f" and {len(red) - _NAMED} more" if len(red) > _NAMED else ""
        return f"{len(red)} of {len(tests)} tests fail: {', '.join(red[:_NAMED])}{more}"
    if not any(test.outcome == PASSED for test in tests):
        what = f"no test named for {grep}" if grep else "no test"
        return f"{what} was seen to pass: {len(tests)} skipped" if tests else f"{what} was seen to run"
    return ""


def _holds(name: str, grep: str) -> bool:
    """`RALPH-001` is in `test_ralph_001_adds` too: few languages allow a dash in a name."""
    return grep in name or f"_{_plain(grep)}_" in f"_{_plain(name)}_"


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "_", text.casefold()).strip("_")


def _messages(tests: tuple[TestResult, ...]) -> list[str]:
    red = [test for test in tests if test.outcome in RED]
    return [f"{test.outcome}: {test.name}\n{test.message}" for test in red[:_MANY]]
