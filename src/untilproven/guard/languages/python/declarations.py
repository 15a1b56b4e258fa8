"""The tests and functions of a file."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.facts import Declaration
from untilproven.guard.kinds import kind_of
from untilproven.guard.languages.python.doctests import has_examples
from untilproven.guard.languages.python.nodes import (
    assigned,
    call_of,
    decorators,
    definition,
    docstring,
    last_name,
    name_of,
    of_kinds,
    parts,
    statements,
    written,
)
from untilproven.guard.languages.python.stubs import is_only_declared
from untilproven.guard.languages.python.surroundings import Module, module_of
from untilproven.guard.languages.syntax import Marked

_FILE = re.compile(r"(?:test_.*|tests_.*|tests?|.*_tests?|test[A-Z].*|.*[a-z]Tests?|unittest_.*)\.py")
_FILE_OF_UNITTEST = re.compile(r"test\w*\.py")
_TESTING_CLASS = re.compile(r"Test|Case$|Spec|Suite|Mixin|Base$")
_SHARED = re.compile(r"Mixin|Base|Abstract|Common|Shared")
_NO_TEST = frozenset(
    {"fixture", "nottest", "property", "overload", "contextmanager", "cached_property", "yield_fixture"}
)
_REPLACING = re.compile(
    r"overload|property|setter|getter|deleter|register|evolve|\w+\.(?:setter|getter|deleter|register)"
)
_HOLDERS = frozenset({"if_statement", "elif_clause", "else_clause", "try_statement", "except_clause", "finally_clause"})
_MOST = 20_000


class _Found(NamedTuple):
    name: str
    node: SgNode
    is_test: bool
    block: SgNode


class _Waiting(NamedTuple):
    node: SgNode
    block: SgNode
    classes: tuple[str, ...]
    holds_tests: bool


def declarations(root: SgNode, path: str) -> tuple[Declaration, ...]:
    """None for a stub file: it declares types."""
    if path.endswith(".pyi"):
        return ()
    found = list(_functions(root, is_test_file(path)))
    if ">>>" in root.text():
        found += _doctests(root)
    return tuple(_declared(found, module_of(root))) if found else ()


def is_test_file(path: str) -> bool:
    """pytest, unittest and Django each look for their own names; what is named otherwise is not collected."""
    name = PurePosixPath(path).name
    return bool(_FILE.fullmatch(name)) or (bool(_FILE_OF_UNITTEST.fullmatch(name)) and kind_of(path) == "test")


def _functions(root: SgNode, tests_here: bool) -> Iterator[_Found]:
    text = root.text()
    assigns = any(word in text for word in ("lambda", "TestCase"))
    if not assigns and "def" not in text and "class" not in text:
        return  # a file of statements alone may have thousands of them
    may_declare = "overload" in text or "TYPE_CHECKING" in text
    collected = _Classes(root)
    waiting = [_Waiting(node, root, (), tests_here) for node in reversed(statements(root))]
    for _ in range(_MOST):
        if not waiting:
            return
        node, block, classes, holds = waiting.pop()
        inner = definition(node)
        match inner.kind():
            case "function_definition":
                if may_declare and is_only_declared(node):
                    continue
                name = name_of(inner)
                is_test = holds and name.startswith("test") and not _is_no_test(node)
                yield _Found(_joined(classes, name, is_test), node, is_test, block)
            case "class_definition":
                name = name_of(inner)
                holds_tests = tests_here and collected.add(inner)
                body = inner.field("body")
                if body:
                    below = [_Waiting(part, body, (*classes, name), holds_tests) for part in parts(body)]
                    waiting += reversed(below)
            case "expression_statement" if assigns:
                yield from _assigned(node, block, classes, holds)
            case kind if kind in _HOLDERS or kind == "with_statement":
                blocks = [part for part in node.children() if part.kind() == "block" or part.kind() in _HOLDERS]
                below = [
                    _Waiting(part, one, classes, holds)
                    for one in blocks
                    for part in (parts(one) if one.kind() == "block" else [one])
                ]
                waiting += reversed(below)


def _assigned(node: SgNode, block: SgNode, classes: tuple[str, ...], holds: bool) -> Iterator[_Found]:
    """`__eq__ = lambda ...`, and hypothesis' `TestCart = CartMachine.TestCase`."""
    for target, given in assigned(node):
        name = target.text()
        if target.kind() != "identifier":
            continue
        if given.kind() == "lambda":
            is_test = holds and name.startswith("test")
            yield _Found(_joined(classes, name, is_test), node, is_test, block)
        elif holds and name.startswith("Test") and given.kind() == "attribute" and last_name(given) == "TestCase":
            yield _Found(name, node, True, block)


