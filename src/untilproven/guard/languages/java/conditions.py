"""What a condition says of a value, and whether it says anything."""

import re
from itertools import pairwise

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.java.syntax import bare, call_of, flat, is_literal, member, number, operation
from untilproven.guard.languages.syntax import Claim

_MOST_NESTED = 40
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "===": "!==", "!==": "==="} | {
    "instanceof": "!is",
    "is": "!is",
    "!is": "is",
    "in": "!in",
    "!in": "in",
}
_SWAPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_HOLDS_OF_SAME = {"==": True, "===": True, "<=": True, ">=": True, "!=": False, "!==": False, "<": False, ">": False}
_EQUAL = {"equals", "contentEquals", "deepEquals", "contentDeepEquals", "arrayEquals", "isSameAs"}
_NEVER_NULL = re.compile(
    r"System\.getProperty\(\"(?:os|java|user|file|path|line)\.[\w.]+\"\)|System\.(?:out|err|in)|Thread\.currentThread\(\)"
    r"|System\.getenv\(\"PATH\"\)|this|.+::class|.+\.class"
)
_NEVER_NEGATIVE = re.compile(
    r".*[.](?:size\(\)|length\(\)|length|size|count\(\))|System\.(?:currentTimeMillis|nanoTime)\(\)"
)
_COMPARERS = frozenset({"", "Objects", "Arrays", "java.util.Objects", "java.util.Arrays"})
_MAKES_ANEW = re.compile(
    r"(?:create|new|copy|clone|build|make|next|read|poll|pop|take|random|increment|decrement|getAnd)(?:[A-Z]\w*)?|\w+AndGet"
)


def stated(claim: Claim, node: SgNode) -> Assertion:
    """The claim as an assertion, its text as the node's."""
    return claim.asserted(node, flat(node))


def constant(node: SgNode, nested: int = 0) -> bool | None:
    """What it comes to, whatever the code does; None for a real question."""
    node = bare(node)
    text = flat(node)
    if text in {"true", "Boolean.TRUE"}:
        return True
    if text in {"false", "Boolean.FALSE"}:
        return False
    if nested > _MOST_NESTED:
        return None
    if applied := operation(node):
        return _of_operation(*applied, nested + 1)
    if (call := call_of(node)) and len(call.values) == len(call.arguments) == 1 and call.receiver:
        if call.name == "equals":
            return _compared("==", bare(call.receiver), bare(call.arguments[0]))
        if call.name in {"or", "and"}:
            return _joined("||" if call.name == "or" else "&&", [call.receiver, call.arguments[0]], nested + 1)
    return None


def _of_operation(operator: str, operands: list[SgNode], nested: int) -> bool | None:
    if operator == "!" and len(operands) == 1:
        inner = constant(operands[0], nested)
        return None if inner is None else not inner
    if operator in {"&&", "||", "&", "|"}:
        return _joined(operator * 2 if len(operator) == 1 else operator, operands, nested)
    return _compared(operator, *operands) if len(operands) == 2 else None


def _joined(operator: str, operands: list[SgNode], nested: int) -> bool | None:
    decides = operator == "||"
    values = [constant(operand, nested) for operand in operands]
    if decides in values:
        return decides
    texts = [flat(operand) for operand in operands]
    if any(one == f"!{other}" or other == f"!{one}" for one, other in pairwise(texts)):
        return decides
    return not decides if all(value is not None for value in values) else None


def _compared(operator: str, left: SgNode, right: SgNode) -> bool | None:
    one, other = flat(left), flat(right)
    if operator in _HOLDS_OF_SAME and one == other and is_same_whenever_asked(left):
        return _HOLDS_OF_SAME[operator]
    if is_literal(left) and is_literal(right):
        return _of_literals(operator, left, right)
    if operator in {"==", "!=", "===", "!=="}:
        asked = one if other == "null" else other if one == "null" else None
        if asked is not None and (_NEVER_NULL.fullmatch(asked) or asked.startswith("new ")):
            return operator.startswith("!")
        return None
    if is_literal(left):
        operator, left, right = _SWAPPED.get(operator, ""), right, left
    bound = number(right)
    if bound is not None and _NEVER_NEGATIVE.fullmatch(flat(left)):
        if (operator, bound) in {(">=", 0), (">", -1)} or (operator == ">" and bound < 0):
            return True
        if (operator, bound) == ("<", 0):
            return False
    return None


def _of_literals(operator: str, left: SgNode, right: SgNode) -> bool | None:
    one, other = number(left), number(right)
    if one is None or other is None:
        same = flat(left) == flat(right)
        return {"==": same, "!=": not same}.get(operator)
    return {
        "==": one == other,
        "!=": one != other,
        "<": one < other,
        "<=": one <= other,
        ">": one > other,
        ">=": one >= other,
    }.get(operator)


def is_same_whenever_asked(node: SgNode) -> bool:
    """Comparing it with itself tells nothing: a name, a literal, a call that does not make something new each time."""
    node = bare(node)
    if "creation" in node.kind():
        return False
    call = call_of(node)
    if call is None:
        return not re.search(r"\+\+|--|\bnew |^[\"A-Z].*\(", node.text(), re.DOTALL)
    made = flat(node)[:1]
    return not (made.isupper() or made == '"') and _MAKES_ANEW.fullmatch(call.name) is None


