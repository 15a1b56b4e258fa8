"""A command that succeeds."""

import msgspec

from untilproven.checks import ending
from untilproven.contract import Evidence, Room


class CommandCheck(msgspec.Struct, frozen=True):
    """Exit 0 is done."""

    line: str

    @property
    def name(self) -> str:
        return self.line

    @property
    def kind(self) -> str:
        return "command"

    def run(self, room: Room, *, timeout: float) -> Evidence:
        ran = room.run(self.line, timeout=timeout)
        if broken := ending.could_not_run(room, self.line, ran):
            return broken
        if why := ending.why_not(ran, timeout):
            return ending.failed(ran, why)
        return Evidence(passed=True, output=ran.output, seconds=ran.seconds)
