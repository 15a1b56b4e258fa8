"""Functions that know the answers: literal inputs, literal results."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.python.constants import UNKNOWN, value
from untilproven.guard.languages.python.nodes import (
    assigned,
    bare,
    block_of,
    call_of,
    definition,
    last_name,
    of_kinds,
    operators,
    parts,
    written,
)

_DEEPEST = 6
_SAYS_LITTLE = re.compile(r"_|(?:None|True|False)(?:\s*\|\s*(?:None|True|False))*")
"""Patterns that no table of answers is made of."""


def answers_in(function: SgNode) -> Iterator[str]:
    """Inputs with a literal result."""
    node = definition(function)
    parameters = _parameters(node)
    if not parameters:
        return
    yield from _branches(node, parameters)
    yield from _choices(node, parameters)
    yield from _cases(node, parameters)
    yield from _looked_up(node, parameters)


def _parameters(node: SgNode) -> set[str]:
    parameters = node.field("parameters")
    found = set()
    for parameter in parts(parameters):
        name = (
            parameter
            if parameter.kind() == "identifier"
            else parameter.field("name") or parameter.find(kind="identifier")
        )
        if name:
            found.add(name.text())
    return found - {"self", "cls"}


def _branches(node: SgNode, parameters: set[str]) -> Iterator[str]:
    for branch in of_kinds(node, "if_statement", "elif_clause"):
        condition, inside = branch.field("condition"), parts(branch.field("consequence"))
        if condition and len(inside) == 1 and _returns_literal(inside[0]):
            yield from _inputs(bare(condition), parameters)


def _choices(node: SgNode, parameters: set[str]) -> Iterator[str]:
    """`1 if x == 2 else 3 if x == 4 else 5`."""
    for choice in node.find_all(kind="conditional_expression"):
        inside = parts(choice)
        if len(inside) == 3 and _is_literal(inside[0]) and _is_returned(choice):
            yield from _inputs(bare(inside[1]), parameters)


def _is_returned(node: SgNode) -> bool:
    for around in node.ancestors():
        if around.kind() == "return_statement":
            return True
        if around.kind() not in {"conditional_expression", "parenthesized_expression"}:
            return False
    return False


def _cases(node: SgNode, parameters: set[str]) -> Iterator[str]:
    for statement in node.find_all(kind="match_statement"):
        subject = statement.field("subject")
        if subject is None or not _concerns(subject, parameters):
            continue
        for clause in parts(statement.field("body")):
            inside = parts(block_of(clause))
            if len(inside) != 1 or not _returns_literal(inside[0]):
                continue
            for pattern in parts(clause):
                if (
                    pattern.kind() == "case_pattern"
                    and pattern.find(kind="identifier") is None
                    and not _SAYS_LITTLE.fullmatch(pattern.text())
                ):
                    yield written(pattern)


def _looked_up(node: SgNode, parameters: set[str]) -> Iterator[str]:
    """A table written here, and asked for a parameter."""
    tables = {
        target.text(): given
        for assignment in node.find_all(kind="assignment")
        for target, given in assigned(assignment)
        if given.kind() == "dictionary"
    }
    seen: set[SgNode] = set()
    for asked, key in _asked(node):
        table = bare(asked)
        table = tables.get(table.text(), table) if table.kind() == "identifier" else table
        if table.kind() != "dictionary" or table in seen or not _concerns(key, parameters):
            continue
        seen.add(table)
        for pair in parts(table):
            name, given = pair.field("key"), pair.field("value")
            if name and given and _is_literal(name) and _is_literal(given):
                yield written(name)


def _asked(node: SgNode) -> Iterator[tuple[SgNode, SgNode]]:
    for subscript in node.find_all(kind="subscript"):
        table, key = subscript.field("value"), subscript.field("subscript")
        if table and key:
            yield table, key
    for found in node.find_all(kind="call"):
        call = call_of(found)
        if call and call.name == "get" and call.receiver and call.positional:
            yield call.receiver, call.positional[0]


def _returns_literal(statement: SgNode) -> bool:
    given = parts(statement)
    return (
        statement.kind() == "return_statement" and bool(given) and _is_literal(given[0]) and given[0].kind() != "none"
    )


def _is_literal(node: SgNode) -> bool:
    return value(node, {}) is not UNKNOWN


def _concerns(node: SgNode, parameters: set[str]) -> bool:
    """A parameter itself, several of them, or what a method or a function makes of one."""
    node = bare(node)
    for _ in range(_DEEPEST):
        if node.kind() == "identifier":
            return node.text() in parameters
        if node.kind() in {"tuple", "expression_list"}:
            return bool(parts(node)) and all(part.text() in parameters for part in parts(node))
        call = call_of(node)
        if call is None:
            return False
        if call.receiver and last_name(call.function) in {"lower", "upper", "strip", "casefold"}:
            node = bare(call.receiver)
        elif call.path in {"len", "str", "int", "tuple", "float", "sorted", "repr"} and call.positional:
            node = bare(call.positional[0])
        else:
            return False
    return False


def _inputs(condition: SgNode, parameters: set[str], depth: int = 0) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if condition.kind() == "boolean_operator":
        sign = condition.field("operator")
        each = [list(_inputs(bare(part), parameters, depth + 1)) for part in parts(condition)]
        if sign and sign.text() == "and":
            if all(each):
                yield written(condition)
        else:
            for found in each:
                yield from found
    elif condition.kind() == "comparison_operator" and len(pairs := operators(condition)) == 1:
        yield from _compared(*pairs[0], parameters)


def _compared(left: SgNode, sign: str, right: SgNode, parameters: set[str]) -> Iterator[str]:
    if sign == "==":
        for one, other in ((left, right), (right, left)):
            if _concerns(one, parameters) and _is_literal(other):
                yield written(other)
                return
    elif sign == "in" and _concerns(left, parameters) and right.kind() in {"tuple", "list", "set"}:
        yield from (written(part) for part in parts(right) if _is_literal(part))