def claims(node: SgNode, *, wanted: bool = True, nested: int = 0) -> list[Claim]:
    """What is asserted by demanding that it be true, or false."""
    node = bare(node)
    value = constant(node)
    if value is wanted:
        return [Claim(flat(node), Strength.NOTHING)]
    applied = operation(node)
    if applied is None or nested > _MOST_NESTED:
        return [_of_call(node, wanted)]
    operator, operands = applied
    if operator == "!" and len(operands) == 1:
        return claims(operands[0], wanted=not wanted, nested=nested + 1)
    if operator in {"&&", "||"}:
        parts = [part for operand in operands for part in claims(operand, wanted=wanted, nested=nested + 1)]
        if (operator == "&&") is wanted:
            return [part for part in parts if part.strength > Strength.NOTHING] or parts[:1]
        return [Claim(flat(node), min(Strength.PARTLY, *(part.strength for part in parts)))]
    if len(operands) == 2:
        return [_of_comparison(operator if wanted else _OPPOSITE.get(operator, operator), *operands)]
    return [Claim(flat(node), Strength.PARTLY)]


def _of_comparison(operator: str, left: SgNode, right: SgNode) -> Claim:
    if is_literal(left) and not is_literal(right):
        operator, left, right = _SWAPPED.get(operator, operator), right, left
    about, expected = flat(left), flat(right)
    if operator in {"instanceof", "is"}:
        return Claim(about, Strength.SOMETHING, expected)
    if operator in {"!=", "!=="} and expected == "null":
        return Claim(about, Strength.SOMETHING)
    if operator in {"==", "==="}:
        return equal(left, right)
    if operator in {"<", "<="} and (near := _near(left)):
        return Claim(flat(near[0]), Strength.PARTLY, flat(near[1]), number(right))
    if sized := _sized(left):
        return Claim(sized, Strength.SOMETHING, f"{operator} {expected}")
    return Claim(about, Strength.PARTLY, f"{operator} {expected}")


def _near(node: SgNode) -> tuple[SgNode, SgNode] | None:
    """What `Math.abs(a - b)` compares."""
    call = call_of(node)
    if call is None or call.name != "abs":
        return None
    given = bare(call.arguments[0]) if call.arguments else call.receiver and bare(call.receiver)
    applied = operation(given) if given else None
    return (applied[1][0], applied[1][1]) if applied and applied[0] == "-" and len(applied[1]) == 2 else None


def equal(actual: SgNode, expected: SgNode, *, identical: bool = False) -> Claim:
    """Of two things that must be the same; whichever is a literal is what was expected."""
    actual, expected = bare(actual), bare(expected)
    if is_literal(actual) and not is_literal(expected):
        actual, expected = expected, actual
    about, wanted = flat(actual), flat(expected)
    if about == wanted:
        certain = is_same_whenever_asked(actual) and not (identical and call_of(actual))
        return Claim(about, Strength.NOTHING if certain else Strength.PARTLY, wanted)
    if wanted in {"true", "false", "Boolean.TRUE", "Boolean.FALSE"}:
        return claims(actual, wanted=wanted.lower().endswith("true"))[0]
    if sized := _sized(actual):
        return Claim(sized, Strength.EXACTLY if number(expected) == 0 else Strength.PARTLY, wanted)
    return Claim(about, Strength.EXACTLY, wanted)


def _sized(node: SgNode) -> str | None:
    """Whose length it is: a length is less than what is in it, however it is asked for."""
    call = call_of(node)
    of, name = (call.receiver, call.name) if call else member(node)
    return flat(of) if of and name in {"size", "length", "count"} and not (call and call.parts) else None


def _of_call(node: SgNode, wanted: bool) -> Claim:
    call = call_of(node)
    if call is None:
        return _told(node, wanted)
    of = flat(call.receiver) if call.receiver else ""
    pair = (call.receiver, *call.arguments) if call.receiver and not of[:1].isupper() else call.arguments
    if call.name in _EQUAL and (of in _COMPARERS or not of[:1].isupper()) and len(pair) == 2:
        same = equal(pair[1], pair[0])
        return same if wanted else Claim(same.about, Strength.PARTLY, f"not {same.expected}")
    no = "" if wanted else "not "
    if not call.receiver or of[:1].isupper() or is_literal(call.receiver):
        return _told(node, wanted)
    if call.name in {"isEmpty", "isBlank"} and not call.parts:
        return Claim(of, Strength.EXACTLY if wanted else Strength.SOMETHING, f"{no}empty")
    if call.name in {"isPresent", "isNotEmpty", "isNotBlank", "any"} and not call.parts:
        return Claim(of, Strength.SOMETHING if wanted else Strength.PARTLY, f"{no}{call.name}")
    if len(call.arguments) == 1:
        return Claim(of, Strength.PARTLY, f"{no}{call.name} {flat(call.arguments[0])}")
    return _told(node, wanted)


def _told(node: SgNode, wanted: bool) -> Claim:
    """Of something that is true or false by itself."""
    return Claim(flat(node), Strength.PARTLY, "true" if wanted else "false")
