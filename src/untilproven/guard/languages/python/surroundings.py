"""What stands around a test and decides about it: its module, its classes, the conditions it is defined under."""

import re
from functools import cached_property, lru_cache
from itertools import chain

from ast_grep_py import SgNode, SgRoot

from untilproven.guard.facts import Running
from untilproven.guard.languages.python.nodes import (
    assigned,
    call_of,
    decorators,
    definition,
    expression,
    last_name,
    name_of,
    parts,
    statements,
    string_in,
    written,
)
from untilproven.guard.languages.python.skipping import (
    RUNS,
    Fate,
    conditional,
    fate_of_body,
    fate_of_mark,
    fate_of_setup,
    least,
    never,
)

_TABLES = frozenset({"list", "tuple", "dictionary", "set"})
_SKIPPING = re.compile(r"\b(?:skip\w*|xfail|expectedFailure|importorskip|SkipTest)\b")
_FAILING = frozenset({"pytest.raises", "raises", "pytest.fail", "self.fail", "pytest.warns"})
_OF_UNITTEST = re.compile(r"Test\w*$|Case$|Mixin$|Base$")


class Scope:
    """A module or a class: what its own statements say about the tests in it."""

    def __init__(self, node: SgNode) -> None:
        self.node = node
        self.statements = statements(node)

    @cached_property
    def names(self) -> dict[str, SgNode]:
        """What names are given at this level; the last time, if several."""
        return {
            target.text(): given
            for statement in self.statements
            if statement.kind() == "expression_statement"
            for target, given in assigned(statement)
            if target.kind() == "identifier"
        }

    @cached_property
    def tables(self) -> dict[str, str]:
        return {name: given.text() for name, given in self.names.items() if given.kind() in _TABLES and parts(given)}

    @cached_property
    def undone(self) -> dict[str, str]:
        """Tests and classes that are taken away again or marked from outside, and the statement that does it."""
        found: dict[str, str] = {}
        for statement in self.statements:
            if statement.kind() == "delete_statement":
                targets = parts(statement)
                for target in chain.from_iterable(
                    parts(one) if one.kind() == "expression_list" else [one] for one in targets
                ):
                    found[written(target)] = written(statement)
            elif statement.kind() == "expression_statement":
                for target, given in assigned(statement):
                    if self._takes_away(target, given):
                        found[written(target).removesuffix(".__test__")] = written(statement)
                call = call_of(expression(statement))
                if call and call.path in {"delattr", "setattr"} and len(call.positional) > 1:
                    owner, name = call.positional[:2]
                    found[f"{written(owner)}.{string_in(name)}"] = written(statement)
        return found

    def _takes_away(self, target: SgNode, given: SgNode) -> bool:
        if last_name(target) == "__test__":
            return given.kind() == "false"
        if not re.search(r"(?:^|\.)[tT]est\w*$", target.text()):
            return False
        call = call_of(given)
        applied = call.function if call else given
        return given.kind() in {"none", "lambda"} or (
            _SKIPPING.search(applied.text()) is not None
            and fate_of_mark(applied, self.names).running is not Running.ALWAYS
        )

    @cached_property
    def fate(self) -> Fate:
        """Of every test in it."""
        found = [fate_of_mark(mark, {}) for mark in decorators(self._whole)]
        marks = self.names.get("pytestmark")
        if marks:
            found.append(fate_of_mark(marks, self.names))
        for name in ("__test__", "__unittest_skip__", "__unittest_expecting_failure__"):
            given = self.names.get(name)
            if given and given.kind() == ("false" if name == "__test__" else "true"):
                found.append(never(f"{name} = {written(given)}"))
        functions = [one for one in self.statements if definition(one).kind() == "function_definition"]
        found += map(fate_of_setup, functions)
        if self.node.kind() == "module":
            found.append(fate_of_body(self.statements, {}))
        elif any(name_of(one) == "__init__" for one in functions) and not self._is_unittest:
            found.append(never("pytest does not collect a class with an __init__"))
        return least(found)

    @cached_property
    def marking(self) -> list[SgNode]:
        """Decorators and marks that each test in it has."""
        marks = self.names.get("pytestmark")
        listed = parts(marks) if marks and marks.kind() in {"list", "tuple"} else [marks] if marks else []
        return [*decorators(self._whole), *listed]

    @property
    def _whole(self) -> SgNode:
        around = self.node.parent()
        return around if around and around.kind() == "decorated_definition" else self.node

    @property
    def _is_unittest(self) -> bool:
        bases = self.node.field("superclasses")
        return bases is not None and any(_OF_UNITTEST.search(last_name(base)) for base in parts(bases))

    @cached_property
    def helpers(self) -> frozenset[str]:
        """Its own functions that assert, and are no tests."""
        functions = [one for one in self.statements if definition(one).kind() == "function_definition"]
        return frozenset(name_of(one) for one in functions if not name_of(one).startswith("test") and _asserts(one))

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """The text of what decides about the tests in it."""
        found = [written(mark) for mark in decorators(self._whole)]
        for statement in self.statements:
            kind = definition(statement).kind()
            if kind == "class_definition" or (kind == "function_definition" and name_of(statement).startswith("test")):
                continue
            if kind == "function_definition":
                if fate_of_setup(statement) is not RUNS or name_of(statement) == "__init__":
                    found.append(written(statement))
            elif kind != "import_statement" and _decides(statement):
                found.append(written(statement))
        return tuple(found)


