"""Assertions that a test has no longer in so many words, and that it still asks, or need not ask any more."""

import re

from untilproven.guard.bindings import names_of
from untilproven.guard.claims import denies, strong
from untilproven.guard.facts import Assertion
from untilproven.guard.pairing import Became

_LOOPS = re.compile(r"\bfor\b|\bwhile\b|\.(?:forEach|each|map)\(")
_ELSE = re.compile(r"\belse\b")


def is_restated(old: Assertion, one: Became, come: list[Assertion]) -> bool:
    return _is_looped(old, one, come) or _was_an_alternative(old, one)


def _is_looped(old: Assertion, one: Became, come: list[Assertion]) -> bool:
    """It is asked of each, of what it was asked of one by one."""
    was, now = (len(_LOOPS.findall(side.text)) for side in (one.before, one.after))
    names = names_of(old.about)
    as_strict = (new for new in come if new.strength >= old.strength and denies(new) == denies(old))
    return now > was and len(names) > 1 and any(names <= names_of(new.about) for new in as_strict)


def _was_an_alternative(old: Assertion, one: Became) -> bool:
    """Only one of two was asked, of the same thing: there is no other way any more."""
    was, now = (len(_ELSE.findall(side.text)) for side in (one.before, one.after))
    left = strong(one.after.test.assertions)
    return now < was and any(new.about == old.about and new.strength >= old.strength for new in left)
