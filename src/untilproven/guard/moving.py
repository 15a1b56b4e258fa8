"""Where else it is asked now: assertions that went from a test, and that others have, or that the test has in another
form. What is asked of something that only the test knows has gone elsewhere only together with that."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import pairwise

from untilproven.guard.claims import claim, denies, strong, without
from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.meaning import meaning
from untilproven.guard.pairing import Became, Placed, Tests

_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_LITERAL = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|(?<![\w.])\d[\w.]*")
_BOUND = re.compile(
    r"(?m)(?<![\w$])([A-Za-z_$][\w$]*(?:\s*,\s*[A-Za-z_$][\w$]*){0,5})\s*(?::\s*[\w.<>\[\]]+\s*)?(?::=|=(?![=>]))\s*(.+)$"
    r"|\bwith\b(.{1,200}?)\bas\b\s*(.+)$|\bfor\b(.{1,200}?)\bin\b\s*(.+)$|^(.*?)\(([\w ,$]*)\) *(?:=> *\{?|\{) *$"
)
"""A name and its value; what is opened, and the name it is opened as; a name, and what it goes through; a function that
is called back, and its parameters."""
_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_TEXT_IN_A_LINE = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
_MAKER = re.compile(r"(?:\b(?:await|new) )?[\w$.:]+(?=\()")
_CALLED = re.compile(r"([A-Za-z_$][\w$]*)\s*\(")
_OF_THE_LANGUAGE = frozenset(
    {"len", "list", "str", "repr", "int", "set", "sorted", "tuple", "dict", "bool", "type", "isinstance", "string"}
    | {"await", "new", "self", "this", "not"}
)
"""Names that say nothing about what is asked."""
_A_FEW = 2
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

    def lost(self, one: Became, gone: list[Assertion], come: list[Assertion]) -> list[Assertion]:
        """Those of the gone that are asked nowhere. A few whose subject the test no longer has are no loss if it asks
        as strictly about another; where it is many, more was lost than that."""
        left = [old for old in gone if not (_is_still_asked(old, one, come) or self._is_moved(old, one))]
        others = [old for old in left if not _is_about_another(old, one, come)]
        return others if len(left) <= _A_FEW else left

    def are_about_another(self, one: Became, lost: list[Assertion], come: list[Assertion]) -> bool:
        """All of those that are asked nowhere were asked of something that the file knows no longer."""
        return bool(lost) and all(_is_about_another(old, one, come) for old in lost)

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
        names = frozenset(_NAME.findall(_LITERAL.sub("", old.text)))
        for other in others:
            if literals and other.room and names <= other.names and any(literals <= case for case in other.cases):
                other.room -= 1
                return True
        return False


def _has_case(test: Placed, case: str) -> bool:
    """It has the values of the case; or it is named like one that is only a name."""
    literals = _LITERAL.findall(case)
    if literals == [case] and _NAME_WORD.search(case) and _name_words(case) <= _name_words(test.short):
        return True
    return _is_telling(case) and _literals(case) <= _literals(test.text)


def _is_telling(text: str) -> bool:
    return any(len(literal) >= _TELLING + 2 for literal in _LITERAL.findall(text))


@lru_cache(maxsize=256)
def _literals(text: str) -> frozenset[str]:
    return frozenset(map(meaning, _LITERAL.findall(text)))


def _name_words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _NAME_WORD.findall(name))


def _is_still_asked(old: Assertion, one: Became, come: list[Assertion]) -> bool:
    """By the test itself: it stood there twice, in a row; it was asked by a function in whose place as much is asked,
    or stands in one that the test calls now; another asks at least that; or what it is about is gone from the test,
    and it said little."""
    if _stood_twice(old, one) or _is_written_out(old, one) or _is_taken_over(old, one):
        return True
    literals = _LITERAL.findall(old.text)
    for new in come:
        if new.strength < old.strength or not literals or denies(new) != denies(old):
            continue
        same = new.about == old.about or _is_telling(old.text)
        if same and all(_inside(text) in new.text for text in literals):
            return True
    if old.strength is Strength.SOMETHING and any(new.strength > Strength.SOMETHING for new in come):
        *_, asked = ("", *_NAME.findall(old.about.partition("(")[0]))
        return bool(asked) and asked not in one.after.words
    return False


def _is_about_another(old: Assertion, one: Became, come: list[Assertion]) -> bool:
    """What it calls and begins with is gone from the test, something of what that comes from is gone from the whole
    file, and something is asked as strictly."""
    if not any(new.strength >= old.strength and denies(new) == denies(old) for new in come):
        return False
    about = _LITERAL.sub("", old.about)
    names = [name for name in _NAME.findall(about) if name not in _OF_THE_LANGUAGE]
    subject = {*names[:1], *(name for name in _CALLED.findall(about) if name in names)}
    if not subject or subject & _names_in(one.after.text):
        return False
    bound = _bound(one.before.text)
    values = " ".join(value for name in _origins(about, bound) for value in bound[name])
    return bool({*names, *_names_in(values)} - _names_in(one.after.side.text))


@lru_cache(maxsize=64)
def _names_in(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(_TEXT_IN_A_LINE.sub("", text)))


def _is_taken_over(old: Assertion, one: Became) -> bool:
    """By a function beside the test that it did not call before."""
    called = one.after.words - one.before.words
    helpers = (each for each in one.after.side.facts.declarations if not each.is_test)
    texts = (each.text for each in helpers if re.split(r"::|\.", each.name)[-1] in called)
    return any(old.text in " ".join(text.split()) for text in texts)


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
    was, now, there = (_bound(text) for text in (one.before.text, one.after.text, other.text))
    names = [name for name in _NAME.findall(_LITERAL.sub("", old.text)) if name in was]
    return not names or any((was[name] - now.get(name, Counter())) & there.get(name, Counter()) for name in names)


def gives_otherwise(one: Became, about: str) -> bool:
    """What is asked about is made of something else in the test than it was; that it is made by another function, which
    may be the same under another name, says nothing."""
    was, now = (_bound(besides_assertions(side)) for side in (one.before, one.after))
    names = {*_NAME.findall(_LITERAL.sub("", about))} & was.keys() & now.keys()
    return any(_given(was[name]) != _given(now[name]) for name in names)


def besides_assertions(test: Placed) -> str:
    asked = "\n".join(one.text for one in test.test.assertions)
    return "\n".join(line for line in test.text.splitlines() if " ".join(line.split()) not in asked)


def _given(values: Counter[str]) -> frozenset[str]:
    return frozenset(_MAKER.sub("", value) for value in values)


def _origins(text: str, bound: dict[str, Counter[str]]) -> frozenset[str]:
    """Names in it that are given to something, and those in what they are given to."""
    found: set[str] = set()
    texts = [text]
    while texts:
        names = {name for name in _NAME.findall(_LITERAL.sub("", texts.pop())) if name in bound} - found
        found |= names
        texts += [value for name in names for value in bound[name]]
    return frozenset(found)


@lru_cache(maxsize=64)
def _bound(text: str) -> dict[str, Counter[str]]:
    """What is given a name, by these names."""
    bound: dict[str, Counter[str]] = {}
    for names, value, opened, opened_as, each, of, called, given in _BOUND.findall(text):
        for name in _NAME.findall(names or opened_as or each or given):
            bound.setdefault(name, Counter())[" ".join((value or opened or of or called).split())] += 1
    return bound
