"""What a condition of Rust says of a value."""

import re
from collections.abc import Iterator
from itertools import pairwise

from ast_grep_py import SgNode

from untilproven.guard.facts import Strength
from untilproven.guard.languages.syntax import Claim, flat, flat_text, in_any_order, number_in, parsed

LITERALS = frozenset(
    {"string_literal", "raw_string_literal", "char_literal", "boolean_literal", "integer_literal", "float_literal"}
    | {"negative_literal", "unit_expression"}
)
_EXPECTED = re.compile(r"^[&*]?(?:\w+[._])*(?:want|exp|expect|expected|golden)(?:ed)?(?:_\w+|\d*)?\b")
_WRITTEN = re.compile(
    r"^(?:&\s*)?(?:b?r?#*\"|b?'|-?\d|\[|vec!\s*[\[(]|true\b|false\b|None\b|Some\(|Ok\(|Err\(|String::from)"
)
_OPPOSITES = {"is_ok": "is_err", "is_err": "is_ok", "is_some": "is_none", "is_none": "is_some"}
_PARTS = frozenset(
    {"contains", "starts_with", "ends_with", "contains_key", "is_match", "any", "all", "is_empty", "is_some_and"}
    | {"is_ok_and", "is_err_and", "is_none_or", "is_superset", "is_subset", "eq_ignore_ascii_case", "is_sorted"}
)
_FLIPPED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_DEEPEST = 40
_EPSILON = 2.2e-16


def expression(text: str) -> SgNode | None:
    """A part of a macro's arguments, read as an expression."""
    root = parsed(f"{text};", "rust")
    first = next(iter(root.named_children()), None)
    while first is not None and first.kind() == "expression_statement" and first.named_children():
        first = first.named_children()[0]
    return first


def bare(node: SgNode) -> SgNode:
    """Without parentheses and references around it."""
    while node.kind() in {"parenthesized_expression", "reference_expression"} and node.named_children():
        node = node.named_children()[-1]
    return node


def method(call: SgNode) -> str:
    """The name of the method that is called; empty if none is."""
    function = call.field("function") if call.kind() == "call_expression" else None
    if function is not None and function.kind() == "generic_function":
        function = function.field("function")
    field = function.field("field") if function is not None and function.kind() == "field_expression" else None
    return field.text() if field is not None else ""


def subject(call: SgNode) -> SgNode | None:
    """What a method is called on."""
    function = call.field("function")
    if function is not None and function.kind() == "generic_function":
        function = function.field("function")
    return function.field("value") if function is not None else None


def arguments(call: SgNode) -> list[SgNode]:
    given = call.field("arguments")
    return [one for one in given.named_children() if not one.kind().endswith("comment")] if given is not None else []


def claims(condition: SgNode, passes: bool, depth: int = 0) -> Iterator[Claim]:
    """What must hold for the condition to be true, or if not `passes`, to be false."""
    node = bare(condition)
    kind = node.kind()
    if depth > _DEEPEST:
        yield Claim(node.text(), Strength.SOMETHING)
    elif kind == "unary_expression" and node.text().startswith("!") and node.named_children():
        yield from claims(node.named_children()[0], not passes, depth + 1)
    elif kind == "boolean_literal":
        yield Claim(node.text(), Strength.NOTHING if (node.text() == "true") == passes else Strength.SOMETHING)
    elif kind == "binary_expression":
        yield from _of_two(node, passes, depth)
    elif kind == "call_expression":
        yield _of_call(node, passes)
    elif kind == "macro_invocation":
        yield _of_macro(node, passes)
    else:
        yield Claim(node.text(), Strength.SOMETHING)


def _of_two(node: SgNode, passes: bool, depth: int) -> Iterator[Claim]:
    left, right, sign = node.field("left"), node.field("right"), node.field("operator")
    if left is None or right is None or sign is None:
        yield Claim(node.text(), Strength.SOMETHING)
        return
    operator = sign.text()
    if operator in {"&&", "||"}:
        one, other = (list(claims(side, passes, depth + 1)) for side in (left, right))
        if (operator == "&&") == passes:
            yield from (*one, *other)
        elif in_any_order(one, other):
            yield from one
        else:
            empty = any(claim.strength is Strength.NOTHING for claim in (*one, *other))
            nothing = empty or _excludes(bare(left), bare(right))
            yield Claim(one[0].about if one else node.text(), Strength.NOTHING if nothing else Strength.PARTLY)
    elif operator in {"==", "!="}:
        is_equality = (operator == "==") == passes
        yield equality(left.text(), right.text()) if is_equality else difference(left.text(), right.text())
    elif operator in _FLIPPED:
        yield _order(node, bare(left), bare(right), operator if passes else _FLIPPED[operator])
    else:
        yield Claim(node.text(), Strength.SOMETHING)


def _excludes(left: SgNode, right: SgNode) -> bool:
    """One is the opposite of the other."""
    one, other = flat_text(left), flat_text(right)
    if other in {f"!{one}", f"!({one})"} or one in {f"!{other}", f"!({other})"}:
        return True
    names = (method(left), method(right))
    on_left, on_right = subject(left), subject(right)
    if on_left is None or on_right is None or on_left.text() != on_right.text():
        return False
    return bool(names[0]) and _OPPOSITES.get(names[0]) == names[1]


