"""What took the place of tests that are gone: others that ask the same, nearly the same, or as much."""

import re
from collections import Counter
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from untilproven.guard.besides import besides_assertions
from untilproven.guard.bindings import names_of
from untilproven.guard.claims import claim, strong
from untilproven.guard.comparison import Pair
from untilproven.guard.names import NAME, words_of
from untilproven.guard.pairing import IN_NAMES, Became, Placed, Tests, likeness

_NUMBER = re.compile(r"[\W_]*\d+\b")
_OF_TESTS = frozenset({"it", "spec", "specs", "suite"})
_SHARE = 0.5
_RELATED = 0.4
_TWIN = 0.6
_NEARLY_ALL = 0.8
_MADE_OF = 0.7
_SHORTEST = 3
_OF_A_FILE = re.compile(r"(?i)^tests?[-_]?|(?:[-_.]?(?:tests?|spec)|[-_.]it|(?-i:(?<=[a-z])IT))+$")
_SAID = re.compile(r"""(["'`])((?:(?!\1).){6,})\1""")
_TELLING = 6
"""So long is a name that is not written by chance."""
_HARDLY_ANOTHER = 2
_MOST = 3
_SEVERAL = 4
"""So many names must be a test's own to be looked for in others, or so many assertions."""


class Successors:
    def __init__(self, tests: Tests) -> None:
        self._tests = tests

    def of(self, test: Placed, own: frozenset[str], *, is_about_changed: bool) -> tuple[str, ...]:
        """`own` are names that few tests beside it have."""
        found = []
        if self._has_copy(test):
            found.append("duplicate")
        elif self._is_contained(test):
            found.append("twin")
        elif twins := self._twins(test):
            runs_more = any(one.test.running > test.test.running for one in twins)
            found.append("variant" if runs_more else "twin")
        renewed = self.renewed(test)
        certain = [one for one in renewed if _is_certainly(one, test)]
        if self._are_consolidated(test) or self._is_split(test) or self._is_part_of_another(test):
            found.append("consolidated")
        elif (certain and max(map(weight, certain)) >= weight(test)) or self._is_file_renewed(test):
            found.append("renewed")
        elif is_about_changed and self._is_rewritten(test, own):
            found.append("rewritten")
        elif renewed or self._has_file_for_it(test) or self._is_replaced(test, is_about_changed=is_about_changed):
            found.append("replaced")
        elif self._is_folded(test):
            found.append("folded")
        return tuple(found)

    def are_others_moved(self, test: Placed) -> bool:
        """Most of those that left its file are in another now."""
        moved = sum(one.before.pair is test.pair is not one.after.pair for one in self._kept)
        return moved >= _MOST * sum(one.pair is test.pair for one in self._tests.removed)

    def is_mostly_asked_beside(self, test: Placed) -> bool:
        """Half of what it asked others of its suite ask in the same words, and of nothing that it made itself."""
        asked, own = strong(test.test.assertions), frozenset(NAME.findall(besides_assertions(test)))
        suite = test.name.removesuffix(test.short)
        free = [claim(one) for one in asked if not own & names_of(one.text)]
        if len(asked) < _SEVERAL or 2 * len(free) < len(asked):
            return False
        beside = (one.after for one in self._kept if one.after.pair is test.pair and one.after.name.startswith(suite))
        there = {claim(each) for one in beside for each in strong(one.test.assertions)}
        return 2 * sum(each in there for each in free) >= len(asked)

    def _is_replaced(self, test: Placed, *, is_about_changed: bool) -> bool:
        is_covered = self._is_covered(test, test.words)
        if is_about_changed and is_covered and self._are_as_many(test):
            return True
        return self._is_in_other_files(test) or ((is_about_changed or is_covered) and self._is_outweighed(test))

    def _is_in_other_files(self, test: Placed) -> bool:
        """Tests there that have most of its words ask as much more as its file asks less."""
        alike = [one for one in self._gained if one.pair is not test.pair and _has_most(one, test)]
        grown = {id(one.after): weight(one.before) for one in self._grown}
        return sum(weight(one) - grown.get(id(one), 0) for one in alike) >= max(self._lost_with(test), 1)

    def _is_rewritten(self, test: Placed, own: frozenset[str]) -> bool:
        """Others beside it ask as much, and have most of what only it named."""
        return len(own) >= _SEVERAL and self._is_outweighed(test) and self._is_covered(test, own)

    def _has_copy(self, test: Placed) -> bool:
        """Word for word, in the same file; a name that was there twice hid one of the two."""
        beside = (one.after for one in self._kept if one.after.pair is test.pair)
        return any(one.body == test.body or one.name == test.name for one in beside)

    def _is_contained(self, test: Placed) -> bool:
        """Another test of its file, which was there before, has every line of it."""
        lines = _lines(test)
        beside = (one for one in self._kept if one.after.pair is test.pair and lines)
        return any(lines <= _lines(one.before) and lines <= _lines(one.after) for one in beside)

    def _twins(self, test: Placed) -> list[Placed]:
        """Those that have its name but for a number or what is around it, and most of its words. In another file the
        same words may be about something else."""
        name = _NUMBER.sub("", test.short)
        named = (one.after for one in self._kept if _NUMBER.sub("", one.after.short) == name)
        return [one for one in named if likeness(one, test) >= _TWIN] or self._near_copies(test)

    def _near_copies(self, test: Placed) -> list[Placed]:
        """Beside it, nearly word for word, and its name is the longer one of the two."""
        beside = (one.after for one in self._kept if one.after.pair is test.pair)
        named = (one for one in beside if test.short.startswith(one.short) and weight(one) >= weight(test))
        return [one for one in named if likeness(one, test) >= _NEARLY_ALL]

    def _are_consolidated(self, test: Placed) -> bool:
        """New and grown tests ask at least as much as those that went, and of the same things."""
        gained = [one for one in self._gained if _has_most(one, test)]
        is_named = bool(gained) and _name_what_it_asks(gained, test)
        return is_named and sum(map(weight, gained)) >= self._lost_with(test)

    def _is_folded(self, test: Placed) -> bool:
        """All that it wanted to be said is wanted, beside what they wanted before, by tests like it in its file."""
        wanted = [text for one in strong(test.test.assertions) for _, text in _SAID.findall(one.expected or "")]
        beside = [one for one in self._kept if one.after.pair is test.pair and _has_most(one.after, test)]
        came = [_wanted(one.after) - _wanted(one.before) for one in beside]
        return bool(wanted) and all(any(text in more for texts in came for more in texts) for text in wanted)

    def _is_split(self, test: Placed) -> bool:
        """New tests that are made of its words ask as much, and of the same things."""
        parts = [one for one in self._tests.added if len(one.words & test.words) >= _MADE_OF * len(one.words)]
        return len(parts) > 1 and _name_what_it_asks(parts, test) and sum(map(weight, parts)) >= self._lost_with(test)

    def _is_part_of_another(self, test: Placed) -> bool:
        """It was a part of a test with a name of its own, and that test asks by itself what it asked."""
        around = [one for one in self._kept if one.before.pair is test.pair and _is_in(test.name, one.before.name)]
        asked = {*map(claim, strong(test.test.assertions))}
        for one in around if asked else ():
            was, now = (Counter(map(claim, strong(side.test.assertions))) for side in (one.before, one.after))
            if all(0 < was[each] <= now[each] for each in asked):
                return True
        return False

    def renewed(self, test: Placed) -> list[Placed]:
        """New tests with nearly its name, or in a file that is named for it; by words that say something."""
        name = frozenset(word for word in words_of(test.short) if len(word) >= _SHORTEST)
        found = []
        for one in self._tests.added if name else ():
            other = words_of(one.short if one.pair is test.pair else f"{one.name} {one.path}")
            of = name | other if one.pair is test.pair else name
            is_near = len(name & other) >= _SHARE * len(of) or (
                one.pair is test.pair and one.short.startswith(test.short) and likeness(one, test) >= _RELATED
            )
            own = words_of(one.short)
            is_near = is_near or (bool(own) and own <= name <= words_of(one.name))
            if one.test.assertions and is_near:
                found.append(one)
        return found

    def _is_file_renewed(self, test: Placed) -> bool:
        """Its file is gone, and a new one with a name that says the same and more has most of its words and asks as
        much as all of it did."""
        if test.pair.after is not None:
            return False
        words = test.side.names
        for pair, added in self._new_files.items():
            there = pair.after.names if pair.after else frozenset()
            is_named_so = _stem(test.pair) and _stem(test.pair) <= _stem(pair)
            if is_named_so and added >= self._lost_with(test) and len(words & there) >= _SHARE * len(words):
                return True
        return False

    def _has_file_for_it(self, test: Placed) -> bool:
        """A new file of tests is named for something that it names, and hardly another beside it does; it asks as much
        as those that went."""
        for pair, added in self._new_files.items():
            name = _OF_A_FILE.sub("", PurePosixPath(pair.path).stem)
            is_named = len(name) >= _TELLING and name in test.words
            if is_named and added >= self._lost_with(test) and _tests_with(name, test) <= _HARDLY_ANOTHER:
                return True
        return False

    @cached_property
    def _new_files(self) -> dict[Pair, int]:
        """Of tests, with what these ask."""
        new = {one.pair for one in self._tests.added if one.pair.before is None}
        return {pair: sum(weight(one) for one in self._tests.added if one.pair is pair) for pair in new}

    def _is_outweighed(self, test: Placed) -> bool:
        """New and grown tests beside it ask as much."""
        added = sum(weight(one) for one in self._tests.added if one.pair is test.pair)
        grown = (one for one in self._grown if one.after.pair is test.pair)
        return added + sum(weight(one.after) - weight(one.before) for one in grown) >= self._lost_with(test)

    def _are_as_many(self, test: Placed) -> bool:
        """New tests beside it, each of which asks something, as those that went."""
        added = sum(weight(one) > 0 for one in self._tests.added if one.pair is test.pair)
        return added >= sum(one.pair is test.pair for one in self._tests.removed)

    def _is_covered(self, test: Placed, words: frozenset[str]) -> bool:
        """New and grown tests beside it have most of these words."""
        there = {name for one in self._gained if one.pair is test.pair for name in one.words}
        return len(words & there) >= _SHARE * len(words)

    def _lost_with(self, test: Placed) -> int:
        """What it and those that went with it asked."""
        return sum(len(one.test.assertions) for one in self._tests.removed if one.pair is test.pair)

    @cached_property
    def _kept(self) -> list[Became]:
        return [one for one in self._tests.kept if one.how != "hidden"]

    @cached_property
    def _grown(self) -> list[Became]:
        return [one for one in self._kept if one.differs and _asks(one.after) > _asks(one.before)]

    @cached_property
    def _gained(self) -> list[Placed]:
        return [one for one in (*self._tests.added, *(one.after for one in self._grown)) if one.test.assertions]


