"""What a function refuses, reports or computes less than it did, or only pretends to."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from untilproven.guard.comparison import Comparison
from untilproven.guard.facts import Function, Handler
from untilproven.guard.finding import Signal
from untilproven.guard.pairing import Placed, functions_of
from untilproven.guard.signals.rewriting import implementations, is_rewritten, is_touched, names_gone, was_there

_NOTHING = Function()
_NAME = re.compile(r"[A-Za-z_]\w+")
_OF_CONDITIONS = frozenset(
    {"self", "this", "not", "and", "or", "is", "in", "None", "null", "nil", "len", "true", "false"}
)
_HALF = 0.5
_OF_A_CLASS = re.compile(r"^[A-Z]\w*\.(?=\w+\()")
_TO_NOBODY = re.compile(r"(?:let )?_ = (.+)", re.DOTALL)
_REFUSAL = re.compile(r"(?:\)?\s*[:{]|\))\s*(?:(?:#|//).*\s*)*((?:raise|throw|return|panic!?)\b.*)")
"""What stands right behind a condition, remarks apart."""
_OF_TYPES = re.compile(r"isinstance\(.*\)|[\w.]+ in [(\[{](?:(?:True|False|None)(?:, )?)+[)\]}]")
_OF_BOTH = frozenset({"moved", "symbol-removed"})
"""What explains a condition that is gone, and the error with it."""
_UNDONE = frozenset({"NotImplementedError", "NotImplementedException", "UnsupportedOperationException"})
"""What is raised where something is yet to be written: whoever writes it raises it no longer."""


class _Change:
    """What the functions of both trees have, to find what was only moved."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.functions = functions_of(comparison)

    @cached_property
    def then_there(self) -> str:
        return _everything(self.comparison, "before")

    @cached_property
    def now_there(self) -> str:
        return _everything(self.comparison, "after")

    @cached_property
    def names_gone(self) -> frozenset[str]:
        """Of functions that are no longer there."""
        return names_gone(self.comparison)

    @cached_property
    def guards_come(self) -> list[frozenset[str]]:
        """The words of conditions under which something refuses that did not."""
        return [
            frozenset(_NAME.findall(guard)) for before, after in self.functions for guard in _guards_come(before, after)
        ]

    def are_raised_instead(self, errors: list[str], before: Placed, after: Placed) -> bool:
        """By functions that this one names, or the private ones behind them, or those of a type that its file did not
        name: the same, or as many others."""
        come = Counter[str]()
        named_now = {*_NAME.findall(after.side.text)} - {*_NAME.findall(before.side.text)}
        for was, one in self.functions:
            around = re.split(r"::|\.", one.name.partition("(")[0])[:-1]
            if one is not after and ({one.short, one.short.lstrip("_")} & after.words or named_now & {*around}):
                come += Counter(one.function.raises) - Counter(was.function.raises if was else ())
        return set(errors) <= set(come) or come.total() >= len(errors)


def functions(comparison: Comparison) -> Iterator[Signal]:
    change = _Change(comparison)
    for before, after in change.functions:
        was, now = before.function if before else _NOTHING, after.function
        if not after.pair.is_test:
            yield from _added(before, after, was, now, change)
        if before is not None:
            yield from _lost(before, after, change)
        if now.always_equal and not was.always_equal:
            yield _signal("always-equal", after)


def _guards_come(before: Placed | None, after: Placed) -> list[str]:
    return [] if after.pair.is_test else _gone(after.function.guards, before.function.guards if before else ())


def _lost(before: Placed, after: Placed, change: _Change) -> Iterator[Signal]:
    was, now = before.function, after.function
    guards = _guards_lost(before, after, change)
    explained = tuple(_said_for(guards, before, after, change)) if guards else ()
    if guards:
        yield _signal("guard-removed", after, was=guards[0], amount=len(guards), explained=explained)
    known = now.raises if was.raises else ()
    raised = [error for error in _gone(was.raises, known) if error not in known and error not in _UNDONE]
    if raised:
        name = "raise-to-nothing" if now.returns_nothing > was.returns_nothing else "raise-removed"
        said = {*_said_for_raises(raised, before, after, change), *(_OF_BOTH & {*explained})}
        yield _signal(name, after, was=", ".join(raised), amount=len(raised), explained=tuple(sorted(said)))
    if (now.stub or now.left_open) and not (was.stub or was.left_open):
        filled_in = implementations(after, change.comparison)
        moved = ("moved",) if any(not was_there(name, pair) for pair, name in filled_in) else ()
        yield _signal("body-removed", after, now=now.stub or now.left_open, explained=moved)


def _guards_lost(before: Placed, after: Placed, change: _Change) -> list[str]:
    was, now = before.function, after.function
    if not was.guards or len(now.guards) >= len(was.guards):
        return []
    gone = [(guard, "".join(guard.split())) for guard in _gone(was.guards, now.guards)]
    there, still, here = change.then_there, change.now_there, "".join(after.text.split())
    missing = [(guard, text) for guard, text in gone if still.count(text) < max(there.count(text), 1)]
    return [guard for guard, text in missing if not _is_imported_now(text, here)]


