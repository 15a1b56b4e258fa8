"""Where a test in Go ends before what it asks, and passes."""

from collections.abc import Iterable

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion
from untilproven.guard.languages.golang.claims import is_error
from untilproven.guard.languages.golang.statements import statements
from untilproven.guard.languages.syntax import flat_text, line_of, names_one_thing

_RECOVERS = frozenset({"defer func() { recover() }()", "defer func() { _ = recover() }()"})


def given_up(block: SgNode | None, asked: Iterable[Assertion]) -> SgNode | None:
    """The first statement by which it may pass unasked. One that stands behind all it asks takes nothing from it."""
    listed = [*asked]
    for statement in statements(block):
        below = [one for one in listed if one.line > line_of(statement)]
        if below and (_gives_up(statement, below) or flat_text(statement) in _RECOVERS):
            return statement
    return None


def _gives_up(statement: SgNode, below: list[Assertion]) -> bool:
    """`if err != nil { return }`: the test passes when what it tests fails; or it returns on a condition about what is
    asked below."""
    condition = statement.field("condition") if statement.kind() == "if_statement" else None
    inner = list(statements(statement.field("consequence")))
    if condition is None or len(inner) != 1 or flat_text(inner[0]) != "return":
        return False
    text = flat_text(condition)
    if text.endswith(" != nil") and is_error(text.removesuffix(" != nil")):
        return True
    return any(names_one_thing(text, one.text) for one in below)
