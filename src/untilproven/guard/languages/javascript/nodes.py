"""Reading expressions of JavaScript and TypeScript: what is written, without how it is laid out."""

from collections.abc import Iterator
from typing import NamedTuple

from ast_grep_py import SgNode

FUNCTIONS = frozenset(
    {"arrow_function", "function_expression", "function_declaration", "method_definition", "generator_function"}
    | {"generator_function_declaration"}
)
_WRAPPERS = frozenset(
    {"parenthesized_expression", "await_expression", "non_null_expression", "as_expression", "satisfies_expression"}
)
_ATOMS = frozenset({"string", "template_string", "regex", "jsx_text"})
_LITERALS = frozenset({"string", "number", "true", "false", "null", "undefined", "regex"})
_CLOSING = frozenset({")", "]", "}"})
_OPERATORS = frozenset(
    {"=", "=>", "==", "===", "!=", "!==", ">", "<", ">=", "<=", "&&", "||", "??", "*", "/", "%", "&", "|", "^", "+="}
    | {"-=", "?", "instanceof", "in"}
)
_DEEPEST = 40


def written(node: SgNode) -> str:
    """As written, but the same however it is laid out: white space, quotes and trailing commas do not show."""
    parts: list[str] = []
    last = ""
    for leaf in _tokens(node):
        text = leaf.text()
        if leaf.kind() == "string":
            text = _requoted(text)
        elif "\n" in text or "  " in text:
            text = " ".join(text.split())
        if last == "," and text in _CLOSING:
            parts.pop()
            last = ""
        elif _stand_apart(last, text):
            parts.append(" ")
        parts.append(text)
        last = text
    return "".join(parts).removesuffix(";")


def _tokens(node: SgNode) -> Iterator[SgNode]:
    stack = [node]
    while stack:
        node = stack.pop()
        kind = node.kind()
        if kind == "comment":
            continue
        children = [] if kind in _ATOMS else node.children()
        if children:
            stack.extend(reversed(children))
        else:
            yield node


def _stand_apart(last: str, text: str) -> bool:
    if last in {",", ":"} or text in _OPERATORS or last in _OPERATORS:
        return True
    if last in {"return", "throw", "await"}:
        return text != ";"
    return _wordy(last[-1:]) and _wordy(text[:1])


def _wordy(character: str) -> bool:
    return character.isalnum() or character in {"_", "$", '"', "`"} if character else False


def _requoted(text: str) -> str:
    inside = text[1:-1]
    return f'"{inside}"' if text[:1] == "'" and '"' not in inside and "\\" not in inside else text


def bare(node: SgNode) -> SgNode:
    """Without parentheses, `await`, `!` and casts around it."""
    while node.kind() in _WRAPPERS:
        inner = next((child for child in node.named_children() if child.kind() != "comment"), None)
        if inner is None:
            break
        node = inner
    return node


class Link(NamedTuple):
    """One step of `head(...).name(...).name`."""

    name: str
    args: tuple[SgNode, ...] | None
    """None if it is not called."""
    node: SgNode
    """The expression up to here."""


def chain(node: SgNode) -> list[Link]:
    """`expect(x).not.toBe(1)` as its steps; the name of the first is empty if it begins with no name."""
    links: list[Link] = []
    node = bare(node)
    while True:
        kind = node.kind()
        whole = node
        args = None
        if kind == "call_expression":
            args = arguments(node)
            function = node.field("function")
            if function is None:
                return links
            node = bare(function)
            kind = node.kind()
        if kind == "member_expression":
            name, below = node.field("property"), node.field("object")
            links.append(Link(name.text() if name else "", args, whole))
            if below is None:
                return links[::-1]
            node = bare(below)
        elif kind == "call_expression":
            links.append(Link("", args, whole))
        else:
            name_of = node.text() if kind in {"identifier", "this", "import", "super"} else ""
            links.append(Link(name_of, args, node if args is None else whole))
            return links[::-1]


def head(links: list[Link]) -> SgNode:
    """What a chain begins with."""
    first = links[0].node
    function = first.field("function") if links[0].args is not None else None
    return bare(function) if function is not None else first


def arguments(call: SgNode) -> tuple[SgNode, ...]:
    found = call.field("arguments")
    if found is None:
        return ()
    if found.kind() == "template_string":
        return (found,)
    return tuple(child for child in found.named_children() if child.kind() != "comment")


def string_of(node: SgNode) -> str | None:
    """What a string, or a template, says; None for all else."""
    if node.kind() in {"string", "template_string"}:
        return " ".join(node.text()[1:-1].split())
    return None


def number_of(node: SgNode, deep: int = 0) -> float | None:
    node = bare(node)
    if deep > _DEEPEST:
        return None
    if node.kind() == "number":
        text = node.text().replace("_", "")
        try:
            return float(int(text, 0)) if text[:2].lower() in {"0x", "0o", "0b"} else float(text)
        except ValueError:
            return None
    if node.kind() == "binary_expression" and operator(node) in {"*", "**"}:
        left, right = (node.field(side) for side in ("left", "right"))
        one, other = (number_of(side, deep + 1) if side else None for side in (left, right))
        if one is not None and other is not None and max(abs(one), abs(other)) < 1e6:
            return one * other
    return float("inf") if node.text() in {"Infinity", "Number.POSITIVE_INFINITY"} else None


