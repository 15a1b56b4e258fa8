"""What a function refuses, reports or computes less than it did, or only pretends to."""

import re
from collections import Counter
from collections.abc import Iterator

from untilproven.guard.comparison import Comparison
from untilproven.guard.facts import Function, Handler
from untilproven.guard.finding import Signal
from untilproven.guard.kinds import is_shown
from untilproven.guard.outskirts import is_beside
from untilproven.guard.pairing import Placed, Tests
from untilproven.guard.signals.hearing import was_never_heard
from untilproven.guard.signals.refusals import Refusals, gone
from untilproven.guard.signals.rewriting import implementations, is_rewritten, lost_code, was_there
from untilproven.guard.signals.vanishing import is_called_no_longer, is_done_elsewhere

_NOTHING = Function()
_NAME = re.compile(r"[A-Za-z_]\w+")
_OF_A_CLASS = re.compile(r"^[A-Z]\w*\.(?=\w+\()")
_OF_BOTH = frozenset({"moved", "symbol-removed", "without-subject", "cannot-be"})
"""What explains a condition that is gone, and the error with it."""
_ASIDE = re.compile(
    r"(?:^|/)(?:docs?|bench\w*|perf(?:ormance)?(?:[-_]\w+)?|test[-_]?(?:helpers?|utils?|support|lib))/"
    r"|(?:(?:^|/|[-_])bench(?:mark)?s?|Bench(?:mark)?s?)\.\w+$|(?:^|/)bench(?:mark)?s?[-_][^/]*$"
)
"""What is no part of the product."""
_CATCHES = re.compile(r"\bcatch\b|\bexcept\b")
_LAST = 2
_UNDONE = frozenset({"NotImplementedError", "NotImplementedException", "UnsupportedOperationException"})
"""What is raised where something is yet to be written: whoever writes it raises it no longer."""


def functions(comparison: Comparison, tests: Tests) -> Iterator[Signal]:
    change = Refusals(comparison, tests)
    for before, after in change.functions:
        was, now = before.function if before else _NOTHING, after.function
        if not after.pair.is_test:
            yield from _added(before, after, was, now, change)
        if before is not None:
            yield from _lost(before, after, change)
        if now.always_equal and not was.always_equal:
            yield _signal("always-equal", after)


def _lost(before: Placed, after: Placed, change: Refusals) -> Iterator[Signal]:
    was, now = before.function, after.function
    guards = _guards_lost(before, after, change)
    explained = tuple(change.said_for(guards, before, after)) if guards else ()
    if guards:
        aside = ("aside",) if _is_aside(after.path) and not explained else ()
        yield _signal("guard-removed", after, was=guards[0], amount=len(guards), explained=explained + aside)
    known = now.raises if was.raises else ()
    raised = [error for error in gone(was.raises, known) if error not in known and error not in _UNDONE]
    if raised:
        name = "raise-to-nothing" if now.returns_nothing > was.returns_nothing else "raise-removed"
        said = {*change.said_for_raises(raised, before, after), *(_OF_BOTH & {*explained})}
        said |= {"aside"} if _is_aside(after.path) else set()
        yield _signal(name, after, was=", ".join(raised), amount=len(raised), explained=tuple(sorted(said)))
    if (now.stub or now.left_open) and not (was.stub or was.left_open) and lost_code(before, after):
        filled_in = implementations(after, change.comparison)
        moved = ("moved",) if any(not was_there(name, pair) for pair, name in filled_in) else ()
        told = ("told",) if not now.stub and change.are_wanted_by_tests(now.raises, after) else ()
        uncalled = ("uncalled",) if is_called_no_longer(before, after, change.comparison) else ()
        yield _signal("body-removed", after, now=now.stub or now.left_open, explained=(*moved, *told, *uncalled))


def _is_aside(path: str) -> bool:
    return is_shown(path) or _ASIDE.search(path) is not None or is_beside(path)


def _guards_lost(before: Placed, after: Placed, change: Refusals) -> list[str]:
    was, now = before.function, after.function
    if not was.guards or len(now.guards) >= len(was.guards):
        return []
    less = [(guard, "".join(guard.split())) for guard in gone(was.guards, now.guards)]
    there, still, here = change.then_there, change.now_there, "".join(after.text.split())
    missing = [(guard, text) for guard, text in less if still.count(text) < max(there.count(text), 1)]
    return [guard for guard, text in missing if not _is_imported_now(text, here)]


def _is_imported_now(guard: str, here: str) -> bool:
    """`Assert.fail(...)` is `fail(...)`."""
    bare = _OF_A_CLASS.sub("", guard)
    return bare != guard and bare in here


def _added(before: Placed | None, after: Placed, was: Function, now: Function, change: Refusals) -> Iterator[Signal]:
    if any(one.is_silent for one in now.handlers):
        yield from _handled_less(before, after, was, now)
    aside = ("aside",) if _is_aside(after.path) else ()
    if before is None and now.stub and "".join(after.text.split()) not in change.then_there:
        implemented = ("implemented",) if any(implementations(after, change.comparison)) else ()
        yield _signal("stub-added", after, now=now.stub, explained=implemented or aside)
    new = () if before else ("new-code", *aside)
    if now.answers and (answers := gone(now.answers, was.answers)):
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
            said = said or (("never-heard",) if before and was_never_heard(one, before, after) else ())
            if before and was_handled and is_done_elsewhere(one, before, after):
                said = (*said, "done-elsewhere")
            yield _silenced(after, one, said, was_handled=was_handled)
        known[one.errors, True] -= one.is_silent
    yield from (_silenced(after, one, explained, was_handled=True) for one in _going_on(was, now))


def _going_on(was: Function, now: Function) -> Iterator[Handler]:
    """Handlers that said nothing and left; now what stands behind them is done as if there had been no error."""
    less = Counter(one.errors for one in was.handlers if one.is_silent and one.leaves)
    less -= Counter(one.errors for one in now.handlers if one.is_silent and one.leaves)
    known = Counter(one.errors for one in was.handlers if one.is_silent and one.leaves is False)
    for one in now.handlers:
        if one.is_silent and one.leaves is False:
            known[one.errors] -= 1
            if known[one.errors] < 0 < less[one.errors]:
                less[one.errors] -= 1
                yield one


def _is_on_old_line(handler: Handler, before: Placed, after: Placed) -> bool:
    """What it handles is written as it was, and names what is called: only what is done about it is another."""
    line = after.side.text.splitlines()[handler.line - 1].strip()
    if "(" in line and line in map(str.strip, before.text.splitlines()):
        return True
    above = _above(handler, after) if _CATCHES.search(line) else ""
    old = (one for one in before.function.handlers if one.errors == handler.errors and not one.is_silent)
    return "(" in above and any(above == _above(one, before) for one in old)


def _above(handler: Handler, function: Placed) -> str:
    """The last lines of what it handles."""
    lines = function.side.text.splitlines()[: handler.line - 1]
    return "\n".join([line.strip() for line in lines if _NAME.search(line)][-_LAST:])


def _silenced(after: Placed, handler: Handler, explained: tuple[str, ...], *, was_handled: bool) -> Signal:
    name = "error-silenced-broadly" if handler.is_broad else "error-silenced"
    name = "handler-emptied" if was_handled else name
    return _signal(name, after, now=handler.errors or "every error", explained=explained)


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
