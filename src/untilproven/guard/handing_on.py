"""What a test asked is asked by something new: a function that it calls, what is done after each test, or a test of
any values."""

import re
from collections.abc import Iterable

from untilproven.guard.claims import strong
from untilproven.guard.comparison import Comparison
from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.pairing import Became, Placed, functions_of

_CALLED = re.compile(r"([A-Za-z_]\w*)!?\(")
_AFTER_EACH = re.compile(r"(?:afterEach|\.afterEach)\(|def tearDown\(|@AfterEach\b|@After\b")
_ASKS = re.compile(r"\bexpect\(|\bassert\w*|\bshould\b")
_NEAR = 400
_OF_ANY_VALUES = re.compile(
    r"@(?:hypothesis\.)?given\(|@Property\b|\bfc\.(?:assert|property)\(|\b(?:proptest|quickcheck)\b|\bquick\.Check\(|\brapid\.Check\("
    r"|\b(?:forAll|checkAll)\b"
)
_OF_ASSERTING = re.compile(r"assert\w*|expect|require")


def is_asked_by_new(one: Became, comparison: Comparison) -> bool:
    """By a function of another file that the test did not name before, and that asks of the same calls, as strictly:
    those of its own file are read with it."""
    named = one.after.words - one.before.words
    asked = strong(one.before.test.assertions)
    strictest = max((each.strength for each in asked), default=Strength.NOTHING)
    for was, now in functions_of(comparison):
        if was is not None or now.path == one.after.path or now.short.rpartition(".")[2] not in named:
            continue
        there = strong(now.test.assertions)
        if any(each.strength >= strictest for each in there) and _calls(asked) & {*_CALLED.findall(now.text)}:
            return True
    return False


def is_asked_behind(one: Became) -> bool:
    """In what is done after each test, and asked nothing before."""
    return _asked_after_each(one.after.side.text) > _asked_after_each(one.before.side.text)


def _asked_after_each(text: str) -> int:
    return sum(bool(_ASKS.search(text[found.end() : found.end() + _NEAR])) for found in _AFTER_EACH.finditer(text))


def of_any_values(added: Iterable[Placed]) -> list[Placed]:
    """Those of the new tests that are run with values that a library makes up."""
    return [one for one in added if _OF_ANY_VALUES.search(one.text)]


def is_generalized(test: Placed, of_any: Iterable[Placed]) -> bool:
    """One of these beside it compares what the same calls give."""
    beside = [one for one in of_any if one.path == test.path]
    called = _calls(strong(test.test.assertions)) if beside else set[str]()
    for one in beside:
        exact = [each for each in one.test.assertions if each.strength is Strength.EXACTLY]
        if called & _calls(exact):
            return True
    return False


def _calls(asked: Iterable[Assertion]) -> set[str]:
    names = {name for each in asked for name in _CALLED.findall(f"{each.about} {each.expected or ''}")}
    return {name for name in names if not _OF_ASSERTING.fullmatch(name)}
