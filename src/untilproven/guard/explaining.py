"""What may be said for a change that looks bad. It makes a finding weigh less; it never takes it away."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import PurePosixPath

from untilproven.guard.comparison import Comparison, Pair, Side
from untilproven.guard.pairing import Placed, Tests, functions_of

_DEFINED = re.compile(
    r"\b(?:class|struct|enum|interface|trait|type|object|def|fn|func|fun|function|const|static|record|macro_rules!)\s+"
    r"(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)"
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_EVERYWHERE = frozenset(
    {
        "test",
        "tests",
        "self",
        "this",
        "main",
        "init",
        "index",
        "None",
        "True",
        "False",
        "null",
        "true",
        "false",
        "return",
    }
    | {"async", "await", "with", "from", "import", "assert", "const", "function", "else", "type", "should", "expect"}
    | {"value", "name", "data", "result", "error", "when", "that", "Error", "func", "string"}
)
"""Names that relate nothing to anything."""
_SHORTEST = 4
_SHARE = 0.5


class Explanations:
    """Of what became of tests."""

    def __init__(self, comparison: Comparison, tests: Tests) -> None:
        self._comparison, self._tests = comparison, tests

    def of_removed(self, test: Placed) -> tuple[str, ...]:
        found = []
        if test.words & self._gone:
            found.append("symbol-removed")
        if self._is_elsewhere(test):
            found.append("duplicate")
        if self._is_consolidated(test):
            found.append("consolidated")
        return tuple(found)

    def of_changed(self, test: Placed) -> tuple[str, ...]:
        """Its subject was changed, too: it names something of the source that differs, or is named after it."""
        about = test.words | _parts(f"{test.name} {PurePosixPath(test.path).stem}")
        found = ["source-changed"] if about & (self._touched | self._gone) else []
        return (*found, *(["dependencies-changed"] if self._comparison.dependencies_changed else []))

    @cached_property
    def _gone(self) -> frozenset[str]:
        """Names that were defined in the source, and are not even mentioned any more where something differs."""
        was = _defined(pair.before.text for pair in self._source if pair.before)
        now = _defined(pair.after.text for pair in self._source if pair.after)
        files = {PurePosixPath(pair.path).stem for pair in self._source if pair.after is None}
        gone = {name for name in (was - now) | files if len(name) >= _SHORTEST}
        there = {name for pair in self._comparison.pairs if pair.after for name in _NAME.findall(pair.after.text)}
        return frozenset(gone - there)

    @cached_property
    def _touched(self) -> frozenset[str]:
        """Files and functions of the source that differ or are new, and names on lines of it that differ."""
        functions = {
            name for _, one in functions_of(self._comparison) if not one.pair.is_test for name in _parts(one.name)
        }
        files = {part for pair in self._source for part in _parts(PurePosixPath(pair.path).stem)}
        names = {name for pair in self._source for name in _names_changed(pair)}
        return frozenset(name for name in functions | files | names if len(name) >= _SHORTEST) - _EVERYWHERE

    @property
    def _source(self) -> Iterable[Pair]:
        return self._comparison.of_kind("source")

    def _is_elsewhere(self, test: Placed) -> bool:
        """Word for word; a name that was there twice hid one of the two."""
        return any(
            one.after.body == test.body or (one.after.name == test.name and one.after.pair is test.pair)
            for one in self._tests.kept
            if one.how != "hidden"
        )

    def _is_consolidated(self, test: Placed) -> bool:
        """New and grown tests ask at least as much as those that went, and of the same things."""
        lost = [one for one in self._tests.removed if one.pair is test.pair]
        gained = [one for one in self._gained if len(one.words & test.words) >= _SHARE * len(test.words)]
        asked = sum(max(len(one.test.assertions), 1) * max(len(one.test.cases), 1) for one in gained)
        return bool(gained) and asked >= sum(len(one.test.assertions) for one in lost)

    @cached_property
    def _gained(self) -> list[Placed]:
        grown = [
            one.after
            for one in self._tests.kept
            if one.differs and one.how != "hidden" and _asks(one.after) > _asks(one.before)
        ]
        return [one for one in (*self._tests.added, *grown) if one.test.assertions]


def _names_changed(pair: Pair) -> frozenset[str]:
    """Names on lines that came or went."""
    was, now = _lines(pair.before), _lines(pair.after)
    return frozenset(name for line in (*(was - now), *(now - was)) for name in _NAME.findall(line))


def _lines(side: Side | None) -> Counter[str]:
    return Counter(line.strip() for line in side.text.splitlines()) if side else Counter()


def _parts(name: str) -> frozenset[str]:
    """A name, and the words that it is made of."""
    return frozenset({*_NAME.findall(name), *(word.lower() for word in _WORD.findall(name))})


def _asks(one: Placed) -> int:
    return len(one.test.assertions) + len(one.test.cases)


def _defined(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(name for text in texts for name in _DEFINED.findall(text))
