"""Commands outside of CI by which people verify: emptied, silenced, or looking at less."""

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from untilproven.guard.comparison import Comparison, Pair, Side
from untilproven.guard.finding import Signal
from untilproven.guard.signals.commands import Command, is_idle
from untilproven.guard.signals.documents import NotUnderstood
from untilproven.guard.signals.pipelines import is_pipeline, runs_in
from untilproven.guard.signals.recipes import Recipe, recipes_in
from untilproven.guard.signals.tools import WHOLE_SUITES
from untilproven.guard.signals.verifiers import Check, is_harmless, purpose_of_name
from untilproven.guard.signals.weakening import narrowed, verifies_nothing

_RUNNER = r"(?:npm|pnpm|yarn|bun|make|just|task|\$\(MAKE\))\s+"
_SIDE = re.compile(
    r"(?:.*/)?(?:examples?|fixtures?|docs?|website|templates?|playgrounds?|demos?|samples?|benchmarks?)/"
)
"""Directories of what goes with a project and is not it."""


def scripts(comparison: Comparison) -> Iterator[Signal]:
    pairs = [pair for pair in comparison.pairs if not is_pipeline(pair.path)]
    tools = {check.tool for pair in pairs for recipe in recipes_in(pair.after).values() for check in _heard(recipe)}
    in_ci = {check.tool for pair in comparison.pairs for check in _in_ci(pair.after)}
    come = _come_in_ci(comparison)
    for pair in pairs:
        if pair.before is None or pair.kind in {"dependencies", "cache"}:
            continue
        before, now = recipes_in(pair.before), recipes_in(pair.after)
        for was in before.values():
            if after := now.get(was.name):
                less = _needs_less(pair, was, after, before) if now.keys() >= set(was.needs) & before.keys() else ()
                for signal in (*_compared(pair, was, after, tools, come), *less):
                    yield msgspec.structs.replace(signal, explained=(*signal.explained, *_others(pair, was, now)))
            elif pair.after and _heard(was) and purpose_of_name(was.name) and not (tools | in_ci) & _tools(was):
                explained = (*_others(pair, was, now), *_lint_only(_heard(was)))
                yield Signal("command-removed", pair.path, 1, was.name, was=was.text, explained=explained)


def _come_in_ci(comparison: Comparison) -> frozenset[str]:
    """What CI verifies that it did not; by what for."""
    was = {check.command.text for pair in comparison.pairs for check in _in_ci(pair.before)}
    now = [check for pair in comparison.pairs for check in _in_ci(pair.after)]
    return frozenset(check.purpose for check in now if check.command.text not in was)


def _in_ci(side: Side | None) -> list[Check]:
    """What CI runs, where it differs."""
    if side is None or not is_pipeline(side.path):
        return []
    try:
        return [run.check for run in runs_in(side) if run.unheard is None]
    except NotUnderstood:
        return []


def _compared(pair: Pair, was: Recipe, after: Recipe, tools: set[str], come: frozenset[str]) -> Iterator[Signal]:
    """`tools` are all that verify now, here or elsewhere: what is left to another is not lost. What has `come` to CI is
    what it verifies by now, and may be the same."""
    if not purpose_of_name(was.name) and not any(map(_is_known, _heard(was))):
        return
    if _is_idle(after) and not _is_idle(was) and not _is_left_to_others(was, after):
        yield _signal("command-neutralised", pair, after, was, after.text or "nothing")
    elif was.stops and not after.stops and len(after.commands) > 1 and not _asks_for_status(after):
        yield _signal("command-neutralised", pair, after, was, "set -e is gone")
    elif not _heard(was):
        if after.commands and _is_swallowed(after) and not _is_swallowed(was):
            yield _signal("command-neutralised", pair, after, was, after.text)
    else:
        yield from _checked_less(pair, was, after, tools, come)


def _checked_less(pair: Pair, was: Recipe, after: Recipe, tools: set[str], come: frozenset[str]) -> Iterator[Signal]:
    before, heard = _heard(was), _heard(after)
    kept = Counter(check.command.text for check in before) & Counter(check.command.text for check in heard)
    left = kept.copy()
    for check in before:
        if left[check.command.text]:
            left[check.command.text] -= 1
            continue
        new = [one for one in heard if one.tool == check.tool and one.command.text not in kept]
        hushed = [one for one in after.checks if one.tool == check.tool and one not in heard]
        if hushed and (not new or any(one.command.text == check.command.text for one in hushed)):
            now = verifies_nothing(hushed[0]) or hushed[0].command.text
            yield _signal("command-neutralised", pair, after, was, now)
        elif new and all(less := [narrowed(check, one) for one in new]):
            signal = _signal("command-weakened", pair, after, was, less[0] or "")
            yield msgspec.structs.replace(signal, explained=("named",) if (less[0] or "").startswith("only ") else ())
        elif not new and purpose_of_name(was.name) and _is_lost(check, tools) and not _came(was, after):
            signal = _signal("command-weakened", pair, after, was, f"no {check.tool}")
            dropped = ("tool-dropped",) if heard and _is_dropped(check, pair) else ()
            instead = ("something-came",) if come & {check.purpose, "anything"} else ()
            yield msgspec.structs.replace(signal, explained=(*_lint_only([check]), *dropped, *instead))