def _decides(statement: SgNode) -> bool:
    if statement.kind() == "expression_statement":
        targets = {target.text() for target, _ in assigned(statement)}
        if targets & {"pytestmark", "__test__", "__unittest_skip__", "__unittest_expecting_failure__"}:
            return True
    text = statement.text()
    return len(text) < 2000 and _SKIPPING.search(text) is not None and "def test" not in text


def _asserts(function: SgNode) -> bool:
    text = function.text()
    if "assert" not in text and "raises" not in text and "fail(" not in text:
        return False
    if function.find(kind="assert_statement"):
        return True
    calls = (call_of(node) for node in function.find_all(kind="call"))
    return any(call and (call.name.startswith("assert") or call.path in _FAILING) for call in calls)


class Module(Scope):
    def __init__(self, node: SgNode) -> None:
        super().__init__(node)
        self._classes: dict[SgNode, Scope] = {}

    def scopes(self, node: SgNode) -> list[Scope]:
        """The classes that a test stands in, from within, and the module."""
        around = [one for one in node.ancestors() if one.kind() == "class_definition"]
        for one in around:
            if one not in self._classes:
                self._classes[one] = Scope(one)
        return [*(self._classes[one] for one in around), self]

    @cached_property
    def has_focus(self) -> bool:
        return "mark.only" in self.node.text() and self.node.find(kind="decorator", regex=r"mark\.only\b") is not None


@lru_cache(maxsize=16)
def _module(root: SgRoot) -> Module:
    return Module(root.root())


def module_of(node: SgNode) -> Module:
    return _module(node.get_root())


def fate_around(node: SgNode, name: str) -> Fate:
    """What decides about a test outside of it and its own decorators."""
    module = module_of(node)
    scopes = module.scopes(node)
    found = [scope.fate for scope in scopes]
    path = name.replace("::", ".")
    endings = [path[at + 1 :] for at, sign in enumerate(path) if sign == "."]
    starts = [path[:at] for at, sign in enumerate(path) if sign == "."]
    for scope in scopes:
        found += [never(scope.undone[target]) for target in (path, *endings, *starts) if target in scope.undone]
    if module.has_focus and not any("mark.only" in written(mark) for mark in decorators(node)):
        found.append(never("another test of the file has the focus"))
    return least([*found, _fate_of_branch(node)])


def _fate_of_branch(node: SgNode) -> Fate:
    """A test may be defined under a condition."""
    found = [RUNS]
    inner = node
    for around in node.ancestors():
        condition = around.field("condition") if around.kind() in {"if_statement", "elif_clause"} else None
        if condition and inner.kind() == "block":
            found.append(conditional(condition, None, skips_if=False))
        elif condition and inner.kind() in {"else_clause", "elif_clause"}:
            found.append(conditional(condition, None))
        inner = around
    return least(found)
