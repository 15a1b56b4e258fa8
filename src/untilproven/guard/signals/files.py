"""What a whole file says to tools and to a test run."""

from collections import Counter
from collections.abc import Iterator

from untilproven.guard.comparison import Comparison, Pair
from untilproven.guard.facts import Facts
from untilproven.guard.finding import Signal

_NOTHING = Facts()


def files(comparison: Comparison) -> Iterator[Signal]:
    for pair in comparison.pairs:
        if pair.after is None or pair.kind in {"dependencies", "cache"}:
            continue
        was, now = pair.before.facts if pair.before else _NOTHING, pair.after.facts
        yield from _more(pair, "suppression-added", was.suppressions, now.suppressions)
        yield from _more(pair, "todo-added", was.todos, now.todos)
        yield from _each(pair, "collection-subverted", was.hooks, now.hooks)
        yield from _each(pair, "exit-added", was.exits, now.exits)
        if not pair.is_test:
            yield from _each(pair, "asks-if-tested", was.asks_if_tested, now.asks_if_tested)
            yield from _switched_off(pair, was, now)
            yield from _commented_out(pair, was, now)


def _more(pair: Pair, name: str, was: tuple[str, ...], now: tuple[str, ...]) -> Iterator[Signal]:
    """One signal, for how many more there are."""
    more = len(now) - len(was)
    if more > 0:
        new = list((Counter(now) - Counter(was)).elements())
        yield Signal(name, pair.path, 1, subject=pair.path, now="; ".join(new[:3]), amount=more)


def _each(pair: Pair, name: str, was: tuple[str, ...], now: tuple[str, ...]) -> Iterator[Signal]:
    for new in (Counter(now) - Counter(was)).elements():
        yield Signal(name, pair.path, _line(pair, new), subject=new[:120], now=new)


def _line(pair: Pair, text: str) -> int:
    at = pair.after.text.find(text) if pair.after else -1
    return pair.after.text.count("\n", 0, at) + 1 if pair.after and at >= 0 else 1


def _switched_off(pair: Pair, was: Facts, now: Facts) -> Iterator[Signal]:
    on = dict(was.flags)
    for name, value in now.flags:
        if on.get(name) is True and not value:
            yield Signal("flag-off", pair.path, _line(pair, name), subject=name, was="true", now="false")


def _commented_out(pair: Pair, was: Facts, now: Facts) -> Iterator[Signal]:
    """Code that was there as code."""
    known = {one.text for one in was.commented}
    before = "".join(pair.before.text.split()) if pair.before else ""
    for one in now.commented:
        if one.text not in known and "".join(one.text.split()) in before:
            yield Signal("code-commented-out", pair.path, one.line, subject=one.text.strip()[:80], amount=one.lines)
