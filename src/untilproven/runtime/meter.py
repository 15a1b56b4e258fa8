"""What an iteration uses while it runs, against what the loop has left."""

import contextlib
from pathlib import Path
from typing import Literal, TypeVar

from msgspec import UNSET, UnsetType

from untilproven.contract import Worked
from untilproven.core.decide import bounds, spent
from untilproven.core.limits import Limits, Spent, reached
from untilproven.errors import RalphError
from untilproven.model.events import AgentEvent
from untilproven.model.iteration import Usage
from untilproven.model.state import LoopState
from untilproven.model.wire import UNREADABLE
from untilproven.store import files
from untilproven.store.journal import decode

_Number = TypeVar("_Number", int, float)


class _Sum:
    """Usage events, each of which is what was used since the last one. What is never reported stays unknown."""

    def __init__(self) -> None:
        self.cost: float | UnsetType = UNSET
        self.tokens: int | UnsetType = UNSET

    def add(self, event: AgentEvent) -> None:
        if event.kind != "usage" or not event.data:
            return
        cost, tokens = event.data.get("cost_usd"), _tokens(event.data)
        if isinstance(cost, int | float):
            self.cost = (self.cost or 0.0) + cost
        if tokens is not None:
            self.tokens = (self.tokens or 0) + tokens

    def usage(self, agent: str | UnsetType = UNSET, model: str | UnsetType = UNSET) -> Usage | UnsetType:
        if self.cost is UNSET and self.tokens is UNSET:
            return UNSET
        source: Literal["agent"] | UnsetType = "agent" if self.cost is not UNSET else UNSET
        return Usage(total_tokens=self.tokens, cost_usd=self.cost, cost_source=source, agent=agent, model=model)


class Meter:
    """What the iteration has used by what its agent reports along the way, and whether that is too much."""

    def __init__(self, state: LoopState) -> None:
        self._limits, self._spent = bounds(state.allowance), spent(state)
        self._used = _Sum()
        self.add = self._used.add
        each = (state.allowance.iteration_seconds if state.allowance else UNSET) or None
        left = None if self._limits.seconds is None else max(self._limits.seconds - self._spent.seconds, 0.001)
        bound = [seconds for seconds in (each, left) if seconds is not None]
        self.wall = min(bound) if bound else None
        """Seconds this iteration may take."""
        self.wall_limit = "time" if left is not None and self.wall == left else "wall"
        """Whose limit that is: the loop's, or the iteration's own."""

    @property
    def left_usd(self) -> float | None:
        """What is left of a limit on money, as far as that is known."""
        limit, used = self._limits.cost_usd, self._spent.cost_usd
        return None if limit is None or self._spent.cost_unknown else max(limit - (used or 0.0), 0.0)

    @property
    def over(self) -> str:
        """The limit of the loop that is used up: cost or tokens."""
        used = self._used
        stop = reached(
            Limits(cost_usd=self._limits.cost_usd, tokens=self._limits.tokens),
            Spent(cost_usd=_sum(self._spent.cost_usd, used.cost), tokens=_sum(self._spent.tokens, used.tokens)),
        )
        return stop.limit if stop else ""

    def total(self, worked: Worked) -> Usage:
        """What the agent said at its end; where it was stopped before that, what it had said until then. Not if that is
        known to be wrong: unknown stays unknown."""
        told = worked.usage
        if (
            worked.uncounted
            or told.cost_usd is not UNSET
            or told.total_tokens is not UNSET
            or told.input_tokens is not UNSET
        ):
            return told
        return self._used.usage(told.agent, told.model) or told


def usage_in(output: Path) -> Usage | UnsetType:
    """What an agent had reported before its runner was killed; nothing if it had not."""
    meter = _Sum()
    try:
        with files.open_regular(output) as lines:
            for line in lines:
                with contextlib.suppress(*UNREADABLE):
                    event = decode(line).event
                    if isinstance(event, AgentEvent):
                        meter.add(event)
    except (OSError, RalphError):
        return UNSET
    return meter.usage()


def _sum(before: _Number | UnsetType, now: _Number | UnsetType) -> _Number | UnsetType:
    """Before any usage is reported the iteration has used nothing that could be over a limit."""
    return UNSET if now is UNSET else now if before is UNSET else before + now


def _tokens(data: dict[str, object]) -> int | None:
    total = data.get("total_tokens")
    if isinstance(total, int):
        return total
    parts = [part for name in ("input_tokens", "output_tokens") if isinstance(part := data.get(name), int)]
    return sum(parts) if parts else None
