"""What is written around a test and decides about it: a change there is a change of the test."""

from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.javascript.nodes import chain
from untilproven.guard.languages.javascript.openings import Opening
from untilproven.guard.languages.javascript.replacing import replaced
from untilproven.guard.languages.javascript.running import end_of, said_by_file, said_by_suite
from untilproven.guard.languages.javascript.survey import Survey, tables

_PLAIN = frozenset({"describe", "context", "suite", "test.describe", "it", "test", "specify"})
_SKIPPING = ("skip(", "fixme(", "pending(", "todo(")


class Marks:
    """Of one file; each suite is looked at once."""

    def __init__(self, survey: Survey, root: SgNode) -> None:
        self.survey = survey
        self.of_file: tuple[str, ...] = ()
        self.replaced = replaced(root) if survey.openings else ()
        text = root.text() if survey.openings else ""
        self.is_skipping = any(word in text for word in _SKIPPING)
        if survey.focused:
            self.of_file += ("only", *(one.name for one in survey.focused))
        if self.is_skipping:
            self.of_file += tuple(mark.reason or "" for mark in said_by_file(root.get_root()))

    def of(self, one: Opening, above: list[Opening]) -> tuple[str, ...]:
        """Of a test or a suite itself; `above` are those it stands in."""
        found = list(_table(one)) if not one.is_suite else []
        if one.is_suite:
            callee = one.node.field("function")
            if callee is not None and callee.text() not in _PLAIN:
                found.extend((callee.text(), *_table(one)))
            if one.options is not None:
                found.append(one.options.text())
            if self.is_skipping:
                found.extend(mark.reason or "" for mark in said_by_suite(one))
        found.extend(_place(one, above[-1] if above else None))
        return tuple(found)

    def replacing(self, one: Opening) -> tuple[str, ...]:
        """What is replaced around a test, not in it."""
        return tuple(
            target
            for (first, last), start, target in self.replaced
            if first <= one.start <= one.end <= last and not one.start <= start <= one.end
        )


def _table(one: Opening) -> Iterator[str]:
    """A table that is written elsewhere in the file."""
    for link in one.links:
        if link.name in {"each", "for"} and link.args and link.args[0].kind() == "identifier":
            table = tables(one.node).get(link.args[0].text())
            if table is not None:
                yield table.text()


def _place(one: Opening, above: Opening | None) -> Iterator[str]:
    """The branches and loops between it and what it stands in, and what ends the block before it."""
    node, block = one.node, one.node.parent()
    outer = above.start if above is not None else -1
    while block is not None and (kind := block.kind()) != "call_expression" or block is not None and _loop(block):
        if kind in {"statement_block", "program"}:
            end = end_of(block)
            if end is not None and end[0] < one.start:
                yield end[1]
        elif kind == "if_statement":
            condition = block.field("condition")
            yield condition.text() if condition is not None and node == block.field("consequence") else "else"
        elif kind in {"binary_expression", "ternary_expression"}:
            first = block.field("left") or block.field("condition")
            yield first.text() if first is not None else ""
        elif kind == "for_in_statement" and (right := block.field("right")):
            yield from _rows(right)
        elif kind == "call_expression" and (receiver := _loop(block)):
            yield from _rows(receiver)
        node, block = block, block.parent()
        if node.range().start.index <= outer:
            return


def _loop(call: SgNode) -> SgNode | None:
    """What `.forEach` is called on."""
    if call.kind() != "call_expression":
        return None
    links = chain(call)
    return links[-2].node if len(links) > 1 and links[-1].name in {"forEach", "map"} else None


def _rows(table: SgNode) -> Iterator[str]:
    bound = tables(table).get(table.text()) if table.kind() == "identifier" else None
    yield (bound or table).text()