def equality(left: str, right: str) -> Claim:
    """Which of them is the expected one is seen from how they are written; if it is not, the second."""
    left, right = flat(left), flat(right)
    if left == right:
        return Claim(left, Strength.NOTHING, right)
    about, expected = (right, left) if _says_expected(left) and not _says_expected(right) else (left, right)
    if re.search(r"\.len\(\)$|\.count\(\)$", about):
        return Claim(about, Strength.PARTLY, expected)
    if expected in {"true", "false"}:
        return Claim(about, Strength.SOMETHING, expected)
    found = re.match(r"(?:Some\(|Ok\()?Err\(((?:\w+::)*\w+)", expected)
    return Claim(about, Strength.EXACTLY, expected, error=found[1] if found else None)


def difference(left: str, right: str) -> Claim:
    about, expected = (flat(right), flat(left)) if _says_expected(left) else (flat(left), flat(right))
    certain = about != expected and all(re.fullmatch(r"-?\d\w*|\"[^\"]*\"", side) for side in (about, expected))
    return Claim(about, Strength.NOTHING if certain else Strength.SOMETHING)


def _says_expected(text: str) -> bool:
    return bool(_WRITTEN.match(text) or _EXPECTED.match(text))


def _order(node: SgNode, left: SgNode, right: SgNode, operator: str) -> Claim:
    if method(left) in {"len", "count"} and operator == ">=" and right.text() == "0":
        return Claim(left.text(), Strength.NOTHING)
    counted = subject(left) if method(left) in {"len", "count"} else None
    if counted is not None and (operator, right.text()) in {(">", "0"), (">=", "1")}:
        return Claim(counted.text(), Strength.SOMETHING)
    if left.kind() in LITERALS and right.kind() in LITERALS:
        return Claim(node.text(), Strength.NOTHING)
    sign = left.field("operator") if left.kind() == "binary_expression" else None
    inner = subject(left) if method(left) == "abs" else left if sign is not None and sign.text() == "-" else None
    if operator in {"<", "<="} and inner is not None:
        inner = bare(inner)
        one, other = inner.field("left"), inner.field("right")
        if one is not None and other is not None:
            near = equality(one.text(), other.text())
            return Claim(near.about, Strength.PARTLY, near.expected, _tolerance(right.text()))
        return Claim(inner.text(), Strength.PARTLY, "0", _tolerance(right.text()))
    return Claim(left.text(), Strength.PARTLY, right.text())


def _tolerance(text: str) -> float | None:
    return _EPSILON if text.endswith("::EPSILON") else number_in(text)


def _of_call(node: SgNode, passes: bool) -> Claim:
    name, on, given = method(node), subject(node), arguments(node)
    about = on.text() if on is not None and name else node.text()
    if name in _OPPOSITES:
        return _of_state(about, name if passes else _OPPOSITES[name])
    if name in {"eq", "ne"} and len(given) == 1:
        return equality(about, given[0].text()) if (name == "eq") == passes else difference(about, given[0].text())
    if name == "is_empty" and not passes:
        return Claim(about, Strength.SOMETHING)
    if on is not None and method(on) in {"unwrap_err", "expect_err"} and (failed := subject(on)) is not None and passes:
        return Claim(failed.text(), Strength.EXACTLY, error=name)
    if name in _PARTS:
        certain = flat(about) == "[]" and name == "all"
        return Claim(about, Strength.NOTHING if certain else Strength.PARTLY, given[0].text() if given else None)
    return Claim(node.text(), Strength.SOMETHING)


def _of_state(about: str, name: str) -> Claim:
    if name == "is_err":
        return Claim(about, Strength.PARTLY, error="Err")
    if name == "is_none":
        return Claim(about, Strength.EXACTLY, "None")
    return Claim(about, Strength.SOMETHING)


def _of_macro(node: SgNode, passes: bool) -> Claim:
    name, given = node.field("macro"), pieces(node)
    if name is None or name.text().rsplit("::", 1)[-1] != "matches" or len(given) < 2:
        return Claim(node.text(), Strength.SOMETHING)
    return matching(given[0], given[1]) if passes else Claim(given[0], Strength.SOMETHING)


def matching(about: str, pattern: str) -> Claim:
    """Of a value that must be of a form."""
    form = flat(pattern)
    if re.fullmatch(r"[a-z_]\w*|_", form):
        return Claim(about, Strength.NOTHING, form)
    error = re.match(r"(?:Some\(|Ready\()*Err\(((?:\w+::)*\w+)?", form)
    if re.fullmatch(r"(?:Ok|Some)\((?:_|\.\.|[a-z_]\w*)\)", form):
        return Claim(about, Strength.SOMETHING, form)
    loose = re.search(r"\b_\b|\.\.", form) is not None
    return Claim(
        about, Strength.PARTLY if loose else Strength.EXACTLY, form, error=(error[1] or "Err") if error else None
    )


def pieces(macro: SgNode) -> list[str]:
    """The arguments of a macro, as written."""
    tree = next((one for one in macro.children() if one.kind() == "token_tree"), None)
    return pieces_of(tree) if tree is not None else []


def pieces_of(tree: SgNode) -> list[str]:
    text, start = tree.text(), tree.range().start.index
    cuts = [0] + [one.range().start.index - start for one in tree.children() if one.text() == ","] + [len(text) - 1]
    parts: list[str] = []
    for one, other in pairwise(cuts):
        part = text[one + 1 : other]
        if parts and _is_open(parts[-1]):
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return [part.strip() for part in parts if part.strip()]


def _is_open(part: str) -> bool:
    """It ends within the types of a call, `f::<A`, or the parameters of a closure, `|a`."""
    if part.count("::<") > part.count(">") - part.count("->") - part.count("=>"):
        return True
    return re.match(r"(?:move\s+)?\|[^|]*$", part.strip()) is not None
