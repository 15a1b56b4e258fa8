"""Rust."""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache

from ast_grep_py import SgNode

from untilproven.guard.facts import Commented, Facts
from untilproven.guard.kinds import kind_of
from untilproven.guard.languages.rust.attributes import read, split
from untilproven.guard.languages.rust.declarations import declarations
from untilproven.guard.languages.rust.functions import asks_if_tested, function
from untilproven.guard.languages.rust.statements import EXITS
from untilproven.guard.languages.rust.tests import test
from untilproven.guard.languages.syntax import (
    TODO,
    Marked,
    code_in_comments,
    flat,
    flat_text,
    is_broken,
    of_kinds,
    parsed,
)

__all__ = ["facts", "function", "test"]

_SILENCING = frozenset({"allow", "expect"})
_TEST_IN_COMMENT = re.compile(r"#\[\s*(?:\w+::)*(?:test|rstest|test_case|quickcheck)\b")
_STATEMENTS = frozenset(
    {"let_declaration", "function_item", "mod_item", "impl_item", "struct_item", "enum_item", "use_declaration"}
    | {"macro_definition", "const_item", "static_item", "trait_item", "type_item", "attribute_item"}
)
_EXPRESSIONS = frozenset(
    {"macro_invocation", "call_expression", "assignment_expression", "compound_assignment_expr", "if_expression"}
    | {"match_expression", "for_expression", "while_expression", "loop_expression", "return_expression"}
    | {"try_expression", "await_expression", "unsafe_block"}
)
_PATCHED = re.compile(r"(?:debug_)?assert(?:_eq|_ne)?|panic|unreachable")


def facts(root: SgNode, path: str) -> Facts:
    macros = root.find_all(kind="macro_definition") if "macro_rules!" in root.text() else []
    found = tuple(declarations(root, macros))
    said = _Said(root)
    top = [child for child in root.children() if child.kind() in {"const_item", "static_item"}]
    return Facts(
        declarations=found,
        suppressions=said.suppressions(),
        todos=said.todos(),
        commented=said.commented(),
        hooks=_hooks(macros, said, found),
        exits=_exits(found, is_test=kind_of(path) == "test"),
        flags=_flags(top),
        asks_if_tested=(one for child in top for one in asks_if_tested(child)),
    )


class _Said:
    """By the comments and attributes of a file."""

    def __init__(self, root: SgNode) -> None:
        self._root = root

    @cached_property
    def _all(self) -> list[tuple[SgNode, str]]:
        kinds = of_kinds("line_comment", "block_comment", "attribute_item", "inner_attribute_item")
        return [(one, one.text()) for one in self._root.find_all(kinds)]

    @cached_property
    def marks(self) -> list[str]:
        return [flat(text) for _, text in self._all if not text.startswith("/")]

    def suppressions(self) -> Iterator[str]:
        yield from (mark for mark in self.marks if _silences(mark))

    def todos(self) -> Iterator[str]:
        if TODO.search(self._root.text()):
            yield from (text.rstrip() for _, text in self._all if text.startswith("/") and TODO.search(text))

    def commented(self) -> Iterator[Commented]:
        documents = ("///", "//!", "/**", "/*!")
        plain = (one for one, text in self._all if text.startswith("/") and not text.startswith(documents))
        yield from code_in_comments(plain, _is_code, lambda text: bool(_TEST_IN_COMMENT.search(text)))


def _silences(mark: str) -> bool:
    attribute = read(mark)
    if attribute is None:
        return False
    if attribute.name == "cfg_attr":
        return any(re.match(r"(?:allow|expect)\(", part) for part in split(attribute.value)[1:])
    return attribute.name in _SILENCING or mark.startswith(("#[coverage(off)", "#[no_coverage"))


@lru_cache(maxsize=1024)
def _is_code(text: str) -> bool:
    if text.startswith("   "):  # an example in a text
        return False
    root = parsed(f"fn _f() {{\n{text}\n}}", "rust")
    if is_broken(root) or len(root.named_children()) != 1:
        return False
    body = root.named_children()[0].field("body")
    inner = [one for one in body.named_children() if not one.kind().endswith("comment")] if body is not None else []
    return inner[-1:] != [] and inner[-1].kind() != "attribute_item" and all(_is_statement(one) for one in inner)


def _is_statement(node: SgNode) -> bool:
    if node.kind() == "expression_statement":
        inner = node.named_children()
        return bool(inner) and inner[0].kind() in _EXPRESSIONS
    return node.kind() in _STATEMENTS | {"if_expression", "match_expression", "for_expression", "macro_invocation"}


def _hooks(macros: list[SgNode], said: _Said, found: tuple[Marked, ...]) -> Iterator[str]:
    """Runners of a project's own, what runs before all tests, and assertions that are no longer those of Rust."""
    yield from (mark for mark in said.marks if re.match(r"#!\[\s*(?:test_runner|reexport_test_harness_main)\b", mark))
    yield from (one.name for one in found if any(re.match(r"#\[\s*(?:\w+::)*ctor\b", mark) for mark in one.marks))
    for macro in macros:
        name = macro.field("name")
        if name is not None and _PATCHED.fullmatch(name.text()):
            yield f"macro_rules! {name.text()}"


def _exits(found: tuple[Marked, ...], *, is_test: bool) -> Iterator[str]:
    for one in found:
        before_all = any(re.match(r"#\[\s*(?:\w+::)*ctor\b", mark) for mark in one.marks)
        in_tests = is_test or any(mark == "#[cfg(test)]" for mark in one.marks)
        if one.is_test or not (before_all or in_tests) or one.name == "main" or "exit(" not in one.node.text():
            continue
        for call in one.node.find_all(kind="call_expression"):
            text = flat_text(call)
            if EXITS.match(text) and not re.search(r"\([1-9]\d*\)$", text):
                yield text


def _flags(top: list[SgNode]) -> Iterator[tuple[str, bool]]:
    for item in top:
        name, value = item.field("name"), item.field("value")
        if name is not None and value is not None and value.kind() == "boolean_literal":
            yield name.text(), value.text() == "true"
