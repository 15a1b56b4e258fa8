"""Inputs that a function has the answer to written in it."""

from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.javascript.nodes import (
    bare,
    expression_of,
    is_constant,
    operator,
    parameters,
    statements,
    written,
)
from untilproven.guard.languages.syntax import Nodes


def answers(function: SgNode, own: Nodes) -> Iterator[str]:
    """`own` are the nodes of the function."""
    names = frozenset(parameters(function))
    if names:
        yield from dict.fromkeys(_answers(own, names))


def _answers(own: Nodes, names: frozenset[str]) -> Iterator[str]:
    tables = {
        name.text(): value
        for node in own
        if node.kind() == "variable_declarator" and (name := node.field("name")) and (value := node.field("value"))
    }
    for node in own:
        kind = node.kind()
        if kind == "if_statement":
            yield from _branch(node, names)
        elif kind == "ternary_expression":
            condition, then = node.field("condition"), node.field("consequence")
            if condition and then and _is_answer(then):
                yield from _asked(condition, names)
        elif kind == "switch_statement":
            yield from _switch(node, names)
        elif kind == "subscript_expression":
            yield from _looked_up(node, names, tables)


def _branch(node: SgNode, names: frozenset[str]) -> Iterator[str]:
    condition, inside = node.field("condition"), statements(node.field("consequence"))
    if condition is None or len(inside) != 1 or inside[0].kind() != "return_statement":
        return
    value = expression_of(inside[0])
    if value is not None and _is_answer(value):
        yield from _asked(condition, names)


def _is_answer(value: SgNode) -> bool:
    value = bare(value)
    return is_constant(value) and value.kind() not in {"null", "undefined"}


def _asked(condition: SgNode, names: frozenset[str]) -> Iterator[str]:
    """The literals that parameters are compared with, if that is all the condition does."""
    condition = bare(condition)
    if condition.kind() != "binary_expression":
        return
    left, right, sign = condition.field("left"), condition.field("right"), operator(condition)
    if left is None or right is None:
        return
    if sign == "&&":
        sides = (
            [list(_asked(side, names)) for side in (left, right)] if condition.text().count("&&") < len("12345") else []
        )
        if sides and all(sides):
            yield ", ".join(one for side in sides for one in side)
    elif sign in {"==", "==="}:
        if is_constant(left):
            left, right = right, left
        if is_constant(right) and right.kind() not in {"null", "undefined"} and _is_input(left, names):
            yield written(right)


def _is_input(node: SgNode, names: frozenset[str]) -> bool:
    """A parameter, or `JSON.stringify` of one."""
    node = bare(node)
    if node.kind() == "call_expression" and node.text().startswith("JSON.stringify("):
        given = node.field("arguments")
        first = next(iter(given.named_children()), None) if given is not None else None
        return first is not None and first.text() in names
    return node.kind() == "identifier" and node.text() in names


def _switch(node: SgNode, names: frozenset[str]) -> Iterator[str]:
    value, body = node.field("value"), node.field("body")
    if value is None or body is None or not _is_input(value, names):
        return
    for case in body.named_children():
        asked = case.field("value") if case.kind() == "switch_case" else None
        returned = next((child for child in case.named_children() if child.kind() == "return_statement"), None)
        answer = expression_of(returned) if returned is not None else None
        if asked is not None and is_constant(asked) and answer is not None and _is_answer(answer):
            yield written(asked)


def _looked_up(node: SgNode, names: frozenset[str], tables: dict[str, SgNode]) -> Iterator[str]:
    """`{ 1: "I", 5: "V" }[n]`."""
    table, index = node.field("object"), node.field("index")
    if table is None or index is None or not _is_input(index, names):
        return
    table = bare(table)
    table = bare(tables.get(table.text(), table))
    if table.kind() != "object":
        return
    for pair in table.named_children():
        key, value = pair.field("key"), pair.field("value")
        if key is not None and value is not None and is_constant(value):
            yield key.text()
