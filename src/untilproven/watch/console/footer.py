"""The lines at the bottom of a terminal: what is going on now, what it has used, and what may still be used."""

from datetime import datetime
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from untilproven.model import events
from untilproven.model.iteration import Usage
from untilproven.model.plan import Allowance
from untilproven.model.state import LoopMetrics, LoopState, ProgressTracking
from untilproven.watch.color import BOLD, CYAN, DIM, RED, YELLOW
from untilproven.watch.console import said, words
from untilproven.watch.console.lines import Line, Piece, first_line, line, one_line, width
from untilproven.watch.console.resources import Use

_DOING = 3
_BAR = 8
_GAP = "   "


class Now:
    """What the footer shows, gathered from the entries as they come."""

    def __init__(self, *, hint: str, plain_bars: bool = False) -> None:
        self._hint = hint
        self._full, self._empty = ("#", "-") if plain_bars else ("▰", "▱")
        self._state: LoopState | None = None
        self._since: datetime | None = None
        self._iteration = 0
        self._phase = ""
        self._doing: list[tuple[str, str]] = []
        self._text = ""
        self._checks: dict[str, words.Seen] = {}
        self._used = Usage()

    def happened(self, entry: events.Entry, state: LoopState) -> None:
        self._state = state
        match entry.event:
            case events.AgentEvent() as event:
                self._agent(event)
            case events.IterationStarted() as event:
                self._iteration, self._phase, self._since = event.iteration, "", entry.header.ts
                self._doing, self._text, self._used = [], "", Usage()
            case events.IterationObserved():
                self._phase, self._doing, self._text = "checking", [], ""
            case events.CheckFinished() as event:
                self._checks[event.check] = words.seen(event)
            case events.IterationFinished():
                self._since, self._used = None, Usage()
            case events.StatusChanged() as event:
                self._phase = str(event.to)
                self._since = None

    def _agent(self, event: events.AgentEvent) -> None:
        if event.kind == "action":
            self._doing = [*self._doing, said.action(event)][-_DOING:]
            self._text = ""
        elif event.kind in {"text", "error"} and event.text:
            lines = event.text.strip()[-2000:].splitlines()
            self._text = one_line(lines[-1]) if lines else ""
        elif event.kind == "usage":
            self._used = _more(self._used, event.data or {})

    def lines(self, columns: int, at: datetime, use: Use | None) -> list[Line]:
        """At most six lines, the most important first, each in at most so many columns."""
        state = self._state
        if state is None:
            return []
        running = max((at - self._since).total_seconds(), 0.0) if self._since else 0.0
        made = [
            self._head(state, running),
            self._activity(),
            _in_a_row(self._limits(state, running), columns),
            _in_a_row(self._standing(state), columns),
            _in_a_row(_resources(self._spent(state), use), columns),
            line(Piece(f"  {self._hint}", DIM)),
        ]
        return [shown for shown in made if shown.text.strip()]

    def _head(self, state: LoopState, running: float) -> Line:
        where = f"iteration {self._iteration} of {words.iterations(state)}" if self._iteration else "first checks"
        phase = f", {self._phase}" if self._phase else ""
        lasted = f" {words.duration(int(running))}" if self._since else ""
        return line(Piece(f"{where}{phase}", BOLD), Piece(lasted, BOLD), f"  {first_line(state.task or '')}")

    def _activity(self) -> Line:
        if self._text:
            return line(Piece("  says ", DIM), self._text)
        parts: list[str | Piece] = []
        for kind, target in reversed(self._doing):
            parts += [Piece(f"{kind} ", CYAN), target, Piece(" < ", DIM)]
        return line("  ", *parts[:-1])

    def _limits(self, state: LoopState, running: float) -> list[Line]:
        allowed = state.allowance or Allowance(iterations=words.iterations(state))
        metrics = self._spent(state)
        seconds = (metrics.active_seconds or 0.0) + running
        items = [
            self._measured("", state.iteration, allowed.iterations, f"{state.iteration} of {allowed.iterations} done")
        ]
        if allowed.seconds:
            text = f"{words.duration(int(seconds))} of {words.duration(allowed.seconds)}"
            items.append(self._measured("time ", seconds, allowed.seconds, text))
        else:
            items.append(line(f"time {words.duration(int(seconds))}, no limit"))
        cost = "unknown" if metrics.total_cost_usd is UNSET else words.money(metrics.total_cost_usd)
        if allowed.cost_usd is UNSET:
            items.append(line(f"cost {cost}, no limit" if state.iteration else "no money limit"))
        else:
            text = f"{cost} of {words.money(allowed.cost_usd)}"
            items.append(self._measured("cost ", metrics.total_cost_usd or 0.0, allowed.cost_usd, text))
        if allowed.tokens:
            text = f"{metrics.total_tokens or 0:,} of {allowed.tokens:,}"
            items.append(self._measured("tokens ", metrics.total_tokens or 0, allowed.tokens, text))
        return items

    def _spent(self, state: LoopState) -> LoopMetrics:
        """What finished iterations used, and what the running one has reported so far."""
        metrics, used = state.metrics or LoopMetrics(), self._used
        if used.cost_usd is not UNSET:
            metrics = replace(metrics, total_cost_usd=(metrics.total_cost_usd or 0.0) + used.cost_usd)
        if used.total_tokens is not UNSET:
            metrics = replace(metrics, total_tokens=(metrics.total_tokens or 0) + used.total_tokens)
        return metrics

    def _measured(self, label: str, used: float, allowed: float, text: str) -> Line:
        share = min(max(used / allowed, 0.0), 1.0) if allowed else 1.0
        full = round(share * _BAR)
        bar = self._full * full + self._empty * (_BAR - full)
        return line(label, Piece(f"{bar} ", RED if share >= 0.9 else YELLOW if share >= 0.7 else CYAN), text)

    def _standing(self, state: LoopState) -> list[Line]:
        items = [
            line(Piece(f"{check.verdict} ", check.color), check.name, check.found and f" ({check.found})")
            for check in self._checks.values()
        ]
        estimate = (state.progress or ProgressTracking()).estimated_completion
        return [*items, line(f"estimated: {one_line(estimate)}")] if estimate else items


def _more(used: Usage, data: dict[str, Any]) -> Usage:
    """With one more report of an agent, which counts from the last one; what is no number is not counted."""
    cost = data.get("cost_usd")
    if isinstance(cost, int | float):
        used = replace(used, cost_usd=(used.cost_usd or 0.0) + cost)
    named = ["total_tokens"] if data.get("total_tokens") is not None else ["input_tokens", "output_tokens"]
    counts = [count for name in named if isinstance(count := data.get(name), int)]
    return replace(used, total_tokens=(used.total_tokens or 0) + sum(counts)) if counts else used


def _resources(metrics: LoopMetrics, use: Use | None) -> list[Line]:
    items = [] if metrics.total_tokens is UNSET else [line(f"{metrics.total_tokens:,} tokens")]
    if use and use.processes:
        where = words.plural(use.processes, "process", "processes")
        items.append(line(f"cpu {words.duration(use.cpu_seconds)}, {words.size(use.memory)} in {where}"))
    return items


def _in_a_row(items: list[Line], columns: int) -> Line:
    """As many as fit; the first is shown even if it must be cut."""
    pieces: list[Piece] = []
    room = columns
    for item in items:
        room -= width(item.text) + len(_GAP)
        if pieces and room < -1:
            break
        pieces += [Piece(_GAP if pieces else "  "), *item.pieces]
    return Line(tuple(pieces))
