"""Where Go has tests (testing, testify) and functions."""

import re
from collections.abc import Iterator

import msgspec
from ast_grep_py import SgNode

from eval.mutations.code import Site, Span, span

_FAILS = re.compile(r"\bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(")
_ASSERTS = re.compile(r"(?:assert|require)\.\w+\(")


def is_test_file(path: str) -> bool:
    return path.endswith("_test.go")


def find_tests(root: SgNode) -> Iterator[Site]:
    if re.search(r"^//\s*\+build|^//go:build", root.text(), re.MULTILINE):
        return
    for site in find_functions(root):
        named = re.fullmatch(r"Test(?:[^a-z].*)?", site.name)
        if not named or "t *testing.T)" not in site.node.text().partition("{")[0]:
            continue
        asserts = tuple(_asserts(site.body))
        if asserts and not re.match(r"return|t\.Skip|if ", site.statements[0].text()):
            yield msgspec.structs.replace(site, asserts=asserts)


def find_functions(root: SgNode) -> Iterator[Site]:
    for kind in ("function_declaration", "method_declaration"):
        for node in root.find_all(kind=kind):
            name, body, receiver = node.field("name"), node.field("body"), node.field("receiver")
            listed = next((one for one in body.children() if one.kind() == "statement_list"), None) if body else None
            statements = [one for one in listed.named_children() if one.kind() != "comment"] if listed else []
            if name and body and statements:
                of = re.findall(r"\w+", receiver.text())[-1:] if receiver else []
                yield Site(".".join([*of, name.text()]), node, span(node), body, tuple(statements))


def _asserts(body: SgNode) -> Iterator[SgNode]:
    for statement in body.find_all(kind="if_statement"):
        consequence, parent = statement.field("consequence"), statement.parent()
        in_list = parent is not None and parent.kind() == "statement_list"
        if consequence and in_list and statement.field("alternative") is None and _FAILS.search(consequence.text()):
            yield statement
    for statement in body.find_all(kind="expression_statement"):
        if _ASSERTS.match(statement.text()):
            yield statement


def arguments_of(call: SgNode) -> list[SgNode]:
    listed = call.field("arguments")
    return [one for one in listed.named_children() if one.kind() != "comment"] if listed else []


def called(assertion: SgNode) -> tuple[str, SgNode, list[SgNode]] | None:
    """Of a call of testify: the function's name, the call, what is given to it."""
    call = assertion.child(0) if assertion.kind() == "expression_statement" else None
    function = call.field("function") if call and call.kind() == "call_expression" else None
    return (function.text().partition(".")[2], call, arguments_of(call)) if call and function else None


def operands(assertion: SgNode) -> tuple[Span, Span] | None:
    if found := called(assertion):
        name, _, arguments = found
        return (span(arguments[2]), span(arguments[1])) if name == "Equal" and len(arguments) > 2 else None
    condition = assertion.field("condition")
    if condition is None or condition.kind() != "binary_expression":
        return None
    left, operator, right = condition.field("left"), condition.field("operator"), condition.field("right")
    differ = operator is not None and operator.text() == "!=" and right is not None and right.text() != "nil"
    return (span(left), span(right)) if left and right and differ else None
