"""Assertions that were written out one by one, and are made in a loop now."""

import re

from untilproven.guard.facts import Assertion
from untilproven.guard.names import names_in
from untilproven.guard.pairing import Became

_LOOP = re.compile(r"\bfor\b|\bwhile\b|\.(?:forEach|for_each|each|map)\b")
_TEXT = re.compile(r"\"[^\"]{2,}\"|'[^']{2,}'")
"""A letter or a digit may be counted through."""
_MOST = 0.6
_SEVERAL = 2


def is_looped(one: Became, gone: list[Assertion], come: list[Assertion]) -> bool:
    """There is a loop that was not there, new assertions name most of what each of those that went did, and what these
    were given is still there."""
    was, now = (len(_LOOP.findall(side.text)) for side in (one.before, one.after))
    if now <= was or len(gone) < _SEVERAL:
        return False
    if any(text not in one.after.text for old in gone for text in _TEXT.findall(old.text)):
        return False
    said = [names_in(each.text) for each in come]
    return all(any(_covers(other, names_in(old.text)) for other in said) for old in gone)


def _covers(said: frozenset[str], names: frozenset[str]) -> bool:
    return bool(names) and len(names & said) >= _MOST * len(names)
