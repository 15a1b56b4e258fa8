"""What was done to the tests beside one that is gone or asks less: whoever changes a behaviour, or turns to something
else, does it to several of them, and openly."""

from collections import Counter
from functools import cached_property

from untilproven.guard.claims import strong, without
from untilproven.guard.comparison import Pair, Side
from untilproven.guard.lines import lines_of
from untilproven.guard.names import NAME, words_of
from untilproven.guard.pairing import Became, Placed, Tests
from untilproven.guard.successors import weight

_SHORTEST = 4
_SHARE = 0.34
_SEVERAL = 2
_MUCH, _HALF = 100, 0.5
_MANY = 10
"""So many files of tests for one test."""


class Adapted:
    def __init__(self, tests: Tests) -> None:
        self._tests = tests
        self._kept = [one for one in tests.kept if one.how != "hidden" and one.differs]

    def is_adapted(self, test: Placed, touched: frozenset[str]) -> bool:
        """It is named after something in the source that differs, and tests beside it expect something else of just
        that, without asking less."""
        about = _told_by_name(test) & touched
        return bool(about) and any(about & words for words in self._expected_otherwise.get(test.side, ()))

    def is_ported(self, test: Placed) -> bool:
        """It names what its whole file knows no longer, and so did several tests beside it, which ask on without it."""
        after = test.pair.after
        if after is None:
            return False
        there = frozenset(NAME.findall(after.text))
        unknown = frozenset(word for word in test.words - there if len(word) >= _SHORTEST and NAME.fullmatch(word))
        others = (one for one in self._kept if one.before.side is test.side and one.before is not test)
        beside = [one for one in others if weight(one.after)]
        return bool(unknown) and sum(bool(unknown & one.before.words) for one in beside) >= _SEVERAL

    def is_reworked(self, test: Placed) -> bool:
        """Its file was mostly written anew, or it is one of few that are gone where many files of tests differ."""
        pair = test.pair
        if pair.before and pair.after:
            was, now = lines_of(pair.before.text), lines_of(pair.after.text)
            went, came = (was - now).total(), (now - was).total()
            if came >= _MUCH and went >= _HALF * was.total() and came >= _HALF * went:
                return True
        return len(self._files) >= _MANY * len(self._tests.removed)

    @cached_property
    def _files(self) -> set[Pair]:
        """Those of tests that are kept."""
        return {one.after.pair for one in self._tests.kept}

    @cached_property
    def _expected_otherwise(self) -> dict[Side, list[frozenset[str]]]:
        """By file, for each test: the words of what it asks or runs with otherwise."""
        found: dict[Side, list[frozenset[str]]] = {}
        for one in self._kept:
            if weight(one.after) >= weight(one.before) and (words := _changed(one)):
                found.setdefault(one.before.side, []).append(words)
        return found


def _changed(one: Became) -> frozenset[str]:
    """Words of assertions and cases in place of which there are others."""
    was, now = one.before.test, one.after.test
    gone = without(strong(was.assertions), strong(now.assertions))
    come = without(strong(now.assertions), strong(was.assertions))
    texts = [each.text for each in gone] if len(come) >= len(gone) else []
    cases = list((Counter(was.cases) - Counter(now.cases)).elements())
    texts += cases if len(now.cases) >= len(was.cases) else []
    return frozenset(word for text in texts for word in words_of(text))


def _told_by_name(test: Placed) -> frozenset[str]:
    """Words of its name that hardly another test beside it has in its own."""
    names = [words_of(one.name) for one in test.side.facts.declarations if one.is_test]
    most = max(_SHARE * len(names), _SEVERAL)
    own = (word for word in words_of(test.short) if len(word) >= _SHORTEST)
    return frozenset(word for word in own if sum(word in name for name in names) <= most)
