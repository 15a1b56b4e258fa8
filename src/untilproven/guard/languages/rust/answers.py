"""Functions of Rust that know their answers by heart."""

from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.rust.claims import LITERALS, bare, method, subject
from untilproven.guard.languages.rust.statements import statements
from untilproven.guard.languages.syntax import flat_text, of_kinds

_AROUND = frozenset({"return_expression", "block", "expression_statement", "reference_expression"})
_COMPARABLE = LITERALS - {"boolean_literal", "unit_expression"}
_AS_TEXT = frozenset({"as_str", "as_ref", "to_string", "trim", "as_bytes", "clone", "to_owned"})


def answers(node: SgNode) -> Iterator[str]:
    """What a parameter is compared with where a literal is returned."""
    names = _parameters(node)
    for one in node.find_all(of_kinds("match_expression", "if_expression")) if names else ():
        if one.kind() == "if_expression":
            condition = one.field("condition")
            inner = list(statements(one.field("consequence")))
            if condition is not None and len(inner) == 1 and _is_answer(inner[0]):
                yield from _compared(condition, names)
        elif (asked := one.field("value")) is not None and _is_parameter(asked, names):
            for arm in one.find_all(kind="match_arm"):
                pattern, value = arm.field("pattern"), arm.field("value")
                if pattern is not None and value is not None and _is_answer(value):
                    yield from _inputs(pattern)


def _parameters(node: SgNode) -> set[str]:
    given = node.field("parameters")
    found = given.find_all(kind="parameter") if given is not None else []
    return {pattern.text() for one in found if (pattern := one.field("pattern")) is not None}


def _is_parameter(node: SgNode, names: set[str]) -> bool:
    node = bare(node)
    while method(node) in _AS_TEXT and (on := subject(node)) is not None:
        node = bare(on)
    if node.kind() == "tuple_expression":
        return all(_is_parameter(one, names) for one in node.named_children())
    if node.kind() == "unary_expression":
        return node.text().lstrip("*") in names
    return node.text() in names


def _is_answer(node: SgNode) -> bool:
    """A literal, by itself or given back, as text or as a result; a yes or a no is none."""
    while True:
        inner = [one for one in node.named_children() if not one.kind().endswith("comment")]
        if (
            node.kind() in {"return_expression", "block", "expression_statement", "reference_expression"}
            and len(inner) == 1
        ):
            node = inner[0]
        elif node.kind() == "call_expression" and method(node) in {"to_string", "into", "to_owned"}:
            on = subject(node)
            if on is None:
                return False
            node = on
        elif node.kind() == "call_expression" and flat_text(node).startswith(("Some(", "Ok(", "String::from(")):
            given = node.field("arguments")
            inside = given.named_children() if given is not None else []
            if len(inside) != 1:
                return False
            node = inside[0]
        else:
            break
    if node.kind() in {"tuple_expression", "array_expression"}:
        return bool(inner) and all(one.kind() in LITERALS for one in inner)
    return node.kind() in LITERALS - {"unit_expression"}


def _inputs(pattern: SgNode) -> Iterator[str]:
    stack = list(reversed(pattern.named_children()))
    while stack:
        one = stack.pop()
        if one.kind() == "or_pattern":
            stack += reversed(one.named_children())
        elif one.kind() in LITERALS or (
            one.kind() == "tuple_pattern" and all(part.kind() in LITERALS for part in one.named_children())
        ):
            yield flat_text(one)


def _compared(condition: SgNode, names: set[str]) -> Iterator[str]:
    """`x == 3`, and several of these together."""
    stack = [condition]
    found = []
    while stack:
        one = bare(stack.pop())
        left, right, sign = one.field("left"), one.field("right"), one.field("operator")
        if left is None or right is None or sign is None:
            return
        if sign.text() in {"&&", "||"}:
            stack += [right, left]
        elif sign.text() == "==" and _is_parameter(left, names) and bare(right).kind() in _COMPARABLE:
            found.append(flat_text(right))
        else:
            return
    yield from found
