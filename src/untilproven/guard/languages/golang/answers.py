"""Functions of Go that know their answers by heart."""

from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.golang.claims import LITERALS, bare
from untilproven.guard.languages.golang.statements import statements
from untilproven.guard.languages.syntax import flat_text, of_kinds


def returned_by(statement: SgNode) -> list[SgNode]:
    """What a return statement gives back."""
    return [one for child in statement.named_children() for one in child.named_children()]


def parameters(node: SgNode) -> set[str]:
    given = node.field("parameters")
    found = given.find_all(kind="parameter_declaration") if given is not None else []
    return {name.text() for one in found for name in one.field_children("name")}


def answers(node: SgNode) -> Iterator[str]:
    names = parameters(node)
    kinds = of_kinds("expression_case", "if_statement", "index_expression")
    for one in node.find_all(kinds) if names else ():
        if one.kind() == "index_expression":
            yield from _of_table(one, names)
            continue
        returned = list(statements(one if one.kind() == "expression_case" else one.field("consequence")))
        if len(returned) != 1 or returned[0].kind() != "return_statement" or not _are_literal(returned_by(returned[0])):
            continue
        if one.kind() == "if_statement":
            condition = one.field("condition")
            yield from _compared(condition, names)
        elif (switch := one.parent()) is not None:
            asked, values = switch.field("value"), one.field("value")
            if values is None:
                continue
            if asked is not None and asked.text() in names:
                yield from (flat_text(value) for value in values.named_children() if value.kind() in LITERALS)
            elif asked is None:
                for value in values.named_children():
                    yield from _compared(value, names)


def _are_literal(values: list[SgNode]) -> bool:
    """A nil beside it is no answer, and an answer is more than yes or no."""
    given = [value for value in values if value.kind() != "nil"]
    return bool(given) and all(value.kind() in LITERALS or _is_written_out(value) for value in given)


def _is_written_out(value: SgNode) -> bool:
    """Something of a type with nothing written in it is no answer: it does what its type does."""
    computed = of_kinds("call_expression", "index_expression", "selector_expression", "binary_expression")
    inside = value.field("body")
    has_values = inside is not None and bool(inside.named_children())
    return value.kind() == "composite_literal" and has_values and value.find(computed) is None


def _compared(condition: SgNode | None, names: set[str]) -> Iterator[str]:
    """`x == 3`, and several of these together."""
    stack = [condition] if condition is not None else []
    found = []
    while stack:
        one = bare(stack.pop())
        left, right, sign = one.field("left"), one.field("right"), one.field("operator")
        if left is None or right is None or sign is None:
            return
        if sign.text() in {"&&", "||"}:
            stack += [right, left]
        elif sign.text() == "==" and left.text() in names and right.kind() in LITERALS - {"nil", "true", "false"}:
            found.append(right.text())
        else:
            return
    yield from found


def _of_table(index: SgNode, names: set[str]) -> Iterator[str]:
    operand, key = index.field("operand"), index.field("index")
    if operand is None or key is None or operand.kind() != "composite_literal" or key.text() not in names:
        return
    for row in operand.find_all(kind="keyed_element"):
        sides = [one.named_children()[0] for one in row.named_children() if one.named_children()]
        if len(sides) == 2 and all(side.kind() in LITERALS for side in sides):
            yield sides[0].text()
