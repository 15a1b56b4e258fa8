"""Where Rust has tests and functions."""

import re
from collections.abc import Iterator

import msgspec
from ast_grep_py import SgNode

from eval.mutations.code import Site, Span, span

_TEST = re.compile(r"#\[(?:\w+::)*test\b(?!_)")
_ASSERTS = re.compile(r"(?:debug_)?assert\w*!|eqnice\w*!")
_BEFORE = frozenset({"attribute_item", "line_comment", "block_comment"})


def is_test_file(path: str) -> bool:
    """Tests may stand in any file."""
    return path.endswith(".rs")


def find_tests(root: SgNode) -> Iterator[Site]:
    """One that has to panic asserts by that, and not by its statements."""
    for site in find_functions(root):
        marks = [one.text() for one in _attributes(site.node)]
        if not any(map(_TEST.match, marks)) or any(re.search(r"ignore|cfg", mark) for mark in marks):
            continue
        asserts = tuple(one for one in _statements(site.body) if _ASSERTS.match(one.text()))
        if any("should_panic" in mark for mark in marks):
            yield site
        elif asserts and not site.statements[0].text().startswith("return"):
            yield msgspec.structs.replace(site, asserts=asserts)


def find_functions(root: SgNode) -> Iterator[Site]:
    for node in root.find_all(kind="function_item"):
        name, body = node.field("name"), node.field("body")
        around = [
            one for one in node.ancestors() if one.kind() in {"impl_item", "mod_item", "trait_item", "function_item"}
        ]
        if not name or not body or any(one.kind() == "function_item" for one in around):
            continue
        statements = tuple(one for one in body.named_children() if one.kind() not in _BEFORE)
        if statements:
            names = [re.sub(r"\s+", " ", one.text().partition("{")[0]).strip() for one in reversed(around)]
            first = next(iter(_attributes(node)), node)
            yield Site("::".join([*names, name.text()]), node, (span(first)[0], span(node)[1]), body, statements)


def find_sources(root: SgNode) -> Iterator[Site]:
    """Functions that are no tests, nor of them."""
    for site in find_functions(root):
        marked = any(map(_TEST.match, (one.text() for one in _attributes(site.node))))
        if not marked and not re.search(r"\bmod \w*tests?\b", site.name):
            yield site


def _attributes(node: SgNode) -> list[SgNode]:
    """What stands before a function and belongs to it."""
    found: list[SgNode] = []
    one = node.prev()
    while (
        one is not None and one.kind() in _BEFORE and (one.kind() == "attribute_item" or one.text().startswith("///"))
    ):
        found.insert(0, one)
        one = one.prev()
    return found


def _statements(body: SgNode) -> Iterator[SgNode]:
    """Macros that are statements, or the last expression of a block."""
    for macro in body.find_all(kind="macro_invocation"):
        parent = macro.parent()
        if parent is not None and parent.kind() == "expression_statement":
            yield parent
        elif parent is not None and parent.kind() == "block":
            yield macro


def macro(assertion: SgNode) -> tuple[str, SgNode, list[Span]] | None:
    """Its name, its tokens, and where each of its arguments stands."""
    found = assertion if assertion.kind() == "macro_invocation" else assertion.child(0)
    name = found.child(0) if found else None
    tokens = next((one for one in found.children() if one.kind() == "token_tree"), None) if found else None
    if not name or not tokens:
        return None
    arguments: list[list[SgNode]] = [[]]
    for token in tokens.children()[1:-1]:
        if token.text() == ",":
            arguments.append([])
        else:
            arguments[-1].append(token)
    return name.text(), tokens, [(span(each[0])[0], span(each[-1])[1]) for each in arguments if each]


def operands(assertion: SgNode) -> tuple[Span, Span] | None:
    found = macro(assertion)
    return (found[2][0], found[2][1]) if found and found[0] in {"assert_eq", "eqnice"} and len(found[2]) > 1 else None
