"""What a condition that must hold, or must not, says of a value: `assert(x === 1)` is about `x`."""

import re

from ast_grep_py import SgNode

from untilproven.guard.facts import Strength
from untilproven.guard.languages.javascript.counting import called_with, compared_with, is_there
from untilproven.guard.languages.javascript.nodes import (
    arguments,
    bare,
    is_constant,
    number_of,
    operator,
    truth,
    written,
)
from untilproven.guard.languages.syntax import Claim

_SIZE = re.compile(r"\.(?:length|size|byteLength|callCount)$")
_PART = re.compile(r"\.(?:includes|startsWith|endsWith|test|some|every|has|hasOwnProperty|match|contains|matches)$")
_TYPE = re.compile(
    r"^(?:Array\.isArray|Number\.is\w+|Buffer\.isBuffer|ArrayBuffer\.isView|isNaN|Boolean|Object\.hasOwn)$"
)
_EQUALS = re.compile(r"(?:.*\.)?(?:isEqual|isDeepStrictEqual|deepEqual|isDeepEqual)|Object\.is")
_CALLED_WITH = re.compile(r"(.+)\.(?:calledWith|calledOnceWith|calledWithExactly|calledOnceWithExactly)")
_FOUND = re.compile(r"\.(?:indexOf|lastIndexOf|search|findIndex)\(")
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_DEEPEST = 20


def is_about_size(node: SgNode) -> bool:
    node = bare(node)
    return node.kind() == "member_expression" and bool(_SIZE.search(written(node)))


def compared(node: SgNode, *, is_true: bool, deep: int = 0) -> Claim | None:
    """None for a value that is no condition."""
    node = bare(node)
    always = truth(node)
    if always is not None:
        return Claim(written(node), Strength.NOTHING if always is is_true else Strength.SOMETHING)
    kind = node.kind()
    if deep > _DEEPEST:
        return Claim(written(node), Strength.SOMETHING)
    if kind == "unary_expression" and operator(node) == "!" and (inner := node.field("argument")):
        found = compared(inner, is_true=not is_true, deep=deep + 1)
        return found or Claim(written(bare(inner)), Strength.SOMETHING)
    if kind == "binary_expression":
        return _of_two(node, is_true=is_true, deep=deep)
    if (counted := is_there(written(node), is_true=is_true)) is not None:
        return counted
    if kind == "call_expression" and (function := node.field("function")):
        return _said_by_call(node, written(function), is_true=is_true)
    return None


def _said_by_call(node: SgNode, function: str, *, is_true: bool) -> Claim | None:
    if _PART.search(function):
        return Claim(written(node), Strength.PARTLY)
    if _TYPE.search(function):
        return Claim(written(node), Strength.SOMETHING)
    args = arguments(node)
    if is_true and _EQUALS.fullmatch(function) and len(args) == len(("actual", "expected")):
        return _equal(*args, is_equal=True, is_loose=False)
    if is_true and (spy := _CALLED_WITH.fullmatch(function)) and args:
        return called_with(spy[1], args)
    return None


def _of_two(node: SgNode, *, is_true: bool, deep: int) -> Claim | None:
    left, right, sign = node.field("left"), node.field("right"), operator(node)
    if left is None or right is None:
        return None
    if sign in {"&&", "||"}:
        sides = [compared(side, is_true=is_true, deep=deep + 1) for side in (left, right)]
        claims = [side or Claim(written(node), Strength.SOMETHING) for side in sides]
        both = (sign == "&&") is is_true
        chosen = (max if both else min)(claims, key=lambda claim: claim.strength)
        return chosen._replace(about=written(node)) if not both else chosen
    if sign in {"==", "===", "!=", "!=="}:
        return _equal(left, right, is_equal=(sign[0] == "=") is is_true, is_loose=len(sign) == len("=="))
    if sign in {">", "<", ">=", "<=", "in"}:
        if is_constant(left) and sign in _TURNED:
            left, right, sign = right, left, _TURNED[sign]
        if not is_true:
            return Claim(written(left), Strength.PARTLY, written(right))
        is_counted = compared_with(sign, written(bare(left)), written(right))
        return is_counted or _near(sign, left, right) or Claim(written(left), Strength.PARTLY, written(right))
    if sign == "instanceof":
        return Claim(written(left), Strength.SOMETHING, written(right))
    return None


def _near(sign: str, left: SgNode, right: SgNode) -> Claim | None:
    """`Math.abs(x - 1) < 0.1` says that `x` is about 1."""
    call, tolerance = bare(left), number_of(right)
    function = call.field("function") if call.kind() == "call_expression" else None
    if sign not in {"<", "<="} or tolerance is None or function is None or function.text() != "Math.abs":
        return None
    inside = next(iter(arguments(call)), None)
    if inside is None or inside.kind() != "binary_expression" or operator(inside) != "-":
        return None
    actual, expected = inside.field("left"), inside.field("right")
    if actual is None or expected is None:
        return None
    return Claim(written(bare(actual)), Strength.PARTLY, written(bare(expected)), tolerance=tolerance)


def _equal(left: SgNode, right: SgNode, *, is_equal: bool, is_loose: bool) -> Claim:
    if is_constant(left) and not is_constant(right):
        left, right = right, left
    actual, expected = written(bare(left)), written(bare(right))
    if (counted := compared_with("==" if is_equal else "!=", actual, expected)) is not None:
        return counted
    if not is_equal and expected == "-1" and _FOUND.search(actual):
        return Claim(actual, Strength.PARTLY)
    if not is_equal:
        is_certain = actual.startswith("typeof ") and expected in {"undefined", "null"}
        return Claim(actual, Strength.NOTHING if is_certain else Strength.SOMETHING, expected)
    if actual == expected:
        return Claim(actual, Strength.NOTHING, expected)
    if actual.startswith("typeof ") or (is_loose and expected in {"null", "undefined"}):
        return Claim(actual, Strength.SOMETHING, expected)
    return Claim(actual, Strength.EXACTLY, expected)
