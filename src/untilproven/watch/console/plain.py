"""Without a terminal: one line per thing that matters, with the time."""

from typing import TextIO

from untilproven.model.events import Entry
from untilproven.model.state import LoopState
from untilproven.watch.color import wants_color
from untilproven.watch.console.lines import WIDEST, Line, line, rendered
from untilproven.watch.console.narrator import Narrator
from untilproven.watch.console.outlet import Outlet


class Plain:
    def __init__(self, stream: TextIO, narrator: Narrator, *, room: int = WIDEST) -> None:
        self._outlet = Outlet(stream)
        self._narrator = narrator
        self._room = room
        self._colored = wants_color(stream)

    @property
    def gone(self) -> bool:
        return self._outlet.gone

    def happened(self, entry: Entry, state: LoopState) -> None:
        self._print(self._narrator.tell(entry, state))

    def tick(self) -> None:
        """A line once written does not change."""

    def noted(self, words: str) -> None:
        self._print([line(words, loud=True)])

    def close(self) -> None:
        self._print(self._narrator.rest())

    def _print(self, lines: list[Line]) -> None:
        self._outlet.write("".join(rendered(one, room=self._room, colored=self._colored) + "\n" for one in lines))