def _needs_less(pair: Pair, was: Recipe, after: Recipe, before: dict[str, Recipe]) -> Iterator[Signal]:
    """A target that verifies, and is run before another no longer, with nothing in its place."""
    lost = [need for need in was.needs if need not in after.needs and purpose_of_name(need) == "tests"]
    if not lost or not purpose_of_name(was.name) or set(after.needs) - set(was.needs) or _came(was, after):
        return
    for need in lost:
        if need in before and _heard(before[need]) and not _starts(after, need):
            signal = _signal("command-weakened", pair, after, _with_needs(was), f"no {need}")
            yield msgspec.structs.replace(signal, explained=("others-left",))


def _with_needs(recipe: Recipe) -> Recipe:
    needs = (Command((need,), 0, is_swallowed=False) for need in recipe.needs)
    return msgspec.structs.replace(recipe, commands=(*needs, *recipe.commands))


def _is_lost(check: Check, tools: set[str]) -> bool:
    return check.tool not in tools and check.purpose != "anything"


def _lint_only(checks: list[Check]) -> tuple[str, ...]:
    return ("lint-only",) if all(check.purpose == "lint" for check in checks) else ()


def _is_dropped(check: Check, pair: Pair) -> bool:
    """The file named the tool besides this command, as something that is needed, and does not name it any more."""
    name = re.compile(rf"(?<![\w-]){re.escape(check.tool.split()[0])}(?![\w-])")
    was, now = (len(name.findall(side.text)) if side else 0 for side in (pair.before, pair.after))
    return was > 1 and now == 0


def _came(was: Recipe, after: Recipe) -> bool:
    """Whether there is something that may stand for what is gone."""
    before = {command.text for command in was.commands}
    new = (command for command in after.commands if command.text not in before)
    return bool(set(after.needs) - set(was.needs)) or not all(map(is_harmless, new))


def _tools(recipe: Recipe) -> set[str]:
    return {check.tool for check in recipe.checks}


def _is_left_to_others(was: Recipe, after: Recipe) -> bool:
    """To targets that are run before it, new ones or all that there is of it now."""
    return bool(after.needs) and (not after.commands or not set(after.needs) <= set(was.needs))


def _is_known(check: Check) -> bool:
    """Whether it verifies for sure, and is not only run."""
    return check.purpose != "anything" or check.tool.split()[0] in WHOLE_SUITES


def _is_idle(recipe: Recipe) -> bool:
    return all(is_idle(command.words) for command in recipe.commands)


def _is_swallowed(recipe: Recipe) -> bool:
    """All that it does."""
    return all(command.is_swallowed or is_idle(command.words) for command in recipe.commands)


def _heard(recipe: Recipe) -> list[Check]:
    return [check for check in recipe.checks if check.is_heard and not verifies_nothing(check)]


def _asks_for_status(recipe: Recipe) -> bool:
    return any("$?" in word or word == "pipefail" for command in recipe.commands for word in command.words)


def _starts(recipe: Recipe, name: str) -> bool:
    """Whether it runs another recipe: it verifies what that does."""
    return re.search(rf"\b{_RUNNER}(?:run(?:-script)?\s+)?{re.escape(name)}(?![\w:.-])", recipe.text) is not None


def _others(pair: Pair, was: Recipe, now: dict[str, Recipe]) -> tuple[str, ...]:
    """Whether the same is verified by something else still, for tests only tests will do; whether it is the project
    that it verifies."""
    purposes = {check.purpose for check in was.checks}
    purposes = purposes & {"tests"} or purposes
    apart = [recipe for name, recipe in now.items() if name != was.name and not _starts(recipe, was.name)]
    left = (check for recipe in apart for check in _heard(recipe))
    others = ("others-left",) if any(check.purpose in purposes for check in left) else ()
    return (*others, "side-project") if _SIDE.match(pair.path) else others


def _signal(name: str, pair: Pair, after: Recipe, was: Recipe, now: str) -> Signal:
    return Signal(name, pair.path, after.line, after.name, was=was.text, now=now)