def _is_imported_now(guard: str, here: str) -> bool:
    """`Assert.fail(...)` is `fail(...)`."""
    bare = _OF_A_CLASS.sub("", guard)
    return bare != guard and bare in here


def _said_for(guards: list[str], before: Placed, after: Placed, change: _Change) -> Iterator[str]:
    touched = is_touched(before, after)
    if is_rewritten(before, after):
        yield "rewritten"
    elif touched:
        yield "reworked"
    if touched and before.function.raises and not _gone(before.function.raises, after.function.raises):
        yield "still-raises"
    raised = _gone(before.function.raises, after.function.raises)
    are_asked = all(_is_among(guard, change.guards_come) for guard in guards)
    if are_asked or (raised and change.are_raised_instead(raised, before, after)):
        yield "moved"
    if all(_is_refused_still(guard, before, after) or _is_for_types(guard, before) for guard in guards) and not touched:
        yield "needless"
    if all(change.names_gone & {*_NAME.findall(guard)} for guard in guards):
        yield "symbol-removed"
        if change.guards_come:
            yield "written-out"


def _is_refused_still(guard: str, before: Placed, after: Placed) -> bool:
    """The line by which it refused is there as often as it was, whatever is asked before it now."""
    found = re.search(r"\s+".join(map(re.escape, guard.split())), before.text)
    refusal = _REFUSAL.match(before.text, found.end()) if found else None
    if refusal is None:
        return False
    was, now = ([line.strip() for line in side.text.splitlines()].count(refusal[1].strip()) for side in (before, after))
    return 0 < was <= now


def _is_for_types(guard: str, before: Placed) -> bool:
    """It was asserted of what type something is, which is said to those who check types, too."""
    return _OF_TYPES.fullmatch(guard) is not None and f"assert {guard}" in " ".join(before.text.split())


def _is_among(guard: str, others: list[frozenset[str]]) -> bool:
    """Another one asks mostly about the same names."""
    names = frozenset(_NAME.findall(guard)) - _OF_CONDITIONS
    return any(len(names & other) > _HALF * len(names) for other in others)


def _said_for_raises(raised: list[str], before: Placed, after: Placed, change: _Change) -> Iterator[str]:
    if is_rewritten(before, after):
        yield "rewritten"
    if len(after.function.raises) + len(_guards_come(before, after)) >= len(before.function.raises):
        yield "replaced"
    are_there = all(change.now_there.count(error) >= change.then_there.count(error) for error in set(raised))
    if are_there or change.are_raised_instead(raised, before, after):
        yield "moved"


def _added(before: Placed | None, after: Placed, was: Function, now: Function, change: _Change) -> Iterator[Signal]:
    if any(one.is_silent for one in now.handlers):
        yield from _handled_less(before, after, was, now)
    if before is None and now.stub:
        implemented = ("implemented",) if any(implementations(after, change.comparison)) else ()
        yield _signal("stub-added", after, now=now.stub, explained=implemented)
    new = () if before else ("new-code",)
    if now.answers and (answers := _gone(now.answers, was.answers)):
        yield _signal("answers-added", after, now=", ".join(answers[:5]), amount=len(answers), explained=new)


def _handled_less(before: Placed | None, after: Placed, was: Function, now: Function) -> Iterator[Signal]:
    known = Counter((one.errors, one.is_silent) for one in was.handlers)
    explained = () if before and not is_rewritten(before, after) else ("new-code",)
    for one in now.handlers:
        if not one.is_silent:
            known[one.errors, False] -= 1
    for one in now.handlers:
        if one.is_silent and known[one.errors, True] <= 0:
            was_handled = known[one.errors, False] > 0
            is_old = was_handled and before is not None and _is_on_old_line(one, before, after)
            said = () if is_old else explained
            said = said or (("never-heard",) if before and _was_never_heard(one, before) else ())
            yield _silenced(after, one, said, was_handled=was_handled)
        known[one.errors, True] -= one.is_silent


def _is_on_old_line(handler: Handler, before: Placed, after: Placed) -> bool:
    """What it handles is written as it was, and names what is called: only what is done about it is another."""
    line = after.side.text.splitlines()[handler.line - 1].strip()
    return "(" in line and line in map(str.strip, before.text.splitlines())


def _was_never_heard(handler: Handler, before: Placed) -> bool:
    """Of a call whose result is given to nobody: it was not made before, or nobody took its result then either."""
    found = _TO_NOBODY.match(handler.errors)
    if found is None:
        return False
    last = _NAME.findall(found[1])[-1:]
    return not before.words & {*last} or re.search(rf"(?m)^\s*{re.escape(found[1])}\(", before.text) is not None


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
