"""What a condition says when it is asserted."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.facts import Strength
from untilproven.guard.languages.python.constants import UNKNOWN, Known, truth, value
from untilproven.guard.languages.python.names import Names
from untilproven.guard.languages.python.nodes import Call, bare, call_of, last_name, operators, parts, written
from untilproven.guard.languages.syntax import Claim

_ABOUT_ITS_ARGUMENT = frozenset({"len", "isinstance", "issubclass", "callable", "hasattr", "bool", "type", "sorted"})
_EQUAL = re.compile(r"array_equal|array_equiv|equals|is_equal|equal|compare_digest|cmp|is_equal_to")
_CLOSE = re.compile(r"is_?close|all_?close|almost_?equal")
_LOOKS = re.compile(
    r"(?:starts|ends)with|match|search|fullmatch|contains|is(?:sub|super)set|isdisjoint|all|any|count|find"
)
_CALLED = re.compile(r"(?:called|awaited|call_count|await_count|call_args(?:_list)?|mock_calls|method_calls)")
_WRITTEN_OUT = frozenset({"dictionary", "list", "tuple", "set", "string", "concatenated_string"})
_DEEPEST = 12


def claims(node: SgNode, names: Names, *, holds: bool = True, depth: int = 0) -> Iterator[tuple[SgNode, Claim]]:
    """`a and b` makes two."""
    node = bare(node)
    if truth(node, names.constants) is holds:
        yield node, Claim(written(node), Strength.NOTHING)
    elif node.kind() == "not_operator" and depth < _DEEPEST and parts(node):
        yield from claims(parts(node)[0], names, holds=not holds, depth=depth + 1)
    elif node.kind() == "boolean_operator" and depth < _DEEPEST:
        yield from _combined(node, names, holds, depth)
    else:
        yield node, _claim(node, names, holds)


def _combined(node: SgNode, names: Names, holds: bool, depth: int) -> Iterator[tuple[SgNode, Claim]]:
    sign = node.field("operator")
    each = [list(claims(part, names, holds=holds, depth=depth + 1)) for part in parts(node)]
    if (sign is not None and sign.text() == "and") == holds:
        for found in each:
            yield from found
        return
    weakest = min((max(claim.strength for _, claim in found) for found in each if found), default=Strength.SOMETHING)
    yield node, Claim(written(node), min(weakest, Strength.PARTLY))


def _claim(node: SgNode, names: Names, holds: bool) -> Claim:
    if node.kind() == "comparison_operator":
        pairs = operators(node)
        if len(pairs) == 1:
            return _compared(*pairs[0], names, holds)
        if holds and all(sign in {"==", "is"} for _, sign, _ in pairs):
            return _equal(pairs[0][0], pairs[-1][2], names)
        return Claim(written(node), Strength.PARTLY)
    call = call_of(node)
    if call:
        return _asked(call, holds)
    if node.kind() == "attribute" and _CALLED.fullmatch(last_name(node)):
        return Claim(written(node.field("object") or node), Strength.PARTLY)
    if node.kind() == "named_expression" and (given := node.field("value")):
        return _claim(bare(given), names, holds)
    return Claim(written(node), Strength.SOMETHING)


def _asked(call: Call, holds: bool) -> Claim:
    first = call.positional[0] if call.positional else None
    second = call.positional[1] if len(call.positional) > 1 else None
    expected = written(second) if second else None
    if call.path in _ABOUT_ITS_ARGUMENT and first:
        return Claim(written(first), Strength.SOMETHING, expected)
    if _CLOSE.fullmatch(call.name) and first and second:
        return Claim(written(first), Strength.PARTLY, expected, tolerance(call))
    if _EQUAL.fullmatch(call.name) and holds:
        if first and second:
            return Claim(written(first), Strength.EXACTLY, expected)
        if first and call.receiver:
            return Claim(written(call.receiver), Strength.EXACTLY, written(first))
    if _LOOKS.fullmatch(call.name):
        if call.path.startswith("re.") and second and first:
            return Claim(written(second), Strength.PARTLY, written(first))
        return Claim(
            written(call.receiver or call.node), Strength.PARTLY, written(first) if first and call.receiver else None
        )
    return Claim(written(call.node), Strength.SOMETHING)


def _compared(left: SgNode, sign: str, right: SgNode, names: Names, holds: bool) -> Claim:
    sign = sign if holds else _OPPOSITE.get(sign, sign)
    match sign:
        case "==" | "is":
            return _equal(left, right, names)
        case "is not" if right.kind() == "none":
            return Claim(written(left), Strength.SOMETHING)
        case "in" | "not in":
            if is_fixed(right, names.constants) or not is_fixed(left, names.constants):
                found = (left, right) if is_fixed(right, names.constants) else (right, left)
                return Claim(written(found[0]), Strength.PARTLY, written(found[1]))
            return Claim(written(right), Strength.PARTLY, written(left))
        case "<" | "<=" | ">" | ">=":
            return _ordered(left, sign, right, names.constants)
    left, right = actual_first(left, right, names.constants)
    return Claim(written(left), Strength.PARTLY, written(right))


_OPPOSITE = {"==": "!=", "!=": "==", "is": "is not", "is not": "is", "in": "not in", "not in": "in"}


def _equal(left: SgNode, right: SgNode, names: Names) -> Claim:
    left, right = actual_first(left, right, names.constants)
    about, expected = written(left), written(right)
    is_alias = about != expected and names.plain(about) == names.plain(expected)
    if is_alias or names.answers.get(_as_told(left)) == expected:
        return Claim(about, Strength.NOTHING, expected)
    for one, other in ((right, left), (left, right)):
        call = call_of(one)
        if call and call.name == "approx" and call.positional:
            return Claim(written(other), Strength.PARTLY, written(call.positional[0]), tolerance(call))
    call = call_of(left)
    if call and call.path in _ABOUT_ITS_ARGUMENT and call.positional:
        strength = Strength.EXACTLY if call.path in {"sorted", "bool"} else Strength.PARTLY
        return Claim(written(call.positional[0]), strength, expected)
    if call and call.path == "round" and call.positional:
        digits = value(call.positional[1], {}) if len(call.positional) > 1 else 0
        return Claim(written(call.positional[0]), Strength.EXACTLY, expected, _places(digits))
    return Claim(about, Strength.EXACTLY, expected, _widest(right) if "approx(" in expected else None)


def _widest(node: SgNode) -> float | None:
    """Of what several values in one are told to let pass."""
    calls = (call_of(one) for one in node.find_all(kind="call"))
    told = [tolerance(call) for call in calls if call and call.name == "approx"]
    return max((found for found in told if found is not None), default=None)


def equality(left: SgNode, right: SgNode, names: Names) -> Claim:
    """What a call says that compares two values."""
    held = value(left, names.constants), value(right, names.constants)
    if held[0] is not UNKNOWN and held[0] == held[1] and UNKNOWN not in held:
        return Claim(written(left), Strength.NOTHING, written(right))
    if written(left) == written(right):
        return Claim(written(left), Strength.NOTHING, written(right))
    return _equal(bare(left), bare(right), names)


def _as_told(node: SgNode) -> str:
    call = call_of(node)
    return f"{call.path}()" if call and call.path else written(node)


def _ordered(left: SgNode, sign: str, right: SgNode, known: Known) -> Claim:
    if sign in {">", ">="} and is_fixed(left, known):
        left, right, sign = right, left, "<"
    call, most = call_of(left), value(right, known)
    if call and call.path == "abs" and len(call.positional) == 1 and isinstance(most, int | float) and sign[0] == "<":
        difference = bare(call.positional[0])
        operator = difference.field("operator")
        if operator and operator.text() == "-" and len(parts(difference)) == 2:
            about, expected = parts(difference)
            return Claim(written(about), Strength.PARTLY, written(expected), float(most))
    if call and call.path == "len" and call.positional:
        return Claim(written(call.positional[0]), Strength.PARTLY, written(right))
    left, right = actual_first(left, right, known)
    return Claim(written(left), Strength.PARTLY, written(right))


def is_fixed(node: SgNode, known: Known) -> bool:
    return value(node, known) is not UNKNOWN


def actual_first(left: SgNode, right: SgNode, known: Known) -> tuple[SgNode, SgNode]:
    """Some write the expected value first: it is the constant one."""
    swapped = is_fixed(left, known) and not is_fixed(right, known)
    if not swapped and not is_fixed(right, known):
        swapped = _says_expected(left) and not _says_expected(right)
        swapped = swapped or (left.kind() in _WRITTEN_OUT and right.kind() not in _WRITTEN_OUT)
    return (right, left) if swapped else (left, right)


def _says_expected(node: SgNode) -> bool:
    return node.kind() == "identifier" and node.text().lower().startswith(("expect", "want", "desired"))


def tolerance(call: Call) -> float | None:
    """What `approx`, `isclose`, `assertAlmostEqual` and others were told to let pass."""
    named = {name: value(given, {}) for name, given in call.named.items()}
    for name in ("abs", "atol", "delta", "abs_tol", "tolerance", "tol", "epsilon"):
        found = named.get(name)
        if isinstance(found, int | float) and found:
            return float(found)
    for name in ("rel", "rtol", "rel_tol"):
        found = named.get(name)
        if isinstance(found, int | float):
            return float(found) * _size(call)
    for name in ("places", "decimal", "significant"):
        if name in named:
            return _places(named[name])
    return None


def _size(call: Call) -> float:
    """Of the expected value, for a tolerance relative to it; one if it is not written there."""
    for argument in reversed(call.positional[:2]):
        found = value(argument, {})
        if isinstance(found, int | float) and found:
            return abs(float(found))
    return 1.0


def _places(digits: object) -> float | None:
    return 0.5 * 10.0**-digits if isinstance(digits, int) and abs(digits) < 300 else None
