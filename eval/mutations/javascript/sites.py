"""Where JavaScript and TypeScript have tests (jest, vitest, mocha, node:test) and functions."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from eval.mutations.code import Site, Span, span

_ASSERTS = re.compile(
    r"(?:await |return )?(?:expect(?:TypeOf)?\(|assert\b|t\.(?:is|deepEqual|true|throws)\(|request\()"
)
_FUNCTIONS = ("arrow_function", "function_expression")
EQUAL = frozenset({"toBe", "toEqual", "toStrictEqual"})
_EQUAL_CALLS = frozenset({"strictEqual", "equal", "deepEqual", "deepStrictEqual"})


def is_test_file(path: str) -> bool:
    by_name = re.fullmatch(r".*[._-](?:test|spec)\.[cm]?[jt]sx?", path)
    by_place = re.fullmatch(r"(?:.*/)?(?:tests?|__tests__)/(?!.*(?:support|fixture|helper|util)).*\.[cm]?[jt]sx?", path)
    return bool(by_name or by_place)


def find_tests(root: SgNode) -> Iterator[Site]:
    if ".only(" in root.text():
        return
    for call in root.find_all(kind="call_expression"):
        statement, arguments = call.parent(), arguments_of(call)
        if not statement or statement.kind() != "expression_statement" or len(arguments) < 2 or not _is_test(call):
            continue
        body = arguments[1].field("body") if arguments[1].kind() in _FUNCTIONS else None
        around = [_title(one) for one in call.ancestors() if one.kind() == "call_expression"]
        if body is None or body.kind() != "statement_block" or None in around:
            continue
        statements = tuple(one for one in body.named_children() if one.kind() != "comment")
        asserts = tuple(one for one in body.find_all(kind="expression_statement") if _is_assertion(one))
        if statements and asserts and not statements[0].text().startswith("return"):
            name = " > ".join([*(title for title in reversed(around) if title), arguments[0].text()])
            yield Site(name, call, span(statement), body, statements, asserts)


def _is_test(call: SgNode) -> bool:
    called = call.field("function")
    return called is not None and re.fullmatch(r"(?:it|test)(?:\.each\(.*\))?", called.text(), re.DOTALL) is not None


def _title(call: SgNode) -> str | None:
    """Of a block around a test; None if nothing in it is run."""
    called, arguments = call.field("function"), arguments_of(call)
    if called is None or re.search(r"skip|todo|^x", called.text(), re.IGNORECASE):
        return None
    return arguments[0].text() if called.text() == "describe" and arguments else ""


def _is_assertion(statement: SgNode) -> bool:
    text = statement.text()
    return _ASSERTS.match(text) is not None and (not text.startswith("request(") or ".expect(" in text)


def arguments_of(call: SgNode) -> list[SgNode]:
    listed = call.field("arguments")
    return [one for one in listed.named_children() if one.kind() != "comment"] if listed else []


def method_of(call: SgNode) -> str:
    """What is called on something: `toBe` of `expect(x).toBe`."""
    called = call.field("function")
    member = called.field("property") if called and called.kind() == "member_expression" else None
    return member.text() if member else ""


def operands(assertion: SgNode) -> tuple[Span, Span] | None:
    call = assertion.find(kind="call_expression")
    if call is None:
        return None
    arguments = arguments_of(call)
    if assertion.text().startswith("assert.") and method_of(call) in _EQUAL_CALLS and len(arguments) > 1:
        return span(arguments[0]), span(arguments[1])
    called = call.field("function")
    inner = called.field("object") if called and method_of(call) in EQUAL else None
    about = arguments_of(inner) if inner and inner.kind() == "call_expression" else []
    return (span(about[0]), span(arguments[0])) if about and arguments else None


def find_functions(root: SgNode) -> Iterator[Site]:
    """Those with a name, that are not inside another function."""
    for kind in ("function_declaration", "method_definition", *_FUNCTIONS):
        for node in root.find_all(kind=kind):
            body, name = node.field("body"), _name(node)
            if not name or body is None or body.kind() != "statement_block":
                continue
            inside = [one for one in node.ancestors() if one.kind() == "statement_block"]
            statements = tuple(one for one in body.named_children() if one.kind() != "comment")
            if statements and not inside:
                yield Site(name, node, span(node), body, statements)


def _name(node: SgNode) -> str:
    if name := node.field("name"):
        owner = next((one.field("name") for one in node.ancestors() if one.kind() == "class_declaration"), None)
        return f"{owner.text()}.{name.text()}" if owner else name.text()
    parent = node.parent()
    target = (parent.field("name") or parent.field("left")) if parent else None
    return target.text() if target else ""
