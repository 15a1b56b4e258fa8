"""`run --json`: every entry as one line of JSON, in the journal's own words."""

import re
from typing import TextIO

import msgspec

from untilproven.model.events import Entry
from untilproven.model.state import LoopState
from untilproven.store import journal
from untilproven.watch.console.outlet import Outlet

_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class JsonLines:
    def __init__(self, stream: TextIO) -> None:
        self._outlet = Outlet(stream)

    @property
    def gone(self) -> bool:
        return self._outlet.gone

    def happened(self, entry: Entry, state: LoopState) -> None:  # noqa: ARG002  the entry says it all
        self._outlet.write(json_line(encoded(entry)))

    def tick(self) -> None:
        """Nothing happened, so there is nothing to say."""

    def noted(self, words: str) -> None:
        """Only what is recorded is told to programs."""

    def close(self) -> None:
        """Every line was handed over when it was written."""


def encoded(entry: Entry) -> bytes:
    """The line of an entry; of a type that is not known, only the header is."""
    return journal.encode(entry) if entry.event else msgspec.json.encode(entry.header) + b"\n"


def json_line(line: bytes) -> str:
    """The same JSON, with everything escaped that a terminal would obey rather than show."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", line.decode("utf-8", "replace"))
