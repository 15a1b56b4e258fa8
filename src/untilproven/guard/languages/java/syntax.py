"""Java and Kotlin read as one: the kinds of both grammars side by side, so that what follows need not ask which."""

import re
from collections.abc import Iterator

import msgspec
from ast_grep_py import Rule, SgNode

from untilproven.guard.languages.syntax import flat_text

CALLS = frozenset({"method_invocation", "call_expression", "infix_expression"})
LAMBDAS = frozenset({"lambda_expression", "lambda_literal", "anonymous_function"})
BLOCKS = frozenset({"block", "statements", "constructor_body", "switch_block_statement_group"})
IFS = frozenset({"if_statement", "if_expression"})
TRIES = frozenset({"try_statement", "try_with_resources_statement", "try_expression"})
CATCHES = frozenset({"catch_clause", "catch_block"})
COMMENTS = frozenset({"line_comment", "block_comment", "multiline_comment", "shebang_line"})
FUNCTIONS = frozenset(
    {"method_declaration", "constructor_declaration", "compact_constructor_declaration"}
    | {"function_declaration", "secondary_constructor"}
)
TYPES = frozenset(
    {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}
    | {"annotation_type_declaration", "object_declaration", "companion_object"}
)
BODIES = frozenset(
    {"class_body", "interface_body", "enum_body", "enum_body_declarations", "enum_class_body", "annotation_type_body"}
)

_OPERATIONS = frozenset(
    {"binary_expression", "unary_expression", "instanceof_expression", "equality_expression", "comparison_expression"}
    | {"conjunction_expression", "disjunction_expression", "prefix_expression", "check_expression"}
    | {"additive_expression", "multiplicative_expression"}
)
_CONTAINERS = frozenset({"lambda_literal", "object_literal", "collection_literal"})
_NAMES = frozenset({"identifier", "simple_identifier", "type_identifier"})
_MOST_NESTED = 200
_CALLS_OF_JAVA = [Rule(kind="method_invocation")]
_CALLS_OF_KOTLIN = [Rule(kind="call_expression"), Rule(kind="infix_expression")]


class Call(msgspec.Struct, frozen=True, eq=False):
    """`receiver.name<types>(arguments, named = ...) block`; an infix call is one as well."""

    node: SgNode
    name: str
    receiver: SgNode | None
    arguments: tuple[SgNode, ...] = ()
    """Without the block behind them."""
    named: tuple[tuple[str, SgNode], ...] = ()
    types: tuple[str, ...] = ()
    block: SgNode | None = None

    def option(self, name: str) -> SgNode | None:
        return next((value for key, value in self.named if key == name), None)

    @property
    def values(self) -> tuple[SgNode, ...]:
        """Arguments, with a name or without."""
        return self.arguments + tuple(value for _, value in self.named)

    @property
    def parts(self) -> tuple[SgNode, ...]:
        """Everything handed over."""
        return self.values + ((self.block,) if self.block else ())


_LAYOUT = re.compile(r"(?<=[(\[]) | (?=[)\],;])| (?=\.\w)")


def flat(node: SgNode) -> str:
    """As written, however it is laid out."""
    return _LAYOUT.sub("", flat_text(node))


def bare(node: SgNode) -> SgNode:
    """Without the parentheses around it."""
    for _ in range(_MOST_NESTED):
        if node.kind() != "parenthesized_expression":
            break
        inside = code_in(node)
        if len(inside) != 1:
            break
        node = inside[0]
    return node


def code_in(node: SgNode) -> list[SgNode]:
    """Named children that are no comments."""
    return [child for child in node.named_children() if child.kind() not in COMMENTS]


def operation(node: SgNode) -> tuple[str, list[SgNode]] | None:
    """The operator and what it is applied to."""
    if node.kind() not in _OPERATIONS:
        return None
    operator = "".join(child.text() for child in node.children() if not child.is_named())
    return operator, [bare(child) for child in code_in(node)]


def is_literal(node: SgNode, nested: int = 0) -> bool:
    node = bare(node)
    kind = node.kind()
    if kind in {"true", "false"}:
        return True
    if kind in {"string_literal", "multiline_string_literal"}:
        return not any(child.kind().startswith("interpolat") for child in node.children())
    if kind in {"unary_expression", "prefix_expression"}:
        applied = operation(node)
        signed = applied is not None and applied[0] in {"-", "+"} and len(applied[1]) == 1 and not nested
        return signed and applied is not None and is_literal(applied[1][0], nested + 1)
    return kind.endswith("_literal") and kind not in _CONTAINERS


def text_in(node: SgNode) -> str | None:
    """What a string says."""
    if "string_literal" not in node.kind() or not is_literal(node):
        return None
    return node.text().strip('"')


_NUMBER = re.compile(r"-?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?(?=[fFdDlLuU]*$)")


def number(node: SgNode) -> float | None:
    found = _NUMBER.match(flat(bare(node)).replace(" ", ""))
    return float(found[0].replace("_", "")) if found else None


