"""Finding one's way in a Python syntax tree."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.languages.syntax import flat

_OPENED = re.compile(r"([(\[{]) ")
_CLOSED = re.compile(r",? ([)\]}])")
_WRAPPERS = frozenset({"parenthesized_expression", "await", "type"})
_MOST_WRAPPED = 20


def written(node: SgNode) -> str:
    """As written, on one line and without comments: the same however it was wrapped."""
    text = node.text()
    if "\n" not in text:
        return rewrapped(text)
    if "#" in text:
        for comment in node.find_all(kind="comment"):
            text = text.replace(comment.text(), "", 1)
    return rewrapped(text)


def rewrapped(text: str) -> str:
    return _CLOSED.sub(r"\1", _OPENED.sub(r"\1", flat(text)))


def parts(node: SgNode | None) -> list[SgNode]:
    """Named children without comments."""
    return [] if node is None else [part for part in node.named_children() if part.kind() != "comment"]


def bare(node: SgNode) -> SgNode:
    """Without parentheses and `await` around it."""
    for _ in range(_MOST_WRAPPED):
        inner = parts(node) if node.kind() in _WRAPPERS else []
        if len(inner) != 1:
            break
        node = inner[0]
    return node


def expression(statement: SgNode) -> SgNode | None:
    """What an expression statement consists of, if it is one expression."""
    if statement.kind() != "expression_statement":
        return None
    inside = parts(statement)
    return bare(inside[0]) if len(inside) == 1 else None


def definition(node: SgNode) -> SgNode:
    """A class or a function without its decorators."""
    return (node.field("definition") or node) if node.kind() == "decorated_definition" else node


def decorators(node: SgNode) -> list[SgNode]:
    if node.kind() != "decorated_definition":
        return []
    return [parts(child)[0] for child in node.children() if child.kind() == "decorator" and parts(child)]


def name_of(node: SgNode) -> str:
    """Of a class or a function."""
    name = definition(node).field("name")
    return name.text() if name else ""


def statements(node: SgNode) -> list[SgNode]:
    """Of the body of a class, a function or a module, or of a block."""
    if node.kind() in {"module", "block"}:
        return parts(node)
    return parts(definition(node).field("body"))


def docstring(node: SgNode) -> SgNode | None:
    """Of a class, a function or a module."""
    for first in statements(node)[:1]:
        inside = expression(first)
        if inside and inside.kind() in {"string", "concatenated_string"}:
            return inside
    return None


def body_of(node: SgNode) -> list[SgNode]:
    """Statements without the docstring."""
    return statements(node)[1 if docstring(node) else 0 :]


def last_name(node: SgNode | None) -> str:
    """Of `a.b.c` or `a().b.c`: `c`."""
    if node is None:
        return ""
    if node.kind() == "attribute":
        node = node.field("attribute") or node
    return node.text() if node.kind() == "identifier" else ""


def dotted(node: SgNode | None) -> str:
    """`a.b.c`; empty for what is no path of names."""
    return flat(node.text()) if node and node.kind() in {"identifier", "attribute"} and "(" not in node.text() else ""


class Call(NamedTuple):
    node: SgNode
    function: SgNode
    positional: list[SgNode]
    named: dict[str, SgNode]

    @property
    def name(self) -> str:
        return last_name(self.function)

    @property
    def path(self) -> str:
        return dotted(self.function)

    @property
    def receiver(self) -> SgNode | None:
        """`a.b` of `a.b.c()`."""
        return self.function.field("object") if self.function.kind() == "attribute" else None

    def argument(self, at: int, name: str = "") -> SgNode | None:
        return self.positional[at] if at < len(self.positional) else self.named.get(name)


def call_of(node: SgNode | None) -> Call | None:
    if node is None or node.kind() != "call":
        return None
    function, arguments = node.field("function"), node.field("arguments")
    if function is None or arguments is None:
        return None
    if arguments.kind() != "argument_list":
        return Call(node, function, [arguments], {})
    positional, named = [], {}
    for argument in parts(arguments):
        if argument.kind() == "keyword_argument":
            name, value = argument.field("name"), argument.field("value")
            if name and value:
                named[name.text()] = value
        else:
            positional.append(argument)
    return Call(node, function, positional, named)


def string_in(node: SgNode | None) -> str | None:
    """What a plain string says."""
    if node is None:
        return None
    if node.kind() == "concatenated_string":
        pieces = [string_in(part) for part in parts(node)]
        return None if None in pieces else "".join(piece or "" for piece in pieces)
    if node.kind() != "string":
        return None
    inside = [(part.kind(), part) for part in node.children()]
    if any(kind == "interpolation" for kind, _ in inside):
        return None
    return "".join(part.text() for kind, part in inside if kind == "string_content")


def assigned(statement: SgNode) -> Iterator[tuple[SgNode, SgNode]]:
    """Targets and values of an assignment, `a = b = 1` having two."""
    inside = parts(statement) if statement.kind() == "expression_statement" else [statement]
    node: SgNode | None = inside[0] if inside else None
    targets = []
    for _ in range(_MOST_WRAPPED):
        if node is None or node.kind() != "assignment":
            break
        left = node.field("left")
        if left:
            targets.append(left)
        node = node.field("right")
    if node is not None:
        yield from ((target, bare(node)) for target in targets)


def with_items(statement: SgNode) -> Iterator[tuple[SgNode, SgNode | None]]:
    """What a `with` enters, and the name it is given."""
    for clause in statement.children():
        if clause.kind() != "with_clause":
            continue
        for item in parts(clause):
            for inside in parts(item)[:1]:
                entered = bare(inside)
                if entered.kind() == "as_pattern":
                    inner = parts(entered)
                    yield bare(inner[0]), inner[1] if len(inner) > 1 else None
                else:
                    yield entered, None


def errors_of(clause: SgNode) -> SgNode | None:
    """What an `except` clause catches; None for everything."""
    for part in parts(clause):
        if part.kind() == "block":
            break
        return parts(part)[0] if part.kind() == "as_pattern" and parts(part) else part
    return None


def block_of(clause: SgNode) -> SgNode | None:
    """The block of an `except`, a `finally`, an `else` or a `case`."""
    return next((part for part in clause.children() if part.kind() == "block"), None)


def operators(comparison: SgNode) -> list[tuple[SgNode, str, SgNode]]:
    """`a < b < c` has two: `a < b` and `b < c`."""
    pairs: list[tuple[SgNode, str, SgNode]] = []
    left, operator = None, ""
    for child in comparison.children():
        if child.kind() == "comment":
            continue
        if not child.is_named():
            operator = flat(child.text())
        elif left is None:
            left = child
        else:
            pairs.append((bare(left), operator, bare(child)))
            left = child
    return pairs


_BROAD = frozenset({"Exception", "BaseException", "StandardError"})


def is_broad(errors: SgNode | None) -> bool:
    """Whether it means every error, or nearly."""
    if errors is None:
        return True
    inside = parts(errors) if errors.kind() in {"tuple", "parenthesized_expression"} else [errors]
    return any(last_name(one) in _BROAD for one in inside)


def of_kinds(node: SgNode, *kinds: str) -> list[SgNode]:
    """Nodes within, in the order of the file."""
    return node.find_all(any=[{"kind": kind} for kind in kinds])
