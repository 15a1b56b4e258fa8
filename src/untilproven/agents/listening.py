"""Listening to a program: every line as an event as long as that helps somebody, its own words kept within bounds."""

from typing import Any

from msgspec import UNSET

from untilproven.agents.spending import SUMS
from untilproven.contract import Emit
from untilproven.core.text import cut
from untilproven.model.events import AgentEvent
from untilproven.model.iteration import Usage
from untilproven.model.program import Stream
from untilproven.process.lines import Lines
from untilproven.process.spool import Excerpt

MOST_LINES = 2000
_LONGEST_LINE = 4096
_LONGEST_TEXT = 64 * 1024
_ROUNDING = 1e-9
_MORE = "output goes on; all of it is kept under outputs/"


class Telling:
    """What is told about one iteration of an agent."""

    def __init__(self, emit: Emit, iteration: int) -> None:
        self._emit, self._iteration = emit, iteration
        self._left = MOST_LINES
        self._used: dict[str, Any] = {}

    def event(self, kind: Any, text: str = "", data: dict[str, Any] | None = None) -> None:
        if kind == "usage":
            for name in SUMS:
                self._used[name] = self._used.get(name, 0) + ((data or {}).get(name) or 0)
        text = cut(text, _LONGEST_TEXT) if len(text) > _LONGEST_TEXT // 4 else text
        self._emit(AgentEvent(iteration=self._iteration, kind=kind, text=text or UNSET, data=data or UNSET))

    def untold(self, usage: Usage) -> Usage:
        """What of it was not told yet: each report is over what was used since the one before."""
        left: dict[str, Any] = {}
        for name in SUMS:
            if (more := (getattr(usage, name) or 0) - self._used.get(name, 0)) > _ROUNDING:
                left[name] = more
        source = usage.cost_source if "cost_usd" in left else UNSET
        return Usage(**left, cost_source=source, model=usage.model) if left else Usage()

    @property
    def tired(self) -> bool:
        """Whether enough lines were told, and nobody needs to look for more."""
        return self._left < 0

    def line(self, text: str, data: dict[str, Any] | None) -> None:
        """A line of output, one of the first."""
        if self._left > 0:
            self._emit(AgentEvent(iteration=self._iteration, kind="text", text=text, data=data or UNSET))
        elif self._left == 0:
            self.event("text", _MORE, {"note": True})
        self._left -= 1


class Printed:
    """A stream of the program's output, told line by line."""

    def __init__(self, telling: Telling, data: dict[str, Any] | None = None) -> None:
        self._telling, self._data = telling, data
        self._lines = Lines(_LONGEST_LINE)

    def write(self, chunk: bytes) -> None:
        if not self._telling.tired:
            self._tell(self._lines.feed(chunk))

    def finish(self) -> None:
        if not self._telling.tired:
            self._tell(self._lines.finish())

    def _tell(self, lines: Any) -> None:
        for line in lines:
            self._telling.line(line, self._data)
            if self._telling.tired:
                return


class Voice:
    """A command's own words, on stdout, and its chatter beside them, on stderr."""

    def __init__(self, telling: Telling) -> None:
        self._said = Excerpt()
        self._streams: dict[Stream, Printed] = {
            "stdout": Printed(telling),
            "stderr": Printed(telling, {"stream": "stderr"}),
        }

    def hear(self, stream: Stream, chunk: bytes) -> None:
        if stream == "stdout":
            self._said.write(chunk)
        self._streams[stream].write(chunk)

    def said(self) -> str:
        """All that it said, once it has ended."""
        for printed in self._streams.values():
            printed.finish()
        return self._said.text()
