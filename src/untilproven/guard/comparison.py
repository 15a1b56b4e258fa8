"""The two trees next to each other: each file's facts, which declarations became which."""

from collections.abc import Iterable, Iterator
from functools import cached_property

import msgspec

from untilproven.guard.change import Change
from untilproven.guard.facts import Declaration, Facts, Function, Test
from untilproven.guard.finding import NotAnalysed
from untilproven.guard.kinds import Kind, is_called_test, kind_of
from untilproven.guard.languages import grammar_of, language_of
from untilproven.guard.names import NAME
from untilproven.guard.reading import read
from untilproven.guard.written import Unreadable, as_text

_TOLD = frozenset({"ci", "configuration", "script"})
"""Tools go by these, whoever wrote them."""


class Side:
    """A file as it was, or as it is."""

    def __init__(self, path: str, content: bytes, facts: Facts, *, though_made: bool = False) -> None:
        self.path, self.content, self.facts = path, content, facts
        self._though_made = though_made

    @cached_property
    def text(self) -> str:
        """Empty for what is no text."""
        try:
            return as_text(self.content, though_made=self._though_made)
        except Unreadable:
            return ""

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that stands in it."""
        return frozenset(NAME.findall(self.text))

    @cached_property
    def has_tests(self) -> bool:
        return any(one.is_test for one in self.facts.declarations)

    def test(self, declaration: Declaration) -> Test:
        return language_of(grammar_of(self.path) or "").test(declaration)

    def function(self, declaration: Declaration) -> Function:
        return language_of(grammar_of(self.path) or "").function(declaration)


class Pair(msgspec.Struct, frozen=True, eq=False):
    """A file in both versions; None where it is not."""

    path: str
    kind: Kind
    before: Side | None
    after: Side | None

    @property
    def is_test(self) -> bool:
        return self.kind == "test"


class Comparison:
    def __init__(self, changes: Iterable[Change]) -> None:
        self.not_analysed: list[NotAnalysed] = []
        self.pairs = tuple(self._pair(change) for change in sorted(changes, key=lambda change: change.path))

    def _pair(self, change: Change) -> Pair:
        """A file that a person wrote does not become a tool's by saying so: it is read all the same."""
        kind = kind_of(change.path, is_new=change.before is None)
        is_told = kind in _TOLD
        before = self._side(change.was_at, change.before, though_made=is_told)
        was_read = before is not None and before.text != ""
        after = self._side(change.path, change.after, though_made=is_told or was_read)
        if kind == "test" and is_called_test(change.path) and not any(one and one.has_tests for one in (before, after)):
            kind = "source"  # a module of the product, about tests
        return Pair(change.path, kind, before, after)

    def _side(self, path: str, content: bytes | None, *, though_made: bool = False) -> Side | None:
        if content is None:
            return None
        facts = Facts()
        if grammar_of(path) is not None:
            try:
                facts = read(path, content, though_made=though_made)
            except Unreadable as reason:
                self.leave_out(path, str(reason))
        return Side(path, content, facts, though_made=though_made)

    def leave_out(self, path: str, reason: str) -> None:
        """Say that the inside of a file was not looked at, and why."""
        if (unread := NotAnalysed(path, reason)) not in self.not_analysed:
            self.not_analysed.append(unread)

    def of_kind(self, *kinds: Kind) -> Iterator[Pair]:
        return (pair for pair in self.pairs if pair.kind in kinds)
