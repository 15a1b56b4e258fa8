"""The tests and functions of a file in Rust."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.languages.rust.attributes import is_test_attribute, read
from untilproven.guard.languages.rust.doctests import Line, doc_tests
from untilproven.guard.languages.rust.statements import macro_name
from untilproven.guard.languages.syntax import Marked, flat_text, line_of, parsed

_CONTAINERS = frozenset({"mod_item", "impl_item", "trait_item", "foreign_mod_item"})
_DECIDES = re.compile(
    r"#!?\[\s*(?:(?:cfg|ignore|should_panic)\b|cfg_attr\b.*,\s*(?:\w+::)*(?:cfg|ignore|should_panic|test)\b)",
    re.DOTALL,
)
_DEFINES_TEST = re.compile(r"#\[\s*(?:\$\w+\s*)?(?:\w+::)*(?:test|rstest|wasm_bindgen_test)\b")
_ASSERTS = re.compile(r"\bassert|_eq!|eqnice|panic!|\.unwrap|expect|check|verify")
_FUNCTION = re.compile(r"\bfn\s+\w")
_PROPERTIES = frozenset({"proptest", "quickcheck"})
_TAKES_FUNCTIONS = re.compile(r"\bfn\s+\$\w+\s*:\s*ident")
"""A macro of a project's own that makes a test of each function that it is given."""
_DEEPEST = 20


class _Place(NamedTuple):
    """Where declarations are looked for."""

    node: SgNode
    prefix: str
    marks: tuple[str, ...]
    """Of what is around."""
    depth: int = 0


def declarations(root: SgNode, macros: list[SgNode]) -> Iterator[Marked]:
    """`macros` are those that the file defines."""
    makers = {
        name.text(): one.text()
        for one in macros
        if (name := one.field("name")) is not None and _DEFINES_TEST.search(one.text())
    }
    has_docs = "```" in root.text()
    places = [_Place(root, "", ())]
    while places:
        place = places.pop(0)
        around = place.marks
        attributes: list[str] = []
        docs: list[Line] = []
        inner: list[Line] = []
        for child in place.node.children():
            kind = child.kind()
            if kind == "attribute_item":
                attributes.append(flat_text(child))
            elif kind == "inner_attribute_item":
                around = (*around, *_deciding([flat_text(child)]))
            elif kind in {"line_comment", "block_comment"}:
                if has_docs and kind == "line_comment":
                    _sort(child, docs, inner)
            else:
                yield from _declared(child, place.prefix, (*around, *attributes), makers)
                if docs:
                    yield from doc_tests(docs, f"{place.prefix}{_name(child)}", around)
                places += _inside(child, place._replace(marks=(*around, *_deciding(attributes))), makers)
                attributes, docs = [], []
        yield from doc_tests(inner, place.prefix.removesuffix("::"), around)


def _inside(node: SgNode, place: _Place, makers: dict[str, str]) -> Iterator[_Place]:
    """Where further declarations stand in it."""
    if node.kind() == "function_item" or place.depth >= _DEEPEST:
        return
    if node.kind() in _CONTAINERS and (body := node.field("body")) is not None:
        yield _Place(body, f"{place.prefix}{_name(node)}::", place.marks, place.depth + 1)
    elif (wrapped := _wrapped(node, makers)) is not None:
        yield place._replace(node=wrapped, depth=place.depth + 1)


def _sort(comment: SgNode, docs: list[Line], inner: list[Line]) -> None:
    text = comment.text()
    if text.startswith("///"):
        docs.append((comment, text))
    elif text.startswith("//!"):
        inner.append((comment, text))


def _deciding(attributes: list[str]) -> tuple[str, ...]:
    return tuple(text for text in attributes if _DECIDES.match(text))


def _name(node: SgNode) -> str:
    named, kind = node.field("name"), node.field("type")
    if node.kind() != "impl_item" or kind is None:
        return named.text() if named is not None else ""
    of, trait = kind.text().split("<")[0], node.field("trait")
    return f"<{of} as {flat_text(trait)}>" if trait is not None else of


def _is_test(attributes: tuple[str, ...]) -> bool:
    return any((one := read(text)) is not None and is_test_attribute(one) for text in attributes)


def _declared(node: SgNode, prefix: str, own: tuple[str, ...], makers: dict[str, str]) -> Iterator[Marked]:
    kind = node.kind()
    if kind == "function_item":
        yield Marked(f"{prefix}{_name(node)}", node, is_test=_is_test(own), marks=own)
        return
    macro, tree = _called(node)
    if macro is None or tree is None:
        return
    name, text = macro_name(macro), tree.text()
    if name in _PROPERTIES or _takes_functions(name, makers):
        yield from _properties(tree, prefix, own, are_tests=name != "proptest")
    elif name in makers:
        yield Marked(f"{prefix}{_first(tree) or name}", macro, is_test=True, marks=(*own, makers[name]))
    elif "test" in name and not (text.startswith("{") and _FUNCTION.search(text)) and _ASSERTS.search(text):
        yield Marked(f"{prefix}{_first(tree) or name}", macro, is_test=True, marks=own)


def _called(node: SgNode) -> tuple[SgNode | None, SgNode | None]:
    """A macro that is called where items stand, and what it is given."""
    inner = node.named_children() if node.kind() == "expression_statement" else []
    macro = inner[0] if inner else node
    if macro.kind() != "macro_invocation":
        return None, None
    return macro, next((one for one in macro.children() if one.kind() == "token_tree"), None)


def _first(tree: SgNode) -> str:
    """The first name in it, if it begins with one."""
    children = tree.children()
    return children[1].text() if len(children) > 2 and children[1].kind() == "identifier" else ""


def _wrapped(node: SgNode, makers: dict[str, str]) -> SgNode | None:
    """Items that stand in a macro: `cfg_if! { ... }`, `cfg_rt! { ... }`."""
    macro, tree = _called(node)
    if macro is None or tree is None or macro_name(macro) in _PROPERTIES | makers.keys():
        return None
    text = tree.text()
    if not text.startswith("{") or not _FUNCTION.search(text):
        return None
    return parsed(text[1:-1], "rust", line_of(tree))


def _takes_functions(name: str, makers: dict[str, str]) -> bool:
    return name in makers and _TAKES_FUNCTIONS.search(makers[name]) is not None


def _properties(tree: SgNode, prefix: str, marks: tuple[str, ...], *, are_tests: bool) -> Iterator[Marked]:
    """Of `proptest! { #[test] fn f(x in 0..9) { ... } }`, whose functions are no functions of Rust yet."""
    children = tree.children()
    attributes: list[str] = []
    name, given = "", ""
    for at, child in enumerate(children):
        before = children[at - 1].text() if at else ""
        if child.kind() == "token_tree" and before == "#":
            attributes.append(f"#{flat_text(child)}")
        elif child.kind() == "identifier" and before == "fn":
            name, given = child.text(), ""
        elif name and child.kind() == "token_tree" and child.text().startswith("("):
            given = given or flat_text(child)
        elif name and child.kind() == "token_tree" and child.text().startswith("{"):
            own = (*marks, *attributes)
            body = parsed(child.text(), "rust", line_of(child))
            yield Marked(f"{prefix}{name}", body, are_tests or _is_test(own), (*own, given))
            attributes, name = [], ""
