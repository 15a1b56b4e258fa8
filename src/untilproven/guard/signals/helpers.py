"""What functions that tests call, fixtures and base classes ask less than they did: a test whose own text is as it was
asks less with them."""

import re
from collections import Counter
from collections.abc import Iterator

from untilproven.guard.claims import claim, strong, without
from untilproven.guard.comparison import Comparison
from untilproven.guard.explaining import Explanations
from untilproven.guard.facts import Assertion, Running
from untilproven.guard.finding import Signal
from untilproven.guard.pairing import Became, Placed, Tests, functions_of, signal_of
from untilproven.guard.signals.assertions import weaker
from untilproven.guard.signals.conditional import conditional
from untilproven.guard.signals.easing import eased
from untilproven.guard.signals.tests import is_elsewhere

_LESS = {
    "test-emptied": 4,
    "assertion-unreached": 3,
    "assertion-removed": 2,
    "assertion-weakened": 2,
    "tolerance-widened": 1,
    "exception-broadened": 1,
}
"""What says that less is asked, and what of several is told."""
_NAMED_FOR_ASSERTING = re.compile(r"(?:assert|check|verify|expect|ensure|must|should)(?=[A-Z_]|$)")
_ANSWERS = re.compile(
    r"(?i)\b(?:return|yield|raise|throw|panic|fail\w*|fatal\w*|error\w*|abstract)\b|->|(?:assert|check|verif|expect|ensure|must|should)\w*!?[.(]"
)
_OF_TESTS = ("tests::", "test::")
"""Where a file of the product in Rust has its tests."""


def helpers(comparison: Comparison, tests: Tests, explanations: Explanations) -> Iterator[Signal]:
    changed = [one for one in functions_of(comparison) if _is_of_tests(one[1])]
    for was, now in changed:
        if was is not None:
            one = Became(was, now, "same")
            yield from _asks_less(one, explanations, [other for _, other in changed if other is not now], tests)
            yield from _leaves(one)
            yield from conditional(one)
            if how := eased(was, now):
                yield signal_of("helper-asks-less", one, was="what it asked", now=how)
            yield from _skips(one)
        elif _only_pretends(now):
            yield Signal("helper-asks-less", now.path, now.line, now.name, was="what it is named for", now="nothing")


def _is_of_tests(one: Placed) -> bool:
    if one.pair.is_test or one.pair.kind == "configuration":
        return True
    return one.name.startswith(_OF_TESTS)


def _only_pretends(one: Placed) -> bool:
    """It is new and named for asserting, and neither asserts, fails, nor gives an answer."""
    if not _NAMED_FOR_ASSERTING.match(one.short) or one.test.assertions or one.test.unreached:
        return False
    return _ANSWERS.search(one.text.partition(one.short)[2]) is None


def _asks_less(one: Became, explanations: Explanations, others: list[Placed], tests: Tests) -> Iterator[Signal]:
    if not strong(one.before.test.assertions):
        return
    found = [signal for signal in weaker(one, explanations) if signal.name in _LESS]
    if not found:
        return
    worst = max(found, key=lambda signal: _LESS[signal.name])
    gone = without(strong(one.before.test.assertions), strong(one.after.test.assertions))
    said = (*worst.explained, "moved") if _are_asked_beside(gone, others, tests) else worst.explained
    was = worst.was or (gone[0].text if gone else None)
    yield signal_of("helper-asks-less", one, was=was, now=worst.now or "nothing", explained=tuple(dict.fromkeys(said)))


def _are_asked_beside(gone: list[Assertion], others: list[Placed], tests: Tests) -> bool:
    """Other functions and tests ask each of them that are new, or did not ask it before."""
    asked = Counter(claim(each) for other in others for each in other.test.assertions)
    asked.update(claim(each) for added in tests.added for each in added.test.assertions)
    return bool(gone) and all(asked[claim(old)] for old in gone)


def _leaves(one: Became) -> Iterator[Signal]:
    """It ends before what it asks, where it did not."""
    was, now = one.before.test, one.after.test
    if now.leaves and not was.leaves and strong(was.assertions):
        yield signal_of("helper-asks-less", one, was=strong(was.assertions)[0].text, now=now.leaves)


def _skips(one: Became) -> Iterator[Signal]:
    """Every test that calls it, or is given what it makes, is skipped with it."""
    was, now = one.before.test, one.after.test
    if now.running < was.running is Running.ALWAYS:
        foreign = ("other-platform",) if is_elsewhere(now.reason or "") else ()
        yield signal_of("helper-skips", one, was="runs", now=now.reason or "skipped", explained=foreign)
