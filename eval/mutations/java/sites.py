"""Where Java has tests (JUnit 4 and 5) and methods."""

import re
from collections.abc import Iterator

import msgspec
from ast_grep_py import SgNode

from eval.mutations.code import Site, Span, span

_ASSERTS = re.compile(r"(?:(?:Assert|Assertions|Truth)\.)?(?:assert\w*|fail|verify\w*|expect\w*)\(")


def is_test_file(path: str) -> bool:
    return re.search(r"(?:^|/)src/test(?:Fixtures)?/.*\.java$|(?:Test|Tests|IT)\.java$", path) is not None


def find_tests(root: SgNode) -> Iterator[Site]:
    for site in find_functions(root):
        around = [site.node, *(one for one in site.node.ancestors() if one.kind() == "class_declaration")]
        marks = [modifiers(one) for one in around]
        if not re.search(r"@(?:Test|ParameterizedTest)\b", marks[0]) or re.search(
            r"@(?:Disabled|Ignore|Enabled)", "".join(marks)
        ):
            continue
        statements = (one for one in site.body.find_all(kind="expression_statement") if _ASSERTS.match(one.text()))
        if (asserts := tuple(statements)) and not site.statements[0].text().startswith(("return", "assume")):
            yield msgspec.structs.replace(site, asserts=asserts)


def modifiers(node: SgNode) -> str:
    return next((one.text() for one in node.children() if one.kind() == "modifiers"), "")


def find_functions(root: SgNode) -> Iterator[Site]:
    for node in root.find_all(kind="method_declaration"):
        name, body, listed = node.field("name"), node.field("body"), node.field("parameters")
        if not name or not body:
            continue
        statements = tuple(one for one in body.named_children() if not one.kind().endswith("comment"))
        classes = [one.field("name") for one in node.ancestors() if one.kind().endswith("_declaration")]
        if statements:
            owners = [one.text() for one in reversed(classes) if one]
            given = re.sub(r"\s+", " ", listed.text()) if listed else ""
            yield Site(".".join([*owners, name.text()]) + given, node, span(node), body, statements)


def arguments_of(call: SgNode) -> list[SgNode]:
    listed = call.field("arguments")
    return [one for one in listed.named_children() if not one.kind().endswith("comment")] if listed else []


def called(assertion: SgNode) -> tuple[str, list[SgNode], SgNode] | None:
    """The method that is called last: its name, what is given to it, the call."""
    call = assertion.child(0)
    name = call.field("name") if call and call.kind() == "method_invocation" else None
    return (name.text(), arguments_of(call), call) if call and name else None


def operands(assertion: SgNode) -> tuple[Span, Span] | None:
    if not (found := called(assertion)):
        return None
    name, arguments, call = found
    if name == "assertEquals" and len(arguments) == 2:
        return span(arguments[1]), span(arguments[0])
    inner = call.field("object") if name == "isEqualTo" else None
    about = arguments_of(inner) if inner and inner.text().startswith("assertThat(") else []
    return (span(about[0]), span(arguments[0])) if about and arguments else None
