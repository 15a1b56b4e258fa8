"""What a test says no longer, because something beside it says the same."""

import re
from itertools import pairwise

from untilproven.guard.claims import claim, strong
from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.pairing import Became

_REMARK = re.compile(r"(?m)^\s*(?://|#(?!\[)).*$|/\*(?:.|\n)*?\*/")


def is_said(old: Assertion, one: Became, come: list[Assertion]) -> bool:
    return _is_implied(old, come) or _is_twin(old, one) or _counts_no_longer(old, one, come)


def _is_implied(old: Assertion, come: list[Assertion]) -> bool:
    """That there is an error, where it is asked now which."""
    if old.error is None or old.expected is not None:
        return False
    return any(new.error and new.about == old.about and new.strength >= old.strength for new in come)


def _counts_no_longer(old: Assertion, one: Became, come: list[Assertion]) -> bool:
    """It stands where it stood, and is reached: what asks for more came beside it."""
    if old.strength is not Strength.SOMETHING or one.after.test.unreached or one.after.test.leaves:
        return False
    is_there = old.text in " ".join(_REMARK.sub("", one.after.text).split())
    return is_there and any(new.strength > old.strength for new in come)


def _is_twin(old: Assertion, one: Became) -> bool:
    """The one before or behind it asks the same in other words, and is still there."""
    was, left = strong(one.before.test.assertions), [each.text for each in one.after.test.assertions]
    pairs = [pair for pair in pairwise(was) if old in pair and pair[1].line - pair[0].line <= 1]
    return any(claim(first) == claim(second) and {first.text, second.text} & {*left} for first, second in pairs)
