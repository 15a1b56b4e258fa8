"""What an expression is whatever the code does."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from ast_grep_py import SgNode

from untilproven.guard.languages.python.nodes import bare, call_of, dotted, operators, parts, string_in, written


class Unknown:
    """No value."""


UNKNOWN: Final = Unknown()
Known = Mapping[str, object]
"""Names that are given one value, and never another."""
_DEEPEST = 12
_MOST = 10**9
_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.eq,
    "is not": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "in": lambda left, right: operator.contains(right, left),
    "not in": lambda left, right: not operator.contains(right, left),
}
_SAME_HOLDS = frozenset({"==", "<=", ">=", "is"})
_SAME_FAILS = frozenset({"!=", "<", ">", "is not"})
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_ANYTHING = frozenset({"ANY", "mock.ANY", "unittest.mock.ANY"})
_PLATFORMS = re.compile(
    r"linux|darwin|win32|cygwin|aix|android|ios|emscripten|wasi|java|sunos|os2|\w*bsd", re.IGNORECASE
)
_OLDEST = (3, 6)
"""Whatever asks for a Python at least this old, or for one before the next major version, asks for nothing."""


def value(node: SgNode, known: Known, depth: int = 0) -> object:  # noqa: C901 -- one case for each kind of expression
    """UNKNOWN for what is no constant."""
    if depth > _DEEPEST:
        return UNKNOWN
    node = bare(node)
    match node.kind():
        case "true":
            return True
        case "false":
            return False
        case "none":
            return None
        case "ellipsis":
            return ...
        case "identifier":
            return known.get(node.text(), UNKNOWN)
        case "integer" | "float":
            return _number(node.text())
        case "string" | "concatenated_string":
            return _string(node)
        case "tuple" | "list" | "set" | "expression_list":
            return _collection(node, known, depth)
        case "dictionary":
            return _dictionary(node, known, depth)
        case "unary_operator" | "binary_operator":
            return _calculated(node, known, depth)
        case "call":
            return _called(node, known, depth)
    return UNKNOWN


def truth(node: SgNode, known: Known, depth: int = 0) -> bool | None:  # noqa: C901 -- one case for each kind of expression
    """None if it depends."""
    if depth > _DEEPEST:
        return None
    node = bare(node)
    constant = value(node, known, depth)
    if constant is not UNKNOWN:
        return bool(constant)
    match node.kind():
        case "lambda" | "generator_expression":
            return True
        case "tuple" | "list" | "set" | "dictionary":
            return True if any("splat" not in part.kind() for part in parts(node)) else None
        case "string":
            return True if any(part.kind() == "string_content" for part in node.children()) else None
        case "not_operator":
            inner = truth(parts(node)[0], known, depth + 1) if parts(node) else None
            return None if inner is None else not inner
        case "boolean_operator":
            return _combined(node, known, depth)
        case "comparison_operator":
            held = [_compared(*pair, known, depth) for pair in operators(node)]
            return False if False in held else True if held and all(held) else None
        case "conditional_expression" if len(parts(node)) == 3:
            yes, _, no = (truth(part, known, depth + 1) for part in parts(node))
            return yes if yes == no else None
        case "call":
            return _said(node, known, depth)
    return None


def _number(text: str) -> object:
    try:
        return int(text, 0)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return UNKNOWN


def _string(node: SgNode) -> object:
    text = string_in(node)
    if text is None:
        return UNKNOWN
    return text.encode() if node.text()[:2].lower().strip("r").startswith("b") else text


def _collection(node: SgNode, known: Known, depth: int) -> object:
    inside = [value(part, known, depth + 1) for part in parts(node)]
    if any(one is UNKNOWN for one in inside):
        return UNKNOWN
    try:
        return {"list": list, "set": frozenset}.get(node.kind(), tuple)(inside)
    except TypeError:
        return UNKNOWN


def _dictionary(node: SgNode, known: Known, depth: int) -> object:
    found = {}
    for pair in parts(node):
        key, item = pair.field("key"), pair.field("value")
        if key is None or item is None:
            return UNKNOWN
        name, said = value(key, known, depth + 1), value(item, known, depth + 1)
        if name is UNKNOWN or said is UNKNOWN or not isinstance(name, str | int | float | bytes | None):
            return UNKNOWN
        found[name] = said
    return found


def _calculated(node: SgNode, known: Known, depth: int) -> object:
    inside = [value(part, known, depth + 1) for part in parts(node)]
    numbers = [one for one in inside if isinstance(one, int | float) and abs(one) < _MOST]
    if len(numbers) != len(inside):
        return UNKNOWN
    sign = node.field("operator")
    match sign.text() if sign else "", numbers:
        case "-", [one]:
            return -one
        case "+", [one]:
            return one
        case "+", [one, other]:
            return one + other
        case "-", [one, other]:
            return one - other
        case "*", [one, other]:
            return one * other
    return UNKNOWN


def _called(node: SgNode, known: Known, depth: int) -> object:
    call = call_of(node)
    if call is None or call.named:
        return UNKNOWN
    if not call.positional:
        return {"list": [], "dict": {}, "set": frozenset(), "tuple": (), "str": ""}.get(call.path, UNKNOWN)
    inside = value(call.positional[0], known, depth + 1)
    if call.path == "len" and isinstance(inside, str | list | tuple | frozenset | dict):
        return UNKNOWN if isinstance(inside, str) and "\\" in inside else len(inside)
    return inside if call.path in {"sorted", "set", "list"} and inside in ([], ()) else UNKNOWN


def _combined(node: SgNode, known: Known, depth: int) -> bool | None:
    sign = node.field("operator")
    inside = [truth(part, known, depth + 1) for part in parts(node)]
    deciding = sign is not None and sign.text() == "or"
    if deciding in inside:
        return deciding
    return None if None in inside else not deciding


def _compared(left: SgNode, sign: str, right: SgNode, known: Known, depth: int) -> bool | None:
    one, other = value(left, known, depth + 1), value(right, known, depth + 1)
    if one is not UNKNOWN and other is not UNKNOWN:
        try:
            return bool(_COMPARED[sign](one, other))
        except (KeyError, TypeError):
            return None
    if written(left) == written(right):
        if sign.startswith("is") and left.find(kind="call"):
            return None  # two calls may well give two objects
        return True if sign in _SAME_HOLDS else False if sign in _SAME_FAILS else None
    if one is not UNKNOWN and sign in {"<", ">", "<=", ">=", "==", "!="}:
        left, right, one, other, sign = right, left, other, one, _MIRRORED.get(sign, sign)
    if sign == "==" and dotted(right) in _ANYTHING:
        return True
    if sign == "in":
        return _is_member(left, one, right)
    return _measured(left, sign, other)


def _is_member(left: SgNode, one: object, right: SgNode) -> bool | None:
    if one == "":
        return True
    if right.kind() in {"tuple", "list", "set"} and written(left) in map(written, parts(right)):
        return True
    if dotted(left) == "os.name" and {"'posix'", "'nt'"} <= {written(part).replace('"', "'") for part in parts(right)}:
        return True
    return None


def _measured(left: SgNode, sign: str, bound: object) -> bool | None:
    """What is so of every length, on every platform and in every version that is still in use."""
    call, path = call_of(left), dotted(left)
    if call and call.path in {"len", "abs"} and isinstance(bound, int | float):
        return True if (sign == ">=" and bound <= 0) or (sign == ">" and bound < 0) else None
    if path == "sys.platform" and isinstance(bound, str) and not _PLATFORMS.match(bound):
        return {"==": False, "!=": True}.get(sign)
    text = written(left)
    if text in {"sys.version_info[0]", "sys.version_info.major"} and isinstance(bound, int):
        return bool(_COMPARED[sign](3, bound)) if sign in _COMPARED and sign != "in" else None
    if text in {"sys.version_info", "sys.version_info[:2]"} and isinstance(bound, tuple) and bound:
        return _since(sign, bound)
    return None


def _since(sign: str, bound: tuple[object, ...]) -> bool | None:
    if not all(isinstance(part, int) for part in bound):
        return None
    if bound <= _OLDEST:
        return {">=": True, ">": True, "<": False, "<=": False}.get(sign)
    if bound >= (4,):
        return {">=": False, ">": False, "<": True, "<=": True}.get(sign)
    return None


def _said(node: SgNode, known: Known, depth: int) -> bool | None:
    """What some calls always answer."""
    call = call_of(node)
    if call is None or not call.positional:
        return None
    first = bare(call.positional[0])
    match call.name:
        case "bool" if call.path == "bool":
            return truth(first, known, depth + 1)
        case "all" | "any" if call.path in {"all", "any"}:
            return _each(first, call.name, known, depth)
        case "isinstance" if len(call.positional) == 2:
            kinds = written(call.positional[1])
            return True if kinds in {"object", f"type({written(first)})", f"{written(first)}.__class__"} else None
        case "hasattr" if len(call.positional) == 2:
            return True if string_in(call.positional[1]) in {"__class__", "__doc__", "__eq__", "__hash__"} else None
        case "startswith" | "endswith":
            return True if string_in(first) == "" else None
    return None


def _each(first: SgNode, name: str, known: Known, depth: int) -> bool | None:
    if first.kind() in {"list", "tuple", "set"}:
        inside = [truth(part, known, depth + 1) for part in parts(first)]
        deciding = name == "any"
        return deciding if deciding in inside else None if None in inside else not deciding
    if first.kind() in {"generator_expression", "list_comprehension"}:
        clause = first.find(kind="for_in_clause")
        source = clause.field("right") if clause else None
        if source and value(source, known, depth + 1) in ([], (), {}, "", frozenset()):
            return name == "all"
        judged = truth(parts(first)[0], known, depth + 1) if name == "all" and parts(first) else None
        return judged or None
    return None
