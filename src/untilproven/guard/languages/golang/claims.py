"""What a condition of Go says of a value."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.facts import Strength
from untilproven.guard.languages.syntax import Claim, flat_text, in_any_order, number_in

LITERALS = frozenset(
    {"int_literal", "float_literal", "imaginary_literal", "rune_literal", "interpreted_string_literal"}
    | {"raw_string_literal", "true", "false", "nil"}
)
_WRITTEN_OUT = LITERALS | {"composite_literal"}
_EXPECTED = re.compile(r"(?:^|[._&*(])(?:want|exp|expect|expected|golden)(?:[A-Z_0-9]\w*|ed\w*)?\b", re.IGNORECASE)
_ERROR = re.compile(r"(?:^|\.)(?:e|errs?|error)\d*(?:\(\))?$|(?:^|\.)err[A-Z_]\w*$|\w(?:Err|Error)\d*(?:\(\))?$")
_EQUALITIES = frozenset({"Equal", "DeepEqual", "EqualFold", "Equals", "EqualFunc", "Same"})
_PARTS = frozenset(
    {"Contains", "HasPrefix", "HasSuffix", "ContainsAny", "ContainsRune", "ContainsFunc", "MatchString", "Match"}
)
_ERRORS_BY_KIND = frozenset({"IsNotExist", "IsExist", "IsPermission", "IsTimeout", "IsNotFound"})
_FLIPPED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_DEEPEST = 40


def is_error(text: str) -> bool:
    return bool(_ERROR.search(text))


def called(call: SgNode) -> str:
    """The last part of the name of what is called."""
    function = call.field("function")
    if function is None:
        return ""
    if function.kind() == "selector_expression":
        function = function.field("field")
    elif function.kind() in {"index_expression", "type_instantiation_expression"}:
        return flat_text(function).split("[")[0].split(".")[-1]
    return function.text() if function is not None else ""


def arguments(call: SgNode) -> list[SgNode]:
    given = call.field("arguments")
    return [one for one in given.named_children() if one.kind() != "comment"] if given is not None else []


def bare(node: SgNode) -> SgNode:
    """Without parentheses around it."""
    while node.kind() == "parenthesized_expression" and node.named_children():
        node = node.named_children()[0]
    return node


def claims(condition: SgNode, passes: bool, depth: int = 0) -> Iterator[Claim]:
    """What must hold for the condition to be true, or if not `passes`, to be false."""
    node = bare(condition)
    kind = node.kind()
    if depth > _DEEPEST:
        yield Claim(node.text(), Strength.SOMETHING)
    elif kind == "unary_expression" and node.text().startswith("!") and (operand := node.field("operand")):
        yield from claims(operand, not passes, depth + 1)
    elif kind in {"true", "false"}:
        yield Claim(node.text(), Strength.NOTHING if (kind == "true") == passes else Strength.SOMETHING)
    elif kind == "binary_expression":
        yield from _of_two(node, passes, depth)
    elif kind == "call_expression":
        yield _of_call(node, passes)
    else:
        yield Claim(node.text(), Strength.SOMETHING)


def _of_two(node: SgNode, passes: bool, depth: int) -> Iterator[Claim]:
    left, right, sign = node.field("left"), node.field("right"), node.field("operator")
    if left is None or right is None or sign is None:
        yield Claim(node.text(), Strength.SOMETHING)
        return
    left, right, operator = bare(left), bare(right), sign.text()
    if operator in {"&&", "||"}:
        one, other = (list(claims(side, passes, depth + 1)) for side in (left, right))
        if (operator == "&&") == passes:
            yield from (*one, *other)
        else:
            yield from one if in_any_order(one, other) else [_either(node, one, other, _excludes(left, right))]
    elif operator in {"==", "!="}:
        yield equality(left, right) if (operator == "==") == passes else difference(left, right)
    elif operator in _FLIPPED:
        yield _order(node, left, right, operator if passes else _FLIPPED[operator])
    else:
        yield Claim(node.text(), Strength.SOMETHING)


def _either(node: SgNode, one: list[Claim], other: list[Claim], covers_all: bool) -> Claim:
    empty = any(claim.strength is Strength.NOTHING for claim in (*one, *other))
    if empty or covers_all:
        return Claim(node.text(), Strength.NOTHING)
    return Claim(one[0].about if one else node.text(), Strength.PARTLY)


def _excludes(left: SgNode, right: SgNode) -> bool:
    """One is the opposite of the other."""
    one, other = flat_text(left), flat_text(right)
    return other in _opposites(one) or one in _opposites(other)


def _opposites(text: str) -> set[str]:
    return {f"!{text}", f"!({text})", text.replace("==", "!=") if "==" in text else ""}


def equality(left: SgNode, right: SgNode, *, expected_first: bool = False) -> Claim:
    """Of `left` and `right`; which of them is the expected one is seen from how they are written."""
    if flat_text(left) == flat_text(right):
        return Claim(left.text(), Strength.NOTHING, right.text())
    about, expected = _sides(left, right, expected_first=expected_first)
    text, value = about.text(), expected.text()
    if expected.kind() == "nil":
        return Claim(text, Strength.SOMETHING if is_error(text) else Strength.EXACTLY, "nil")
    if about.kind() == "call_expression" and called(about) == "Diff" and len(arguments(about)) >= 2 and value == '""':
        return equality(*arguments(about)[:2], expected_first=True)
    if about.kind() == "binary_expression":  # (err != nil) == wantErr
        inner = about.field("left")
        return Claim(inner.text() if inner is not None else text, Strength.PARTLY, value)
    if expected.kind() in {"true", "false"}:
        return Claim(text, Strength.SOMETHING, value)
    if about.kind() == "call_expression" and called(about) in {"len", "cap", "Len"}:
        return Claim(text, Strength.PARTLY, value)
    if is_error(text):
        return Claim(text, Strength.EXACTLY, value, error=value)
    return Claim(text, Strength.EXACTLY, value)


def difference(left: SgNode, right: SgNode) -> Claim:
    about, expected = _sides(left, right, expected_first=False)
    if about.kind() in LITERALS and expected.kind() in LITERALS and about.text() != expected.text():
        return Claim(about.text(), Strength.NOTHING, expected.text())
    if about.kind() == "binary_expression":
        inner = about.field("left")
        return Claim(inner.text() if inner is not None else about.text(), Strength.PARTLY, expected.text())
    if expected.kind() == "nil" and is_error(about.text()):
        return Claim(about.text(), Strength.PARTLY, error="error")
    if called(about) == "len" and arguments(about) and expected.text() == "0":
        return Claim(arguments(about)[0].text(), Strength.SOMETHING)
    return Claim(about.text(), Strength.SOMETHING)


def _order(node: SgNode, left: SgNode, right: SgNode, operator: str) -> Claim:
    if called(left) in {"len", "cap"} and (operator, right.text()) in {(">=", "0"), (">", "-1")}:
        return Claim(left.text(), Strength.NOTHING)
    if called(left) == "len" and arguments(left) and (operator, right.text()) in {(">=", "1"), (">", "0")}:
        return Claim(arguments(left)[0].text(), Strength.SOMETHING)
    if left.kind() == "call_expression" and called(left) == "Abs" and operator in {"<", "<="} and arguments(left):
        inner = bare(arguments(left)[0])
        one, other = inner.field("left"), inner.field("right")
        if one is not None and other is not None:
            about, expected = _sides(bare(one), bare(other), expected_first=False)
            return Claim(about.text(), Strength.PARTLY, expected.text(), number_in(right.text()))
        return Claim(inner.text(), Strength.PARTLY, "0", number_in(right.text()))
    if left.kind() in LITERALS and right.kind() in LITERALS:
        return Claim(node.text(), Strength.NOTHING)
    return Claim(left.text(), Strength.PARTLY, right.text())


def _of_call(node: SgNode, passes: bool) -> Claim:
    name, given = called(node), arguments(node)
    text = node.text()
    if name in _EQUALITIES and given:
        function = node.field("function")
        operand = function.field("operand") if function is not None and len(given) == 1 else None
        pair = [operand, given[0]] if operand is not None else given[:2]
        if operand is not None and flat_text(operand) == flat_text(given[0]) and passes:
            return Claim(text, Strength.SOMETHING)  # what says of itself what it equals may be wrong about it
        if len(pair) == 2:
            return equality(*pair) if passes else difference(*pair)
    if name in {"Is", "As", "ErrorIs"} and len(given) == 2:
        strength = Strength.EXACTLY if passes else Strength.SOMETHING
        return Claim(given[0].text(), strength, error=given[1].text() if passes else None)
    if name in _ERRORS_BY_KIND and given:
        return Claim(given[0].text(), Strength.EXACTLY if passes else Strength.SOMETHING, error=name)
    if name in _PARTS and given:
        about, expected = (given[0], given[1]) if len(given) > 1 else (node, given[0])
        if flat_text(about) == flat_text(expected) and passes:
            return Claim(text, Strength.NOTHING)
        return Claim(about.text(), Strength.PARTLY, expected.text())
    return Claim(text, Strength.SOMETHING)


def _sides(left: SgNode, right: SgNode, *, expected_first: bool) -> tuple[SgNode, SgNode]:
    """What is looked at, and what it is compared with."""
    left_is, right_is = (_says_expected(side) for side in (left, right))
    if left_is != right_is:
        return (right, left) if left_is else (left, right)
    return (right, left) if expected_first else (left, right)


def _says_expected(node: SgNode) -> bool:
    if node.kind() in _WRITTEN_OUT:
        return True
    if node.kind() == "unary_expression" and (operand := node.field("operand")) is not None:
        return operand.kind() in _WRITTEN_OUT
    return bool(_EXPECTED.search(node.text()[:200]))
