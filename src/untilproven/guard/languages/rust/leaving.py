"""Where a test in Rust ends before what it asks, and passes."""

import re
from collections.abc import Iterable

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion
from untilproven.guard.languages.rust.statements import statements
from untilproven.guard.languages.syntax import flat_text, line_of, names_one_thing

_RETURNS = re.compile(r"return(?: Ok\(\(\)\))?;?")


def given_up(body: SgNode | None, asked: Iterable[Assertion]) -> str | None:
    """By which `if` that only returns, on a condition about what is asked below it."""
    listed = [*asked]
    for one in statements(body):
        condition = one.field("condition") if one.kind() == "if_expression" else None
        inner = [flat_text(each) for each in statements(one.field("consequence"))]
        if condition is None or len(inner) != 1 or not _RETURNS.fullmatch(inner[0]):
            continue
        if any(names_one_thing(condition.text(), each.text) for each in listed if each.line > line_of(one)):
            return f"if {flat_text(condition)} {{ {inner[0]} }}"
    return None
