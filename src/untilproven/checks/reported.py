"""One run of a test runner, and what it reported of each test."""

import msgspec

from untilproven.checks.reports.results import Unreadable, fold
from untilproven.checks.runners.known import Asked, ask
from untilproven.checks.runners.reporting import Also
from untilproven.contract import Ran, Room, TestResult
from untilproven.core.text import cut

_SHOWN = 256 * 1024


class Reported(msgspec.Struct, frozen=True):
    ran: Ran
    tests: tuple[TestResult, ...] | None
    """None if there is no report that can be read; `unread` says why."""
    unread: str = ""
    printed: str = ""
    """What went to the report instead of to the room's output."""


def reported(line: str, room: Room, *, timeout: float, also: Also = Also()) -> Reported | None:  # noqa: B008  immutable
    """None if the runner cannot be asked for a report."""
    with room.scratch() as scratch:
        asked = ask(line, room, scratch, also)
        if asked is None:
            return None
        for name, content in asked.reporting.files:
            (scratch.outside / name).write_bytes(content)
        ran = room.run(asked.line, timeout=timeout)
        try:
            return Reported(ran, fold(asked.reporting.read()), printed=_printed(asked))
        except Unreadable as unreadable:
            return Reported(ran, None, str(unreadable), _printed(asked))


def _printed(asked: Asked) -> str:
    try:
        return cut(asked.reporting.shown(), _SHOWN) if asked.reporting.shown else ""
    except Unreadable:
        return ""
