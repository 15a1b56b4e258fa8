"""What a condition that must hold, or must not, says of a value: `assert(x === 1)` is about `x`."""

import re

from ast_grep_py import SgNode

from untilproven.guard.facts import Strength
from untilproven.guard.languages.javascript.nodes import bare, is_constant, operator, truth, written
from untilproven.guard.languages.syntax import Claim

_SIZE = re.compile(r"\.(?:length|size|byteLength|callCount)$")
_PART = re.compile(r"\.(?:includes|startsWith|endsWith|test|some|every|has|hasOwnProperty|match|contains|matches)$")
_TYPE = re.compile(
    r"^(?:Array\.isArray|Number\.is\w+|Buffer\.isBuffer|ArrayBuffer\.isView|isNaN|Boolean|Object\.hasOwn)$"
)
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
    if kind == "call_expression" and (function := node.field("function")):
        if _PART.search(written(function)):
            return Claim(written(node), Strength.PARTLY)
        if _TYPE.search(written(function)):
            return Claim(written(node), Strength.SOMETHING)
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
        return Claim(written(left), Strength.PARTLY, written(right))
    if sign == "instanceof":
        return Claim(written(left), Strength.SOMETHING, written(right))
    return None


def _equal(left: SgNode, right: SgNode, *, is_equal: bool, is_loose: bool) -> Claim:
    if is_constant(left) and not is_constant(right):
        left, right = right, left
    actual, expected = written(bare(left)), written(bare(right))
    if not is_equal:
        is_certain = actual.startswith("typeof ") and expected in {"undefined", "null"}
        return Claim(actual, Strength.NOTHING if is_certain else Strength.SOMETHING, expected)
    if actual == expected:
        return Claim(actual, Strength.NOTHING, expected)
    if actual.startswith("typeof ") or (is_loose and expected in {"null", "undefined"}):
        return Claim(actual, Strength.SOMETHING, expected)
    return Claim(actual, Strength.PARTLY if is_about_size(left) else Strength.EXACTLY, expected)
