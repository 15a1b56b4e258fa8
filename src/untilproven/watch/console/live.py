"""In a terminal: the lines scroll, and below them a footer is drawn again in place.

Every drawing is one piece that ends with the cursor shown, so nothing has to be put right after a kill.
"""

import time
from collections import deque

from untilproven.core.waiting import needs_a_human
from untilproven.model import events
from untilproven.model.state import LoopState
from untilproven.model.status import Status
from untilproven.store import clock
from untilproven.watch.console.footer import Now
from untilproven.watch.console.lines import Line, line, rendered, width
from untilproven.watch.console.narrator import Narrator
from untilproven.watch.console.resources import Use, descendants_use
from untilproven.watch.console.terminal import Terminal

_BETWEEN_DRAWINGS = 0.25
_BETWEEN_MEASUREMENTS = 2.0
_WAITING = 2000
"""How many lines are kept for a terminal that is held up; older ones are let go."""

_ROWS = 3
"""How many rows a line that scrolls may take: what it comes to stands at its end."""

_HIDE, _SHOW, _CLEAR_BELOW, _BELL = "\x1b[?25l", "\x1b[?25h", "\x1b[J", "\a"


class Live:
    def __init__(self, terminal: Terminal, narrator: Narrator, now: Now, *, colored: bool, measured: bool) -> None:
        self._terminal = terminal
        self._narrator = narrator
        self._now = now
        self._colored = colored
        self._measured = measured
        self._lines: deque[Line] = deque(maxlen=_WAITING)
        self._footer: list[str] = []
        self._resting = False
        self._drawn = self._looked = float("-inf")
        self._use: Use | None = None

    @property
    def gone(self) -> bool:
        return self._terminal.gone

    def happened(self, entry: events.Entry, state: LoopState) -> None:
        lines = self._narrator.tell(entry, state)
        self._now.happened(entry, state)
        self._resting = state.status not in {Status.RUNNING, Status.COMPLETING}
        self._lines += lines
        self._draw(at_once=any(one.loud for one in lines))
        if isinstance(entry.event, events.StatusChanged) and needs_a_human(entry.event):
            self._terminal.send(_BELL)

    def tick(self) -> None:
        self._draw()

    def noted(self, words: str) -> None:
        self._lines.append(line(words, loud=True))
        self._draw(at_once=True)

    def close(self) -> None:
        """Leave the lines, without the footer, and the cursor below them."""
        if self._terminal.gone:
            return
        self._resting = True
        self._lines += self._narrator.rest()
        self._draw(at_once=True)
        self._terminal.close()

    def _draw(self, *, at_once: bool = False) -> None:
        at = time.monotonic()
        if self._terminal.gone or self._terminal.busy or (at - self._drawn < _BETWEEN_DRAWINGS and not at_once):
            return
        self._drawn = at
        columns, rows = self._terminal.size()
        footer = [] if self._resting else self._drawn_footer(columns, rows)
        if footer == self._footer and not self._lines:
            return
        room = _ROWS * columns - 1
        lines = "".join(rendered(one, room=room, colored=self._colored) + "\n" for one in self._lines)
        self._lines.clear()
        self._terminal.send(f"{_HIDE}{self._erased(columns)}{lines}{chr(10).join(footer)}{_SHOW}")
        self._footer = footer

    def _drawn_footer(self, columns: int, rows: int) -> list[str]:
        if self._measured and self._drawn - self._looked >= _BETWEEN_MEASUREMENTS:
            self._looked, self._use = self._drawn, descendants_use()
        shown = self._now.lines(columns - 1, clock.now(), self._use)[: max(rows - 1, 1)]
        return [rendered(one, room=columns - 1, colored=self._colored) for one in shown]

    def _erased(self, columns: int) -> str:
        """Back to where the footer began; a narrower terminal has broken its lines."""
        taken = sum(max(-(-_visible(text) // columns), 1) for text in self._footer)
        return "\r" + (f"\x1b[{taken - 1}A" if taken > 1 else "") + _CLEAR_BELOW


def _visible(text: str) -> int:
    """The columns of a drawn line: our own colors take none."""
    plain, *colored = text.split("\x1b[")
    return width(plain) + sum(width(part.partition("m")[2]) for part in colored)
