"""What a function refuses, reports or computes less than it did, or only pretends to."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from untilproven.guard.comparison import Comparison
from untilproven.guard.facts import Function, Handler
from untilproven.guard.finding import Signal
from untilproven.guard.pairing import Placed, functions_of

_NOTHING = Function()
_WRITTEN = 3
_OF_HANDLERS = frozenset(
    {"try", "except", "catch", "finally", "pass", "Exception", "BaseException", "Throwable", "Error"}
)
_OF_HANDLERS |= {"e", "ex", "err", "error", "return", "None", "null", "nil", "undefined", "ignored", "_"}
_NAME = re.compile(r"[A-Za-z_]\w+")
_OF_CONDITIONS = frozenset(
    {"self", "this", "not", "and", "or", "is", "in", "None", "null", "nil", "len", "true", "false"}
)
_HALF = 0.5
_UNDONE = frozenset({"NotImplementedError", "NotImplementedException", "UnsupportedOperationException"})
"""What is raised where something is yet to be written: whoever writes it raises it no longer."""


def functions(comparison: Comparison) -> Iterator[Signal]:
    then_there, now_there = _everything(comparison, "before"), _everything(comparison, "after")
    changed = list(functions_of(comparison))
    come = [frozenset(_NAME.findall(guard)) for before, after in changed for guard in _guards_come(before, after)]
    for before, after in changed:
        was, now = before.function if before else _NOTHING, after.function
        if not after.pair.is_test:
            yield from _added(before, after, was, now)
        if before is not None:
            yield from _guards_lost(before, after, then_there, now_there, come)
            yield from _lost(before, after, then_there, now_there)
        if now.always_equal and not was.always_equal:
            yield _signal("always-equal", after)


def _guards_come(before: Placed | None, after: Placed) -> list[str]:
    return [] if after.pair.is_test else _gone(after.function.guards, before.function.guards if before else ())


def _guards_lost(
    before: Placed, after: Placed, then_there: str, now_there: str, come: list[frozenset[str]]
) -> Iterator[Signal]:
    """`come` has the words of conditions under which something refuses that did not."""
    was, now = before.function, after.function
    if len(now.guards) >= len(was.guards):
        return
    gone = [(guard, "".join(guard.split())) for guard in _gone(was.guards, now.guards)]
    guards = [guard for guard, written in gone if now_there.count(written) < max(then_there.count(written), 1)]
    if guards:
        explained = tuple(_said_for(guards, before, after, come))
        yield _signal("guard-removed", after, was=guards[0], amount=len(guards), explained=explained)


def _said_for(guards: list[str], before: Placed, after: Placed, come: list[frozenset[str]]) -> Iterator[str]:
    if _is_rewritten(before, after):
        yield "rewritten"
    elif _written(before, after):
        yield "reworked"
    if before.function.raises and not _gone(before.function.raises, after.function.raises):
        yield "still-raises"
    if all(_is_among(guard, come) for guard in guards):
        yield "moved"


def _is_among(guard: str, others: list[frozenset[str]]) -> bool:
    """Another one asks mostly about the same names."""
    names = frozenset(_NAME.findall(guard)) - _OF_CONDITIONS
    return any(len(names & other) > _HALF * len(names) for other in others)


def _lost(before: Placed, after: Placed, then_there: str, now_there: str) -> Iterator[Signal]:
    was, now = before.function, after.function
    explained = ("rewritten",) if _is_rewritten(before, after) else ()
    raised = [error for error in _gone(was.raises, now.raises) if error not in now.raises and error not in _UNDONE]
    if raised and not explained and all(now_there.count(error) >= then_there.count(error) for error in set(raised)):
        explained = ("moved",)
    if raised:
        name = "raise-to-nothing" if now.returns_nothing > was.returns_nothing else "raise-removed"
        yield _signal(name, after, was=", ".join(raised), amount=len(raised), explained=explained)
    if now.stub and not was.stub:
        yield _signal("body-removed", after, now=now.stub)


def _is_rewritten(before: Placed, after: Placed) -> bool:
    """More was written anew than taken away would explain: whoever only takes a guard away writes nothing."""
    return len(_written(before, after)) >= _WRITTEN


def _written(before: Placed, after: Placed) -> frozenset[str]:
    """Words that are new."""
    return after.words - before.words - _OF_HANDLERS


def _added(before: Placed | None, after: Placed, was: Function, now: Function) -> Iterator[Signal]:
    known = Counter((one.errors, one.is_silent) for one in was.handlers)
    explained = () if before and not _is_rewritten(before, after) else ("new-code",)
    for one in now.handlers:
        if not one.is_silent:
            known[one.errors, False] -= 1
    for one in now.handlers:
        if one.is_silent and known[one.errors, True] <= 0:
            yield _silenced(after, one, explained, was_handled=known[one.errors, False] > 0)
        known[one.errors, True] -= one.is_silent
    if before is None and now.stub:
        yield _signal("stub-added", after, now=now.stub)
    new = () if before else ("new-code",)
    if answers := _gone(now.answers, was.answers):
        yield _signal("answers-added", after, now=", ".join(answers[:5]), amount=len(answers), explained=new)
    for asked in _gone(now.asks_if_tested, was.asks_if_tested):
        yield _signal("asks-if-tested", after, now=asked)


def _silenced(after: Placed, handler: Handler, explained: tuple[str, ...], *, was_handled: bool) -> Signal:
    name = "error-silenced-broadly" if handler.is_broad else "error-silenced"
    name = "handler-emptied" if was_handled else name
    return _signal(name, after, now=handler.errors or "every error", explained=explained)


def _everything(comparison: Comparison, when: Literal["before", "after"]) -> str:
    """All the source of one side, without white space, to find what was only moved."""
    sides = (getattr(pair, when) for pair in comparison.of_kind("source", "script"))
    return "".join("".join(side.text.split()) for side in sides if side is not None)


def _gone(was: tuple[str, ...], now: tuple[str, ...]) -> list[str]:
    return list((Counter(was) - Counter(now)).elements())


def _signal(
    name: str,
    one: Placed,
    *,
    was: str | None = None,
    now: str | None = None,
    amount: float = 1,
    explained: tuple[str, ...] = (),
) -> Signal:
    return Signal(name, one.path, one.line, one.name, was=was, now=now, amount=amount, explained=explained)
