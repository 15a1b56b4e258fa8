"""A file that is there and not empty."""

import time

import msgspec

from untilproven.checks import inside
from untilproven.contract import Evidence, Room


class FileExistsCheck(msgspec.Struct, frozen=True):
    path: str

    @property
    def name(self) -> str:
        return f"{self.path} exists"

    @property
    def kind(self) -> str:
        return "file_exists"

    def run(self, room: Room, *, timeout: float) -> Evidence:  # noqa: ARG002 - the contract's; a look takes no time
        began = time.monotonic()
        try:
            found = room.look(inside.relative(room.root, self.path))
        except inside.Outside as outside:
            return Evidence(passed=False, broken=True, output=outside.message)
        seconds = time.monotonic() - began
        if found is None:
            why = f"{self.path} is not there, or is no regular file of the project"
        elif found.st_size == 0:
            why = f"{self.path} is empty"
        else:
            return Evidence(passed=True, output=f"{self.path} has {found.st_size} bytes", seconds=seconds)
        return Evidence(passed=False, output=why, seconds=seconds)
