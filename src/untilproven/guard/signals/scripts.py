"""Commands outside of CI by which people verify: emptied, silenced, or looking at less."""

from collections.abc import Iterator

import msgspec

from untilproven.guard.comparison import Comparison, Pair
from untilproven.guard.finding import Signal
from untilproven.guard.signals.commands import is_idle
from untilproven.guard.signals.pipelines import is_pipeline
from untilproven.guard.signals.recipes import Recipe, recipes_in
from untilproven.guard.signals.verifiers import Check, purpose_of_name
from untilproven.guard.signals.weakening import narrowed, verifies_nothing


def scripts(comparison: Comparison) -> Iterator[Signal]:
    pairs = [pair for pair in comparison.pairs if not is_pipeline(pair.path)]
    elsewhere = {
        recipe.text: recipe.name for pair in pairs for recipe in recipes_in(pair.after).values() if recipe.checks
    }
    for pair in pairs:
        if pair.before is None or pair.kind in {"dependencies", "cache"}:
            continue
        now = recipes_in(pair.after)
        for was in recipes_in(pair.before).values():
            if _heard(was):
                yield from _compared(pair, was, now, elsewhere)


def _compared(pair: Pair, was: Recipe, now: dict[str, Recipe], elsewhere: dict[str, str]) -> Iterator[Signal]:
    after = now.get(was.name)
    if after is None:
        if pair.after is not None and purpose_of_name(was.name) and not _goes_on(was, now, elsewhere):
            yield Signal("command-removed", pair.path, 1, was.name, was=was.text, explained=_others(was, now))
    elif not after.needs and all(is_idle(command.words) for command in after.commands):
        yield _signal("command-neutralised", pair, after, was, after.text or "nothing")
    elif was.stops and not after.stops and len(after.commands) > 1 and not _asks_for_status(after):
        yield _signal("command-neutralised", pair, after, was, "set -e is gone")
    else:
        yield from _checked_less(pair, was, after, _others(was, now))


def _checked_less(pair: Pair, was: Recipe, after: Recipe, others: tuple[str, ...]) -> Iterator[Signal]:
    before, heard = _heard(was), _heard(after)
    for check in before:
        same = [one for one in after.checks if one.tool == check.tool]
        if not same or any(one in before for one in same):
            continue
        if not any(one in heard for one in same):
            yield _signal("command-neutralised", pair, after, was, verifies_nothing(same[0]) or same[0].command.text)
        elif all(less := [narrowed(check, one) for one in same]):
            signal = _signal("command-weakened", pair, after, was, less[0] or "")
            yield msgspec.structs.replace(signal, explained=others)


def _heard(recipe: Recipe) -> list[Check]:
    return [check for check in recipe.checks if check.is_heard and not verifies_nothing(check)]


def _asks_for_status(recipe: Recipe) -> bool:
    return any("$?" in word or word == "pipefail" for command in recipe.commands for word in command.words)


def _goes_on(was: Recipe, now: dict[str, Recipe], elsewhere: dict[str, str]) -> bool:
    """Under another name, in another file, or as a part of something else."""
    if was.text in elsewhere:
        return True
    tools = {check.tool for check in was.checks}
    return any(tools & {check.tool for check in recipe.checks} for recipe in now.values())


def _others(was: Recipe, now: dict[str, Recipe]) -> tuple[str, ...]:
    """Whether the same is verified by something else still."""
    purposes = {check.purpose for check in was.checks}
    left = (check for name, recipe in now.items() if name != was.name for check in _heard(recipe))
    return ("others-left",) if any(check.purpose in purposes for check in left) else ()


def _signal(name: str, pair: Pair, after: Recipe, was: Recipe, now: str) -> Signal:
    return Signal(name, pair.path, after.line, after.name, was=was.text, now=now)