def _is_certainly(new: Placed, test: Placed) -> bool:
    """In another file that was there before, a new test with words of its name may be about something else: unless it
    has all of them and more in its own, or is about most of the same."""
    if new.pair is test.pair or new.pair.before is None or _has_most(new, test):
        return True
    name = frozenset(word for word in words_of(test.short) if len(word) >= _SHORTEST)
    return len(name) > 1 and (name <= words_of(new.short) or new.short.startswith(_NUMBER.sub("", test.short)))


def _name_what_it_asks(others: list[Placed], test: Placed) -> bool:
    """All but a few names of its assertions."""
    asked = {name for assertion in test.test.assertions for name in NAME.findall(assertion.text)}
    there = {name for one in others for name in one.words}
    return len(asked & there) >= _NEARLY_ALL * len(asked)


def _has_most(one: Placed, test: Placed) -> bool:
    """Of its words."""
    return len(one.words & test.words) >= _SHARE * len(test.words)


def _is_in(name: str, around: str) -> bool:
    return name.startswith(around) and IN_NAMES.match(name, len(around)) is not None


def weight(one: Placed) -> int:
    """How often it asks something that may fail."""
    return len(strong(one.test.assertions)) * max(len(one.test.cases), 1)


@lru_cache(maxsize=512)
def _lines(one: Placed) -> frozenset[str]:
    """Without the first, and without what only closes; letters as they are told in headers, in no case."""
    lines = (line.strip(" \t;,").lower() for line in one.text.splitlines()[1:])
    return frozenset(line for line in lines if NAME.search(line))


def _tests_with(name: str, test: Placed) -> int:
    """Tests of its file that have this word, itself among them."""
    texts = (one.text for one in test.side.facts.declarations if one.is_test)
    return sum(name in NAME.findall(text) for text in texts)


def _asks(one: Placed) -> int:
    return len(one.test.assertions) + len(one.test.cases)


def _stem(pair: Pair) -> frozenset[str]:
    return words_of(PurePosixPath(pair.path).stem) - _OF_TESTS


def _wanted(test: Placed) -> frozenset[str]:
    """Texts that it wants to be said."""
    return frozenset(text for one in test.test.assertions for _, text in _SAID.findall(one.expected or ""))
