"""Where else it is asked now: assertions that went from a test, and that others have, or that the test has in another
form. What is asked of something that only the test knows has gone elsewhere only together with that."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import pairwise

from untilproven.guard.besides import besides_assertions
from untilproven.guard.bindings import CALLED, LITERAL, OF_THE_LANGUAGE, bound_in
from untilproven.guard.claims import claim, denies, strong, without
from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.meaning import meaning
from untilproven.guard.names import NAME
from untilproven.guard.pairing import Became, Placed, Tests
from untilproven.guard.preparing import not_prepared
from untilproven.guard.restating import is_restated
from untilproven.guard.saying import is_said
from untilproven.guard.tokens import tokens_of
from untilproven.guard.wholes import is_part_of_whole

_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_TEXT_IN_A_LINE = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
_LONG_TEXT = re.compile(r"\"\"\"|'''|`")
_BLOCK = re.compile(r"(?:=>|[\w)>|])\s*\{\s*$")
_MAKER = re.compile(r"(?:\b(?:await|new) )?[\w$.:]+(?=\()")
_A_FEW = 2
_MOST = 0.7
_TELLING = 4
"""So long is a text that nobody writes twice by chance."""


class Gained:
    """A test that asks more than it did, or that is new."""

    def __init__(self, test: Placed, come: list[Assertion]) -> None:
        self.test = test
        self.claims = Counter(map(claim, come))
        self.cases = [_literals(case) for case in test.test.cases]
        self.names = test.words | {test.short}
        self.room = len(come) * len(self.cases)
        """How many that went its cases can stand for."""


class Elsewhere:
    """What tests ask that did not ask it before."""

    def __init__(self, tests: Tests) -> None:
        self._tests = tests
        self._own: dict[int, Gained] = {}

    def lost(self, one: Became, gone: list[Assertion], come: list[Assertion]) -> list[Assertion]:
        """Those of the gone that are asked nowhere. A few whose subject the test no longer has are no loss if it asks
        as strictly about another; where it is many, more was lost than that."""
        asked = [old for old in gone if not _is_still_asked(old, one, come)]
        left = [old for old in not_prepared(asked, one) if not self._is_moved(old, one)]
        others = [old for old in left if not _is_about_another(old, one, come)]
        return others if len(left) <= _A_FEW else left

    def are_about_another(self, one: Became, lost: list[Assertion], come: list[Assertion]) -> bool:
        """All of those that are asked nowhere were asked of something that the file knows no longer."""
        return bool(lost) and all(_is_about_another(old, one, come) for old in lost)

    def are_asked_of_others(self, one: Became, lost: list[Assertion]) -> bool:
        """At least half of those are asked in the same words by tests that ask more now, be it of something else."""
        others = [gained for gained in self._gained if gained.test is not one.after]
        return 2 * sum(any(claim(old) in other.claims for other in others) for old in lost) >= len(lost)

    def are_split(self, one: Became, lost: list[Assertion]) -> bool:
        """New tests ask each of them word for word, of something that is made in the same way, if perhaps of something
        else; or a function asks about the same that the test calls now; or one that is called like it and more does."""
        added = [(test.text, frozenset(map(claim, strong(test.test.assertions)))) for test in self._tests.added]
        if self._has_namesake(one, lost):
            return True
        return all(
            _is_asked_by_helper(old, one)
            or any(
                claim(old) in claims and _makers(old, one.before.text) <= _makers(old, text) for text, claims in added
            )
            for old in lost
        )

    def _has_namesake(self, one: Became, lost: list[Assertion]) -> bool:
        """A new test of its file, which has the whole of its name in its own, calls most of what they called, and
        asks as often."""
        called = {name for old in lost for name in CALLED.findall(old.about + " " + (old.expected or ""))}
        beside = (added for added in self._tests.added if added.path == one.after.path)
        named = (added for added in beside if f"_{one.before.short}_" in f"_{added.short}_")
        alike = (added for added in named if len(called & added.words) > _MOST * len(called))
        return any(len(strong(added.test.assertions)) >= len(lost) for added in alike)

    def has_cases(self, one: Became, cases: list[str]) -> bool:
        """Whether others run with each of these, or the test itself, put in another way. One that also runs with those
        that are left is modelled on it, and has taken nothing over."""
        left = set(one.after.test.cases)
        others = [gained.test for gained in self._gained if left.isdisjoint(gained.test.test.cases)]
        own = [_literals(case) for case in one.after.test.cases if case not in one.before.test.cases]
        return all(
            any(_has_case(other, case) for other in others)
            or (_is_telling(case) and any(_literals(case) <= new for new in own))
            for case in cases
        )

    def _rows_of(self, one: Became) -> list[Gained]:
        """The test itself, with the cases that it did not have."""
        if id(one) not in self._own:
            come = without(strong(one.after.test.assertions), strong(one.before.test.assertions))
            gained = Gained(one.after, come)
            new = [case for case in one.after.test.cases if case not in one.before.test.cases]
            gained.cases = [_literals(case) for case in new]
            gained.room = len(come) * len(new)
            self._own[id(one)] = gained
        return [self._own[id(one)]]

    def cases_of_others(self, one: Became) -> str:
        """All that tests beside it run with that did not, as written."""
        known = {case for each in self._tests.kept if each.differs for case in each.before.test.cases}
        others = (gained.test.test.cases for gained in self._all_gained() if gained.test is not one.after)
        return " ".join(case for cases in others for case in cases if case not in known)

    @cached_property
    def _gained(self) -> list[Gained]:
        return [gained for gained in self._all_gained() if gained.claims]

    def _all_gained(self) -> Iterator[Gained]:
        for added in self._tests.added:
            yield Gained(added, strong(added.test.assertions))
        for one in self._tests.kept:
            if one.differs and one.how != "hidden":
                was, now = strong(one.before.test.assertions), strong(one.after.test.assertions)
                yield Gained(one.after, without(now, was))

    def _is_moved(self, old: Assertion, one: Became) -> bool:
        others = [gained for gained in self._gained if gained.test is not one.after]
        for other in others:
            if other.claims[claim(old)] and _went_along(old, one, other.test):
                if not other.cases:
                    other.claims[claim(old)] -= 1
                return True
        literals = _literals(old.text)
        names = frozenset(NAME.findall(LITERAL.sub("", old.text)))
        for other in (*others, *self._rows_of(one)):
            if literals and other.room and names <= other.names and any(literals <= case for case in other.cases):
                other.room -= 1
                return True
        return False


def are_written_out(one: Became, cases: list[str]) -> bool:
    """What the test asked of each case it asks one by one."""
    was, now = one.before.test, one.after.test
    asked, left = (len(strong(side.assertions)) * max(len(side.cases), 1) for side in (was, now))
    there = tokens_of(" ".join(each.text for each in now.assertions))
    given = (tokens_of(" ".join(LITERAL.findall(case))) or tokens_of(case) for case in cases)
    return left >= asked and all(words <= there for words in given)


def _has_case(test: Placed, case: str) -> bool:
    """It has the values of the case; or it is named like one that is only a name."""
    literals = LITERAL.findall(case)
    if literals == [case] and _NAME_WORD.search(case) and _name_words(case) <= _name_words(test.short):
        return True
    return _is_telling(case) and _literals(case) <= _literals(test.text)


def _is_telling(text: str) -> bool:
    return any(len(literal) >= _TELLING + 2 for literal in LITERAL.findall(text))


@lru_cache(maxsize=256)
def _literals(text: str) -> frozenset[str]:
    return frozenset(map(meaning, LITERAL.findall(text)))


def _name_words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _NAME_WORD.findall(name))


def _is_still_asked(old: Assertion, one: Became, come: list[Assertion]) -> bool:
    """By the test itself: it stood there twice, in a row; it was asked by a function in whose place as much is asked,
    or stands in one that the test calls now; another asks at least that, or for the whole of which it asked a part; or
    what it is about is gone from the test, and it said little."""
    if _stood_twice(old, one) or _is_written_out(old, one) or _is_taken_over(old, one) or is_said(old, one, come):
        return True
    if is_restated(old, one, come) or any(is_asked_as_a_whole(old, new, one) for new in come):
        return True
    if old.expected and any(new.error is not None and new.expected == old.expected for new in come):
        return True
    literals = LITERAL.findall(old.text)
    for new in come:
        if new.strength < old.strength or not literals or denies(new) != denies(old):
            continue
        same = new.about == old.about or _is_telling(old.text)
        if same and all(_inside(text) in new.text for text in literals):
            return True
    if old.strength is Strength.SOMETHING and any(new.strength > Strength.SOMETHING for new in come):
        *_, asked = ("", *NAME.findall(old.about.partition("(")[0]))
        return bool(asked) and asked not in one.after.words
    return False


def is_asked_as_a_whole(old: Assertion, new: Assertion, one: Became) -> bool:
    bound = bound_in(one.before.text)
    made_of = frozenset(value for name in NAME.findall(old.about) for value in bound.get(name, ()))
    return is_part_of_whole(old, new, made_of)


def _is_about_another(old: Assertion, one: Became, come: list[Assertion]) -> bool:
    """What it calls and begins with is gone from the test, something of what that comes from is gone from the whole
    file, and something is asked as strictly."""
    if not any(new.strength >= old.strength and denies(new) == denies(old) for new in come):
        return False
    about = LITERAL.sub("", old.about)
    names = [name for name in NAME.findall(about) if name not in OF_THE_LANGUAGE]
    subject = {*names[:1], *(name for name in CALLED.findall(about) if name in names)}
    if not subject or subject & _names_in(one.after.text):
        return False
    named = bound_in(one.before.text)
    values = " ".join(value for name in _origins(about, named) for value in named[name])
    return bool({*names, *_names_in(values)} - _names_in(one.after.side.text))


@lru_cache(maxsize=64)
def _names_in(text: str) -> frozenset[str]:
    return frozenset(NAME.findall(_TEXT_IN_A_LINE.sub("", text)))


def _is_taken_over(old: Assertion, one: Became) -> bool:
    """By a function beside the test that it did not call before."""
    return any(old.text in " ".join(text.split()) for text in _called_anew(one))


def _is_asked_by_helper(old: Assertion, one: Became) -> bool:
    """Such a function asks about the same, and as often."""
    times = sum(each.about == old.about for each in one.before.test.assertions)
    asking = f"{old.text.split()[0]} {old.about}"
    return any(" ".join(text.split()).count(asking) >= times for text in _called_anew(one))


def _makers(old: Assertion, text: str) -> frozenset[str]:
    """By what the things are made in a test that an assertion names."""
    bound = bound_in(text)
    values = (value for name in NAME.findall(LITERAL.sub("", old.text)) for value in bound.get(name, ()))
    return frozenset(value.partition("(")[0] for value in values)


def _called_anew(one: Became) -> Iterator[str]:
    called = one.after.words - one.before.words
    helpers = (each for each in one.after.side.facts.declarations if not each.is_test)
    return (each.text for each in helpers if re.split(r"::|\.", each.name)[-1] in called)


def _inside(literal: str) -> str:
    return literal[1:-1] if literal[0] in "\"'`" else literal


def _stood_twice(old: Assertion, one: Became) -> bool:
    if all(old.text != left.text for left in one.after.test.assertions):
        return False
    lines = [line.strip() for line in one.before.text.splitlines() if line.strip()]
    return any(old.text in line and line == following for line, following in pairwise(lines))


def _is_written_out(old: Assertion, one: Became) -> bool:
    return old not in _own(one.before) and len(_own(one.after)) >= len(_own(one.before))


@lru_cache(maxsize=64)
def _own(test: Placed) -> list[Assertion]:
    """What it asks itself, not by a function that it calls."""
    reach = test.declaration.node.range()
    first, last = reach.start.line + 1, reach.end.line + 1
    return [asked for asked in strong(test.test.assertions) if first <= asked.line <= last]


def _went_along(old: Assertion, one: Became, other: Placed) -> bool:
    """Names that the test gives to something are given to the same elsewhere, and no longer as often here."""
    was, now, there = (bound_in(text) for text in (one.before.text, one.after.text, other.text))
    names = [name for name in NAME.findall(LITERAL.sub("", old.text)) if name in was]
    return not names or any((was[name] - now.get(name, Counter())) & there.get(name, Counter()) for name in names)


def gives_otherwise(one: Became, about: str) -> bool:
    """What is asked about is made of something else in the test than it was, or something else is done to it; that it
    is made by another function, which may be the same under another name, says nothing."""
    texts = [_on_one_line(besides_assertions(side)) for side in (one.before, one.after)]
    was, now = map(bound_in, texts)
    names = _origins(about, was) & now.keys()
    return any(_given(was[name]) != _given(now[name]) or len({*_done_to(name, *texts)}) > 1 for name in names)


def _done_to(name: str, *texts: str) -> Iterator[frozenset[str]]:
    """Lines by which it is told something, in each text."""
    told = re.compile(rf"(?m)^\s*{re.escape(name)}(?:\.[\w$]+)+\(.*$")
    return (frozenset(map(str.strip, told.findall(text))) for text in texts)


@lru_cache(maxsize=64)
def _on_one_line(code: str) -> str:
    """What is opened on one line and closed on another stands on one; blocks stay as they are, and so does all of it
    where something is never closed."""
    lines, depth, quotes = list[str](), 0, 0
    for line in code.splitlines():
        if lines and (depth > 0 or quotes % 2):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
        quotes += len(_LONG_TEXT.findall(line))
        bare = "" if quotes % 2 or _BLOCK.search(line) else _TEXT_IN_A_LINE.sub("", line)
        depth = max(depth + sum(bare.count(sign) for sign in "([{") - sum(bare.count(sign) for sign in ")]}"), 0)
    return code if depth or quotes % 2 else "\n".join(lines)


def _given(values: Counter[str]) -> frozenset[str]:
    return frozenset(meaning(_MAKER.sub("", value)) for value in values)


def _origins(text: str, named: dict[str, Counter[str]]) -> frozenset[str]:
    """Names in it that are given to something, and those in what they are given to."""
    found: set[str] = set()
    texts = [text]
    while texts:
        names = {name for name in NAME.findall(LITERAL.sub("", texts.pop())) if name in named} - found
        found |= names
        texts += [value for name in names for value in named[name]]
    return frozenset(found)