def operator(node: SgNode) -> str:
    found = node.field("operator")
    return found.text() if found else ""


def is_constant(node: SgNode, fixed: frozenset[str] = frozenset()) -> bool:
    """Whether it is made of literals alone, and of names that are `fixed` to one."""
    stack = [node]
    while stack:
        node = bare(stack.pop())
        kind = node.kind()
        if kind in _LITERALS or (kind == "identifier" and (node.text() in {"NaN", "Infinity"} or node.text() in fixed)):
            continue
        if kind == "template_string" and not any(child.kind() == "template_substitution" for child in node.children()):
            continue
        if kind == "pair":
            value = node.field("value")
            stack.extend([value] if value else [])
        elif kind in {"array", "object", "unary_expression", "binary_expression"}:
            stack.extend(child for child in node.named_children() if child.kind() != "comment")
        else:
            return False
    return True


def truth(node: SgNode, known: dict[str, bool] | None = None, deep: int = 0) -> bool | None:
    """Whether a condition always holds, or never; None if it depends. `known` are names whose value is certain."""
    if deep > _DEEPEST:
        return None
    node = bare(node)
    kind = node.kind()
    if kind in {"true", "false"}:
        return kind == "true"
    if kind in {"null", "undefined"}:
        return False
    if kind == "number":
        return bool(number_of(node))
    if kind == "string":
        return len(node.text()) > len("''")
    if kind == "identifier":
        return (known or {}).get(node.text())
    if kind in {"array", "object", "regex"} or kind in FUNCTIONS:
        return True if kind != "object" or is_constant(node) else None
    if kind == "unary_expression" and operator(node) == "!":
        argument = node.field("argument")
        inner = truth(argument, known, deep + 1) if argument else None
        return None if inner is None else not inner
    if kind == "binary_expression":
        return _truth_of_two(node, known, deep + 1)
    return None


_OPPOSITES = {"==": "!=", "===": "!==", "!=": "==", "!==": "==="}


def opposite(condition: SgNode) -> str:
    """What holds where the condition does not, in the words somebody would use."""
    argument = condition.field("argument")
    if condition.kind() == "unary_expression" and operator(condition) == "!" and argument is not None:
        return written(bare(argument))
    left, right, sign = condition.field("left"), condition.field("right"), operator(condition)
    if sign in _OPPOSITES and left is not None and right is not None:
        return f"{written(left)} {_OPPOSITES[sign]} {written(right)}"
    text = written(condition)
    return f"!({text})" if condition.kind() in {"binary_expression", "ternary_expression"} else f"!{text}"


def _truth_of_two(node: SgNode, known: dict[str, bool] | None, deep: int) -> bool | None:
    left, right, sign = node.field("left"), node.field("right"), operator(node)
    if left is None or right is None:
        return None
    if sign in {"&&", "||"}:
        sides = (truth(left, known, deep), truth(right, known, deep))
        deciding = sign == "||"
        if deciding in sides:
            return deciding
        return (not deciding) if None not in sides else None
    if sign in {"==", "===", "!=", "!=="} and is_constant(left) and is_constant(right):
        return (written(bare(left)) == written(bare(right))) is (sign[0] == "=")
    return None


def body_of(function: SgNode) -> SgNode | None:
    return function.field("body")


def statements(node: SgNode | None) -> list[SgNode]:
    """Of a block, or the one that stands in its place."""
    if node is None:
        return []
    if node.kind() in {"statement_block", "program"}:
        return [child for child in node.named_children() if child.kind() != "comment"]
    return [node]


def expression_of(statement: SgNode) -> SgNode | None:
    """What an expression statement, or a `return`, is made of."""
    if statement.kind() in {"expression_statement", "return_statement"}:
        return next((child for child in statement.named_children() if child.kind() != "comment"), None)
    return statement if statement.kind().endswith("_expression") else None


def walk(node: SgNode, *, into_functions: bool = True) -> Iterator[SgNode]:
    """Everything below, in order, itself first."""
    stack = [node]
    first = True
    while stack:
        node = stack.pop()
        yield node
        if first or into_functions or node.kind() not in FUNCTIONS:
            stack.extend(reversed(node.named_children()))
        first = False


def parameters(function: SgNode) -> list[str]:
    """The names of a function's parameters, those taken out of objects and arrays included."""
    alone = function.field("parameter")
    if alone is not None:
        return [alone.text()]
    found = function.field("parameters")
    names: list[str] = []
    stack = list(reversed(found.named_children())) if found is not None else []
    while stack:
        node = stack.pop()
        kind = node.kind()
        if kind in {"identifier", "shorthand_property_identifier_pattern"}:
            names.append(node.text())
        elif kind in {"required_parameter", "optional_parameter"}:
            inner = node.field("pattern")
            stack.extend([inner] if inner else [])
        elif kind in {"assignment_pattern", "object_assignment_pattern"}:
            inner = node.field("left")
            stack.extend([inner] if inner else [])
        elif kind == "pair_pattern":
            inner = node.field("value")
            stack.extend([inner] if inner else [])
        elif kind in {"object_pattern", "array_pattern", "rest_pattern"}:
            stack.extend(reversed(node.named_children()))
    return names