def type_named(node: SgNode) -> str:
    """`X.class` and `X::class` are X."""
    return re.sub(r"\s*(?:\.class|::class(?:\.java\w*)?)$", "", flat(node))


def call_of(node: SgNode) -> Call | None:
    kind = node.kind()
    if kind == "method_invocation":
        name, arguments = node.field("name"), node.field("arguments")
        types = node.field("type_arguments")
        return Call(
            node,
            name.text() if name else "",
            node.field("object"),
            tuple(code_in(arguments)) if arguments else (),
            types=tuple(flat(one) for one in code_in(types)) if types else (),
        )
    if kind == "infix_expression":
        parts = code_in(node)
        if len(parts) != 3 or parts[1].kind() != "simple_identifier":
            return None
        return Call(node, parts[1].text().strip("`"), parts[0], (parts[2],))
    return _kotlin_call(node) if kind == "call_expression" else None


def calls_in(node: SgNode) -> list[Call]:
    """All of them, in order; found natively, which a walk is not."""
    kinds = _CALLS_OF_KOTLIN if is_kotlin(node) else _CALLS_OF_JAVA
    return [call for one in node.find_all(any=kinds) if (call := call_of(one))]


def is_kotlin(node: SgNode) -> bool:
    return node.get_root().root().kind() == "source_file"


def _kotlin_call(node: SgNode, nested: int = 0) -> Call | None:
    parts = code_in(node)
    if len(parts) != 2 or parts[1].kind() != "call_suffix":
        return None
    callee, suffix = parts
    named: list[tuple[str, SgNode]] = []
    arguments: list[SgNode] = []
    types: tuple[str, ...] = ()
    block = None
    for part in code_in(suffix):
        if part.kind() == "value_arguments":
            arguments, named = values_of(part)
        elif part.kind() == "type_arguments":
            types = tuple(flat(one) for one in code_in(part))
        elif part.kind() == "annotated_lambda":
            block = next((one for one in code_in(part) if one.kind() == "lambda_literal"), None)
    again = _kotlin_call(callee, nested + 1) if callee.kind() == "call_expression" and nested < 2 else None
    if again and not again.block:
        """`f(a) { }` over two lines."""
        return Call(
            node, again.name, again.receiver, again.arguments + tuple(arguments), again.named, again.types, block
        )
    receiver, name = member(callee)
    return Call(node, name, receiver, tuple(arguments), tuple(named), types, block)


def member(node: SgNode) -> tuple[SgNode | None, str]:
    """`a.b` is b of a; anything that is no name is itself, without one."""
    if node.kind() in _NAMES:
        return None, node.text().strip("`")
    if node.kind() in {"navigation_expression", "field_access"}:
        parts = code_in(node)
        return (parts[0], parts[-1].text().lstrip("?.:!").strip("`")) if len(parts) > 1 else (None, flat(node))
    return node, ""


def values_of(arguments: SgNode) -> tuple[list[SgNode], list[tuple[str, SgNode]]]:
    """What a Kotlin call is given: without names, and with."""
    plain: list[SgNode] = []
    named: list[tuple[str, SgNode]] = []
    for argument in code_in(arguments):
        parts = code_in(argument)
        if argument.kind() != "value_argument" or not parts:
            continue
        if len(parts) > 1 and any(child.kind() == "=" for child in argument.children()):
            named.append((parts[0].text(), parts[-1]))
        else:
            plain.append(parts[-1])
    return plain, named


def name_of(declaration: SgNode) -> str:
    named = declaration.field("name") or next(
        (child for child in declaration.children() if child.kind() in _NAMES), None
    )
    return named.text().strip("`") if named else ""


def body_of(declaration: SgNode) -> SgNode | None:
    """Of a function or a lambda; None for what has none."""
    found = declaration.field("body")
    if found is not None:
        return found
    for child in declaration.children():
        if child.kind() in {"function_body", "constructor_body", "block", "statements"}:
            return child
    return None


def statements(body: SgNode) -> list[SgNode]:
    """What is done in a block, a body of a function, a branch; one expression is one statement."""
    for _ in range(_MOST_NESTED):
        inside = code_in(body)
        if body.kind() in BLOCKS:
            return inside
        if body.kind() not in {"function_body", "control_structure_body"}:
            return [body]
        if len(inside) != 1:
            return inside
        body = inside[0]
    return [body]


def unwrapped(statement: SgNode) -> SgNode:
    """The expression that is a statement."""
    inside = code_in(statement) if statement.kind() == "expression_statement" else []
    return bare(inside[0]) if len(inside) == 1 else statement


def below(node: SgNode, *, stop: frozenset[str] = frozenset()) -> Iterator[SgNode]:
    """The node and all under it, in order; nothing below kinds to stop at, but for the node itself."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        if one is node or one.kind() not in stop:
            stack.extend(reversed(one.named_children()))
