"""What may be said for a change that looks bad. It makes a finding weigh less; it never takes it away."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from untilproven.guard.comparison import Comparison, Pair, Side
from untilproven.guard.facts import Strength
from untilproven.guard.kinds import is_prose
from untilproven.guard.languages import grammar_of
from untilproven.guard.pairing import Became, Placed, Tests, functions_of

_DEFINED = re.compile(
    r"\b(?:class|struct|enum|interface|trait|type|object|def|fn|func|fun|function|const|static|record|macro_rules!)\s+"
    r"(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)"
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_EVERYWHERE = frozenset(
    {"test", "tests", "self", "this", "main", "init", "index", "None", "True", "False", "null", "true", "false"}
    | {"async", "await", "with", "from", "import", "assert", "const", "function", "else", "type", "should", "expect"}
    | {"value", "name", "data", "result", "error", "when", "that", "Error", "func", "string", "return", "typeof"}
    | {"object", "undefined", "toString", "length", "message", "__name__", "number", "text", "Type", "property"}
)
"""Names that relate nothing to anything."""
_OF_TESTS = re.compile(r"(?i)^tests?[-_]?|[-_.]?(?:tests?|spec)$")
_TOKEN = re.compile(r"\w+")
_SHORTEST = 4
_SHARE = 0.5
_NEARLY_ALL = 0.8
_A_FEW = 5
_REMARK = re.compile(r"#(?!\[)|//|/\*|\*(?:\s|/|$)|<!--")
_NO_REQUIREMENT = re.compile(r"\W*(?:version|requires-python|python_requires|edition|rust-version|node)\b|.*::|\D*$")
"""A line that names no version of something else."""


class Explanations:
    """Of what became of tests."""

    def __init__(self, comparison: Comparison, tests: Tests) -> None:
        self._comparison, self._tests = comparison, tests

    def of_removed(self, test: Placed) -> tuple[str, ...]:
        found = []
        if test.words & self._gone or _OF_TESTS.sub("", PurePosixPath(test.path).stem) in self._gone:
            found.append("symbol-removed")
        elif test.words & self._words_gone or test.words & self._undefined:
            found.append("source-removed")
        if self._is_elsewhere(test):
            found.append("duplicate")
        if self._is_consolidated(test):
            found.append("consolidated")
        elif renewed := self._renewed(test):
            found.append("renewed" if max(map(_weight, renewed)) >= _weight(test) else "replaced")
        elif self._is_outweighed(test) and (self._is_about_changed(test) or self._is_covered(test)):
            found.append("replaced")
        return tuple(found)

    def of_changed(self, test: Placed) -> tuple[str, ...]:
        """Its subject was changed, too: it names something of the source that differs, or is named after it."""
        found = ["source-changed"] if self._is_about_changed(test) else []
        return (*found, *(["dependencies-changed"] if self._requirements_changed else []))

    def of_assertion(self, one: Became, was: str, now: str = "") -> tuple[str, ...]:
        """Of one that went, or of its value that is another. That the subject of the test was changed says little for
        an assertion that has no word in common with that, or for a value that the test still gives by itself."""
        found = list(self.of_changed(one.before))
        lost, come = _tokens(was) - _tokens(now), _tokens(now) - _tokens(was)
        before, after = _rest(one.before.text, was), _rest(one.after.text, now)
        if come & (after - before) or lost & (before - after):
            found.append("input-changed")
        is_backed = "input-changed" in found or come & self._tokens[1] or lost & self._tokens[0]
        is_echo = bool(lost and come) and lost <= after and not come & after
        if "source-changed" in found and (is_backed or (now and not is_echo)):
            found.append("backed")
        return tuple(found)

    @cached_property
    def _tokens(self) -> tuple[frozenset[str], frozenset[str]]:
        """Of lines of the source that went, and of those that came."""
        was, now = Counter[str](), Counter[str]()
        for pair in self._source:
            was += _lines(pair.before) - _lines(pair.after)
            now += _lines(pair.after) - _lines(pair.before)
        return _tokens("\n".join(was)), _tokens("\n".join(now))

    def _is_about_changed(self, test: Placed) -> bool:
        """It names something that differs, and that few tests beside it name; or it is named after it."""
        about = _parts(f"{test.name} {PurePosixPath(test.path).stem}")
        words = test.words & (self._touched | self._gone)
        common = _common(test.side) if words else frozenset()
        return bool(words - common or about & (self._parts_touched | self._gone))

    @cached_property
    def _gone(self) -> frozenset[str]:
        """Names that were defined in the source, and are not even mentioned any more where something differs."""
        return self._undefined - self._there

    @cached_property
    def _undefined(self) -> frozenset[str]:
        """Names that were defined in the source more often than they are now, where something differs."""
        was = _defined(line for pair in self._source for line in _lines(pair.before).elements())
        now = _defined(line for pair in self._source for line in _lines(pair.after).elements())
        files = {PurePosixPath(pair.path).stem for pair in self._source if pair.after is None}
        return frozenset(name for name in {*(was - now), *files} if len(name) >= _SHORTEST) - _EVERYWHERE

    @cached_property
    def _there(self) -> frozenset[str]:
        """Every word of what differs, as it is now; what is removed is told to readers, and is gone all the same."""
        texts = (pair.after.text for pair in self._comparison.pairs if pair.after and not is_prose(pair.path))
        return frozenset(name for text in texts for name in _NAME.findall(text))

    @cached_property
    def _words_gone(self) -> frozenset[str]:
        """Words of lines of the source that went, and that no file has any more that differs."""
        was = {
            name
            for pair in self._source
            for line in _lines(pair.before) - _lines(pair.after)
            for name in _NAME.findall(line)
        }
        return frozenset(name for name in was - self._there - _EVERYWHERE if len(name) >= _SHORTEST)

    @cached_property
    def _touched(self) -> frozenset[str]:
        """Files and functions of the source that differ or are new, and names on lines of it that differ."""
        named = {name for text in self._named for name in _NAME.findall(text)}
        names = {name for pair in self._source for name in _names_changed(pair)}
        return frozenset(name for name in named | names if len(name) >= _SHORTEST) - _EVERYWHERE

    @cached_property
    def _named(self) -> list[str]:
        """Files of the source that differ, and functions in them that do."""
        source = {pair.path for pair in self._source}
        functions = (one.name for _, one in functions_of(self._comparison) if one.pair.path in source)
        return [*functions, *(PurePosixPath(path).stem for path in source)]

    @cached_property
    def _parts_touched(self) -> frozenset[str]:
        """The same, and the words that these names are made of."""
        parts = {part for name in self._named for part in _parts(name)}
        return self._touched | frozenset(part for part in parts if len(part) >= _SHORTEST) - _EVERYWHERE

    @cached_property
    def _source(self) -> list[Pair]:
        """Where something differs that somebody wrote and that is no test: some languages have tests beside it."""
        unread = {one.path for one in self._comparison.not_analysed if grammar_of(one.path)}
        pairs = (pair for pair in self._comparison.of_kind("source") if not is_prose(pair.path))
        return [pair for pair in pairs if pair.path not in unread and _lines(pair.before) != _lines(pair.after)]

    @cached_property
    def _requirements_changed(self) -> bool:
        """Whether the project depends on another version of something."""
        for pair in self._comparison.of_kind("mixed"):
            was, now = _lines(pair.before), _lines(pair.after)
            if any(not _NO_REQUIREMENT.match(line) for line in (*(was - now), *(now - was))):
                return True
        return False

    def _is_elsewhere(self, test: Placed) -> bool:
        """Word for word; a name that was there twice hid one of the two."""
        return any(
            one.after.body == test.body or (one.after.name == test.name and one.after.pair is test.pair)
            for one in self._tests.kept
            if one.how != "hidden"
        )

    def _is_consolidated(self, test: Placed) -> bool:
        """New and grown tests ask at least as much as those that went, and of the same things."""
        gained = [one for one in self._gained if len(one.words & test.words) >= _SHARE * len(test.words)]
        asked = {name for assertion in test.test.assertions for name in _NAME.findall(assertion.text)}
        there = {name for one in gained for name in one.words}
        if len(asked & there) < _NEARLY_ALL * len(asked):
            return False
        return bool(gained) and sum(map(_weight, gained)) >= self._lost_with(test)

    def _renewed(self, test: Placed) -> list[Placed]:
        """New tests with nearly its name, or in a file that is named for it."""
        name = _name_words(test.short)
        found = []
        for one in self._tests.added if name else ():
            other = _name_words(one.short if one.pair is test.pair else f"{one.name} {one.path}")
            of = name | other if one.pair is test.pair else name
            if one.test.assertions and len(name & other) >= _SHARE * len(of):
                found.append(one)
        return found

    def _is_outweighed(self, test: Placed) -> bool:
        """New and grown tests beside it ask as much."""
        added = sum(_weight(one) for one in self._tests.added if one.pair is test.pair)
        grown = (one for one in self._grown if one.after.pair is test.pair)
        return added + sum(_weight(one.after) - _weight(one.before) for one in grown) >= self._lost_with(test)

    def _is_covered(self, test: Placed) -> bool:
        """New and grown tests beside it have most of its words."""
        there = {name for one in self._gained if one.pair is test.pair for name in one.words}
        return len(test.words & there) >= _NEARLY_ALL * len(test.words)

    def _lost_with(self, test: Placed) -> int:
        """What it and those that went with it asked."""
        return sum(len(one.test.assertions) for one in self._tests.removed if one.pair is test.pair)

    @cached_property
    def _grown(self) -> list[Became]:
        differ = (one for one in self._tests.kept if one.differs and one.how != "hidden")
        return [one for one in differ if _asks(one.after) > _asks(one.before)]

    @cached_property
    def _gained(self) -> list[Placed]:
        return [one for one in (*self._tests.added, *(one.after for one in self._grown)) if one.test.assertions]


@lru_cache(maxsize=16)
def _common(side: Side) -> frozenset[str]:
    """Words that most tests of a file have: they do not say what one of them is about."""
    tests = sum(one.is_test for one in side.facts.declarations)
    most = max(_SHARE * tests, _A_FEW)
    return frozenset(word for word, times in Counter(_NAME.findall(side.text)).items() if times > most)


def _names_changed(pair: Pair) -> frozenset[str]:
    """Names on lines that came or went."""
    was, now = _lines(pair.before), _lines(pair.after)
    return frozenset(name for line in (*(was - now), *(now - was)) for name in _NAME.findall(line))


@lru_cache(maxsize=64)
def _lines(side: Side | None) -> Counter[str]:
    """Without those of tests, and without remarks."""
    if side is None:
        return Counter()
    lines = side.text.splitlines()
    for one in side.facts.declarations:
        if one.is_test:
            reach = one.node.range()
            first, last = reach.start.line, reach.end.line + 1
            while first and lines[first - 1].lstrip().startswith(("#[", "@")):
                first -= 1
            lines[first:last] = [""] * (last - first)
    return Counter(line for line in map(str.strip, lines) if not _REMARK.match(line))


def _tokens(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(text))


def _rest(text: str, part: str) -> frozenset[str]:
    """The words of a text besides those of a part of it."""
    return frozenset(Counter(_TOKEN.findall(text)) - Counter(_TOKEN.findall(part)))


def _parts(name: str) -> frozenset[str]:
    """A name, and the words that it is made of."""
    return frozenset({*_NAME.findall(name), *(word.lower() for word in _WORD.findall(name))})


def _name_words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name)) - _EVERYWHERE


def _asks(one: Placed) -> int:
    return len(one.test.assertions) + len(one.test.cases)


def _weight(one: Placed) -> int:
    """How often it asks something that may fail."""
    strong = sum(assertion.strength > Strength.NOTHING for assertion in one.test.assertions)
    return strong * max(len(one.test.cases), 1)


def _defined(texts: Iterable[str]) -> Counter[str]:
    return Counter(name for text in texts for name in _DEFINED.findall(text))
