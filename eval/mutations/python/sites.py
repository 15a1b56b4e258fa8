"""Where Python has tests (pytest and unittest) and functions."""

import re
from collections.abc import Iterator

import msgspec
from ast_grep_py import SgNode

from eval.mutations.code import Code, Edit, Edits, Site, Span, span

_NOT_RUN = re.compile(r"skip|xfail|expectedFailure|fixture|overload")
_COLLECTED = re.compile(r"Test|.*Tests?$|.*TestCase$")


def is_test_file(path: str) -> bool:
    return re.fullmatch(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py", path) is not None


def find_tests(root: SgNode) -> Iterator[Site]:
    if any("pytestmark" in one.text() or "importorskip" in one.text() for one in _top_level(root)):
        return
    for site in find_functions(root):
        *classes, name = site.name.split(".")
        if not name.startswith("test") or not all(map(_COLLECTED.match, classes)):
            continue
        leaves = re.match(r"return|raise|pytest\.|self\.skip", site.statements[0].text())
        if not leaves and not _NOT_RUN.search(_marks(site.node)) and (asserts := tuple(_asserts(site.body))):
            yield msgspec.structs.replace(site, asserts=asserts)


def find_functions(root: SgNode) -> Iterator[Site]:
    """Those that are not inside another."""
    for node in root.find_all(kind="function_definition"):
        name, body = node.field("name"), node.field("body")
        around = [one for one in node.ancestors() if one.kind() in {"function_definition", "class_definition"}]
        if name is None or body is None or any(one.kind() == "function_definition" for one in around):
            continue
        names = (one.field("name") for one in reversed(around))
        statements = tuple(one for one in body.named_children() if one.kind() != "comment")
        if statements:
            qualified = ".".join(one.text() for one in (*names, name) if one)
            yield Site(qualified, node, span(decorated(node)), body, statements)


def _top_level(root: SgNode) -> Iterator[SgNode]:
    return (one for one in root.children() if one.kind() == "expression_statement")


def decorated(node: SgNode) -> SgNode:
    parent = node.parent()
    return parent if parent is not None and parent.kind() == "decorated_definition" else node


def _marks(node: SgNode) -> str:
    """The decorators of a function and of the classes it stands in."""
    around = [node, *(one for one in node.ancestors() if one.kind() == "class_definition")]
    return "".join(one.text() for each in around for one in decorated(each).children() if one.kind() == "decorator")


def _asserts(body: SgNode) -> Iterator[SgNode]:
    yield from body.find_all(kind="assert_statement")
    for statement in body.find_all(kind="expression_statement"):
        if re.match(r"self\.(assert\w*|fail)\(", statement.text()):
            yield statement
    for statement in body.find_all(kind="with_statement"):
        if re.match(r"with (pytest\.raises|self\.assertRaises\w*)\(", statement.text()):
            yield statement


def operands(assertion: SgNode) -> tuple[Span, Span] | None:
    if assertion.kind() == "assert_statement":
        compared = assertion.child(1)
        parts = compared.children() if compared and compared.kind() == "comparison_operator" else []
        return (span(parts[0]), span(parts[2])) if len(parts) == 3 and parts[1].text() == "==" else None
    if re.match(r"self\.assertEquals?\(", assertion.text()) and (call := assertion.find(kind="call")):
        arguments = arguments_of(call)
        return (span(arguments[0]), span(arguments[1])) if len(arguments) > 1 else None
    return None


def arguments_of(call: SgNode) -> list[SgNode]:
    listed = call.field("arguments")
    return [one for one in listed.named_children() if one.kind() != "comment"] if listed else []


def calls(site: Site, *names: str) -> Iterator[SgNode]:
    for call in site.body.find_all(kind="call"):
        called = call.field("function")
        if called and called.text() in names:
            yield call


def importing(code: Code, statement: str) -> Edits:
    """At the top, unless it is there."""
    if f"{statement}\n" in code.text:
        return ()
    of_its_kind = (one for one in code.root.children() if one.kind() in {"import_statement", "import_from_statement"})
    first = next(of_its_kind, None)
    at = span(first)[0] if first else 0
    return (Edit(at, at, f"{statement}\n"),)
