"""A value that could not be had."""

import msgspec

from untilproven.core.text import printable

_LONGEST = 300


class Unmeasured(msgspec.Struct, frozen=True):
    why: str


def because(why: str) -> Unmeasured:
    """For a reason that holds what a program printed: one short line of it, and nothing that moves a cursor."""
    line = " ".join(printable(why).split())
    return Unmeasured(line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…")
