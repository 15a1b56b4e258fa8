"""Two small trees, and what a function has to say about them."""

from collections.abc import Callable, Iterator, Mapping

from untilproven.guard.change import Change
from untilproven.guard.comparison import Comparison
from untilproven.guard.finding import Signal

Signals = Callable[[Comparison], Iterator[Signal]]
Tree = Mapping[str, str]


def comparison(before: Tree, after: Tree) -> Comparison:
    paths = sorted({*before, *after})
    return Comparison(
        [
            Change(path, _bytes(before.get(path)), _bytes(after.get(path)))
            for path in paths
            if before.get(path) != after.get(path)
        ]
    )


def found(signals: Signals, before: Tree, after: Tree) -> list[Signal]:
    return list(signals(comparison(before, after)))


def names(signals: Signals, before: Tree, after: Tree) -> list[str]:
    return [signal.name for signal in found(signals, before, after)]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")