def _joined(classes: tuple[str, ...], name: str, is_test: bool) -> str:
    return ("::" if is_test else ".").join((*classes, name))


def _is_no_test(node: SgNode) -> bool:
    for mark in decorators(node):
        call = call_of(mark)
        if last_name(call.function if call else mark) in _NO_TEST:
            return True
    return False


class _Classes:
    """Which classes a runner looks into."""

    def __init__(self, root: SgNode) -> None:
        self._collected: dict[str, bool] = {}
        self._bases = {
            last_name(base)
            for node in statements(root)
            if definition(node).kind() == "class_definition"
            for base in parts(definition(node).field("superclasses"))
        }

    def add(self, node: SgNode) -> bool:
        name = name_of(node)
        bases = [last_name(base) for base in parts(node.field("superclasses")) if base.kind() != "keyword_argument"]
        self._collected[name] = name.startswith("Test") or self._is_inherited(
            name, [one for one in bases if one != "object"]
        )
        return self._collected[name]

    def _is_inherited(self, name: str, bases: list[str]) -> bool:
        if any(self._collected.get(base, bool(_TESTING_CLASS.search(base))) for base in bases):
            return True
        if name in self._bases or _SHARED.search(name):
            return True
        return bool(bases) and _TESTING_CLASS.search(name) is not None


def _doctests(root: SgNode) -> Iterator[_Found]:
    if (said := docstring(root)) and has_examples(said):
        yield _Found("module::doctest", said, True, root)
    for node in of_kinds(root, "function_definition", "class_definition"):
        if (said := docstring(node)) and ">>>" in said.text() and has_examples(said):
            around = [one for one in node.ancestors() if one.kind() in {"function_definition", "class_definition"}]
            path = ".".join(name_of(one) for one in (*reversed(around), node))
            yield _Found(f"{path}::doctest", said, True, node)


def _declared(found: list[_Found], module: Module) -> Iterator[Declaration]:
    """The last of several by one name is the one that counts; the others in the same block are never seen."""
    later: dict[str, list[_Found]] = {}
    answer = []
    for one in reversed(found):
        others = later.setdefault(one.name, [])
        shadowed = any(other.block == one.block for other in others) and not _makes_way(one, others)
        name = f"{one.name}#{len(others)}" if others else one.name
        others.append(one)
        answer.append(Marked(name, one.node, one.is_test and not shadowed, _marks(one, module)))
    return reversed(answer)


def _makes_way(one: _Found, others: list[_Found]) -> bool:
    """Overloads and the parts of a property have one name by design."""
    marks = [mark for found in (one, *others) for mark in decorators(found.node)]
    return any(_REPLACING.fullmatch(written(call.function if (call := call_of(mark)) else mark)) for mark in marks)


def _marks(one: _Found, module: Module) -> tuple[str, ...]:
    """What else decides about it."""
    if not one.is_test or one.node.kind() == "string":
        return ()
    scopes = module.scopes(one.node)
    found = [mark for scope in scopes for mark in scope.marks]
    text = one.node.text()
    for scope in scopes:
        found += [f"{name} = {table}" for name, table in scope.tables.items() if name in text]
        found += [statement for target, statement in scope.undone.items() if target.rpartition(".")[2] in one.name]
    return tuple(found)
