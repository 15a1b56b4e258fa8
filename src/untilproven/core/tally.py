"""Counting while a journal goes by: the newest of a list, and where the tokens came from."""

from collections import deque
from collections.abc import Collection
from typing import Generic, Literal, TypeVar

from msgspec import UNSET, UnsetType

from untilproven.model.iteration import Usage
from untilproven.model.state import LoopMetrics

LISTED = 200
"""How many entries of a list are kept."""

T = TypeVar("T")


class Newest(Generic[T]):
    """The newest of many, and how many there were before them."""

    def __init__(self) -> None:
        self._kept: deque[T] = deque(maxlen=LISTED)
        self.seen = 0

    def add(self, item: T) -> None:
        self._kept.append(item)
        self.seen += 1

    def items(self) -> tuple[T, ...]:
        return tuple(self._kept)

    @property
    def dropped(self) -> int:
        return self.seen - len(self._kept)


class SpentTokens:
    """Which tokens, by whose account. The sums themselves are the state's."""

    def __init__(self) -> None:
        self.unknown = 0
        self._input = self._output = 0
        self._sources: set[Literal["agent", "prices"]] = set()
        self._models: set[str] = set()

    def add(self, usage: Usage) -> None:
        known = (usage.total_tokens, usage.input_tokens, usage.output_tokens)
        self.unknown += all(tokens is UNSET for tokens in known)
        if usage.input_tokens is not UNSET and usage.output_tokens is not UNSET:
            self._input += usage.input_tokens
            self._output += usage.output_tokens
        if usage.cost_source:
            self._sources.add(usage.cost_source)
        if usage.model:
            self._models.add(usage.model)

    def usage(self, metrics: LoopMetrics, agent: str | UnsetType) -> Usage | UnsetType:
        """Tokens by direction only if they make up the sum; where the money comes from only if it is one source."""
        tokens, cost = metrics.total_tokens, metrics.total_cost_usd
        if tokens is UNSET and cost is UNSET:
            return UNSET
        split = self._input + self._output == tokens
        return Usage(
            input_tokens=self._input if split else UNSET,
            output_tokens=self._output if split else UNSET,
            total_tokens=tokens,
            cost_usd=cost,
            cost_source=_only(self._sources),
            agent=agent,
            model=_only(self._models),
        )


def _only(found: Collection[T]) -> T | UnsetType:
    return next(iter(found)) if len(found) == 1 else UNSET
