"""Tests, read one by one: green means that some were seen to pass and none to fail."""

import re
import shlex
from pathlib import Path

import msgspec

from untilproven.checks import ending
from untilproven.checks.command import CommandCheck
from untilproven.checks.reports.results import PASSED, RED, Unreadable, fold
from untilproven.checks.runners.known import Asked, ask
from untilproven.contract import Evidence, Ran, Room, TestResult
from untilproven.core.text import cut

_NAMED = 5
_MANY = 50
_SHOWN = 256 * 1024


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
        import tempfile  # noqa: PLC0415  most checks are plain commands, and it is slow to load

        with tempfile.TemporaryDirectory(prefix="ralph-report-") as scratch:
            asked = ask(self.line, room.root, Path(scratch))
            if asked is None:
                return self._by_exit_code(room, timeout)
            for path, content in asked.reporting.files:
                path.write_bytes(content)
            ran = room.run(asked.line, timeout=timeout)
            if broken := ending.could_not_run(room, self.line, ran):
                return broken
            return self._judge(ran, asked, timeout)

    def _by_exit_code(self, room: Room, timeout: float) -> Evidence:
        """A script that ends in an unknown program; the task's id is passed on as source 002 has it."""
        line = self.line
        if self.grep and "--grep" not in line:
            line = f"{line} -- --grep {shlex.quote(self.grep)}"
        return CommandCheck(line).run(room, timeout=timeout)

    def _judge(self, ran: Ran, asked: Asked, timeout: float) -> Evidence:
        tests: tuple[TestResult, ...] | None
        try:
            tests, unread = fold(asked.reporting.read()), ""
        except Unreadable as unreadable:
            tests, unread = None, str(unreadable)
        if self.grep and tests is not None:
            tests = tuple(test for test in tests if _holds(test.name, self.grep))
        ended = ending.why_not(ran, timeout)
        why = unread or _why_not(tests or (), self.grep)
        if ended and not (self.grep and not why and ran.exit_code is not None):
            why = f"{ended}; {why}" if why else ended
        summary = why or f"tests passed: {sum(test.outcome == PASSED for test in tests or ())}"
        output = "\n".join((summary, *_messages(tests or ()), _printed(asked), ran.output))
        return Evidence(passed=not why, output=output, seconds=ran.seconds, tests=tests)


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


def _printed(asked: Asked) -> str:
    """What went to the report instead of to the room's output."""
    try:
        return cut(asked.reporting.shown(), _SHOWN) if asked.reporting.shown else ""
    except Unreadable:
        return ""
