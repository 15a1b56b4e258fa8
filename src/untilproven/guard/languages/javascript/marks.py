"""What is written around a test and decides about it: a change there is a change of the test."""

from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.javascript.nodes import FUNCTIONS, chain
from untilproven.guard.languages.javascript.openings import Opening, aliases
from untilproven.guard.languages.javascript.replacing import replaced
from untilproven.guard.languages.javascript.running import end_of, said_by_file, said_by_suite
from untilproven.guard.languages.javascript.survey import Survey, tables, uncalled

_PLAIN = frozenset({"describe", "context", "suite", "test.describe", "it", "test", "specify"})
_SKIPPING = ("skip(", "fixme(", "pending(", "todo(")


class Marks:
    """Of one file; what holds for many tests is looked at once."""

    def __init__(self, survey: Survey, root: SgNode) -> None:
        self._places: dict[int, tuple[str, ...]] = {}
        self._replaced = replaced(root.get_root()) if survey.openings else ()
        text = root.text() if survey.openings else ""
        self._is_skipping = any(word in text for word in _SKIPPING)
        self.of_file: tuple[str, ...] = tuple(one.name for one in survey.focused)
        if self._is_skipping:
            self.of_file += tuple(mark.reason or "" for mark in said_by_file(root.get_root()))

    def of_suite(self, suite: Opening) -> tuple[str, ...]:
        callee = suite.node.field("function")
        found = [callee.text()] if callee is not None and callee.text() not in _PLAIN else []
        if suite.options is not None:
            found.append(suite.options.text())
        if self._is_skipping:
            found.extend(mark.reason or "" for mark in said_by_suite(suite))
        return (*found, *_elsewhere(suite), *self._place(suite))

    def of_test(self, test: Opening) -> tuple[str, ...]:
        around = (
            target
            for (first, last), start, target in self._replaced
            if first <= test.start <= test.end <= last and not test.start <= start <= test.end
        )
        return (*around, *_elsewhere(test), *self._place(test))

    def _place(self, one: Opening) -> tuple[str, ...]:
        """The branches and loops around it, and what ends the block before it."""
        statement = one.node.parent()
        block = statement.parent() if statement is not None else None
        if statement is None or block is None or block.kind() not in {"statement_block", "program"}:
            return tuple(_upwards(one.node))
        start = block.range().start.index
        if start not in self._places:
            self._places[start] = tuple(_upwards(statement))
        end = end_of(block)
        return (*self._places[start], end[1]) if end is not None and end[0] < one.start else self._places[start]


def _elsewhere(one: Opening) -> Iterator[str]:
    """What it is declared with that is written elsewhere in the file: another name for `it`, a table."""
    if names := aliases(one.node.get_root()):
        callee = one.node.field("function")
        alias = names.get(callee.text().partition(".")[0]) if callee is not None else None
        if alias is not None:
            yield alias.text()
    for link in one.links:
        if link.name in {"each", "for"} and link.args and link.args[0].kind() == "identifier":
            table = tables(one.node).get(link.args[0].text())
            if table is not None:
                yield table.text()


def _upwards(node: SgNode) -> Iterator[str]:
    """Up to the suite that it stands in."""
    while (above := node.parent()) is not None:
        kind = above.kind()
        if kind == "if_statement":
            condition = above.field("condition")
            yield condition.text() if condition is not None and node == above.field("consequence") else "else"
        elif kind in {"binary_expression", "ternary_expression"}:
            first = above.field("left") or above.field("condition")
            yield first.text() if first is not None else ""
        elif kind == "for_in_statement" and (right := above.field("right")):
            yield from _rows(right)
        elif kind in FUNCTIONS and (name := uncalled(above)) is not None:
            yield name
        elif kind == "call_expression":
            receiver = _loop(above)
            if receiver is None:
                return
            yield from _rows(receiver)
        node = above


def _loop(call: SgNode) -> SgNode | None:
    """What `.forEach` is called on."""
    links = chain(call)
    return links[-2].node if len(links) > 1 and links[-1].name in {"forEach", "map"} else None


def _rows(table: SgNode) -> Iterator[str]:
    bound = tables(table).get(table.text()) if table.kind() == "identifier" else None
    yield (bound or table).text()
