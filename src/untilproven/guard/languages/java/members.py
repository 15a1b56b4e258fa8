"""Tests and functions of a file, with what around them decides about them."""

import re
from collections.abc import Iterable, Iterator

import msgspec
from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion
from untilproven.guard.languages.java import cases, running
from untilproven.guard.languages.java.annotated import Annotation, annotations, modifiers
from untilproven.guard.languages.java.syntax import BODIES, FUNCTIONS, TYPES, code_in, flat, name_of
from untilproven.guard.languages.syntax import Marked

TESTS = frozenset(
    {"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory", "Property", "RetryingTest"}
    | {"CartesianTest", "FuzzTest", "RepeatedIfExceptionsTest", "RetryTest", "Tests", "UiThreadTest"}
)
"""`Property` is jqwik's."""
_SETUP = frozenset({"Before", "BeforeEach", "BeforeAll", "BeforeClass", "BeforeMethod", "BeforeTest", "BeforeSuite"})
SETUP_OR_TEARDOWN = _SETUP | {one.replace("Before", "After") for one in _SETUP}
MAY_SKIP = re.compile(r"[aA]ssum|abort\(|SkipException|Aborted")
_SCOPES = TYPES | {"enum_constant", "enum_entry"}
_TYPES_OF_PARAMETERS = frozenset(
    {"type_identifier", "scoped_type_identifier", "generic_type", "array_type", "integral_type", "floating_point_type"}
    | {"boolean_type", "user_type", "nullable_type", "function_type", "parenthesized_type"}
)
_STATEFUL = frozenset({"field_declaration", "property_declaration", "constant_declaration"})

_INITIALIZERS = {"static_initializer": "static", "anonymous_initializer": "init"}
"""What is done when a class is loaded or made, as it is written."""


class Method(msgspec.Struct, frozen=True, eq=False):
    node: SgNode
    name: str
    marks: list[Annotation]

    @property
    def is_marked(self) -> bool:
        """As a test."""
        return any(mark.name in TESTS for mark in self.marks)


class Scope(msgspec.Struct, eq=False):
    """A class, or what has members as one has."""

    name: str
    node: SgNode
    outer: "Scope | None" = None
    marks: list[Annotation] = []
    """Annotations that may keep its tests from being run."""
    given: list[Annotation] = []
    """Annotations of a class that is run once for each case."""
    functions: list[Method] = []
    by_name: dict[str, list[Method]] = {}
    givers: list[Method] = []
    """Functions that say they give cases to tests."""
    fields: list[SgNode] = []
    setups: list[SgNode] = []
    """Those that may skip."""
    asserting: dict[str, tuple[Assertion, ...]] = {}
    """What was found in its functions."""

    def around(self) -> Iterator["Scope"]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    @property
    def path(self) -> str:
        return ".".join(scope.name for scope in reversed(list(self.around())) if scope.name)


class Member(Marked, frozen=True, eq=False):
    scope: Scope | None = None


def scopes(root: SgNode) -> list[Scope]:
    """All of a file's, the file itself first."""
    found = [Scope("", root)]
    stack: list[tuple[SgNode, Scope]] = [(child, found[0]) for child in reversed(code_in(root))]
    while stack:
        node, scope = stack.pop()
        kind = node.kind()
        inside = scope
        if kind in _SCOPES:
            inside = _entered(node, kind, scope)
            found.append(inside)
        elif kind in FUNCTIONS:
            _add_function(node, scope)
            continue
        elif kind in _STATEFUL or kind in _INITIALIZERS:
            scope.fields.append(node)
            for body in _classes_in(node):
                inside = Scope(_INITIALIZERS.get(kind) or _declared(node), body, scope)
                found.append(inside)
                stack.extend((child, inside) for child in reversed(code_in(body)))
            continue
        elif kind not in BODIES and kind != "ERROR":
            continue
        stack.extend((child, inside) for child in reversed(code_in(node)))
    return found


def _entered(node: SgNode, kind: str, scope: Scope) -> Scope:
    if kind == "companion_object" and scope.node.kind() in TYPES:
        """Its functions are called as those of its class."""
        inside = Scope("", node, scope, functions=scope.functions, by_name=scope.by_name, givers=scope.givers)
        inside.fields = scope.fields
        return inside
    marks = annotations(node)
    given = marks if any(one.name == "ParameterizedClass" for one in marks) else []
    return Scope(name_of(node), node, scope, [one for one in marks if running.decides(one)], given)


def _classes_in(field: SgNode) -> list[SgNode]:
    """Classes without a name that a field holds; not those within one another."""
    if "{" not in field.text():
        return []
    found: list[SgNode] = []
    for body in field.find_all(kind="class_body"):
        if not found or body.range().start.index >= found[-1].range().end.index:
            found.append(body)
    return found


def _declared(field: SgNode) -> str:
    declarator = next(
        (one for one in code_in(field) if one.kind() in {"variable_declarator", "variable_declaration"}), None
    )
    return name_of(declarator) if declarator else ""


def _add_function(node: SgNode, scope: Scope) -> None:
    one = Method(node, name_of(node), annotations(node))
    scope.functions.append(one)
    scope.by_name.setdefault(one.name, []).append(one)
    if any(mark.name in {"Parameters", "DataProvider"} for mark in one.marks):
        scope.givers.append(one)
    prepares = one.name in {"setUp", "setup"} or any(mark.name in _SETUP for mark in one.marks)
    if prepares and MAY_SKIP.search(node.text()):
        scope.setups.append(node)


def members(every: Iterable[Scope], imports: str) -> Iterator[Member]:
    for scope in every:
        if scope.outer and scope.outer.functions is scope.functions:
            continue
        path = scope.path
        is_collected, is_of_junit_3 = _is_collected(scope, imports), _is_of_junit_3(scope, imports)
        for one in scope.functions:
            is_test = is_collected if one.is_marked else is_of_junit_3 and one.name.startswith("test")
            is_test = is_test and _may_run(one)
            decided = tuple(_decided_by(scope, one)) if is_test else ()
            name = _name(one, scope)
            yield Member(f"{path}.{name}" if path else name, one.node, is_test, decided, scope)


def _name(one: Method, scope: Scope) -> str:
    """With what it extends, and with the types that tell it from others of its name."""
    parts = one.node.children() if one.node.kind() == "function_declaration" else ()
    of = next((flat(child) for child in parts if child.kind() == "receiver_type"), None)
    name = f"{of}.{one.name}" if of else one.name or "constructor"
    return f"{name}({parameter_types(one.node)})" if len(scope.by_name[one.name]) > 1 else name


def _may_run(one: Method) -> bool:
    kept_back = modifiers(one.node) & {"private", "static", "abstract"}
    return not kept_back and (one.is_marked or not parameter_types(one.node))


def in_order(declared: Iterable[Member]) -> tuple[Member, ...]:
    """As they stand in the file."""
    return tuple(sorted(declared, key=lambda one: one.node.range().start.index))


def _decided_by(scope: Scope, one: Method) -> Iterator[str]:
    """What else says whether a test is run, and with what."""
    named = cases.sources(one.marks, one.name) | set(_conditions(one.marks))
    for around in scope.around():
        yield from (mark.text for mark in around.given)
        yield from (mark.text for mark in around.marks)
        yield from (setup.text() for setup in around.setups)
        yield from (function.text() for function in providers(around, named))


def _conditions(marks: list[Annotation]) -> Iterator[str]:
    for mark in marks:
        if mark.name in {"EnabledIf", "DisabledIf"} and (given := mark.option("value")):
            yield given.text().strip('"').rpartition("#")[2]


def providers(scope: Scope, named: set[str]) -> list[SgNode]:
    """Functions that are named, and those that give cases to the whole class."""
    found = [one for name in sorted(named) for one in scope.by_name.get(name, ()) if not one.is_marked]
    found += [one for one in scope.givers if one not in found and any(_gives(mark, named) for mark in one.marks)]
    fields = [field for field in scope.fields if _declared(field) in named] if named else []
    return [*(one.node for one in found), *fields]


def _gives(mark: Annotation, named: set[str]) -> bool:
    if mark.name == "Parameters":
        return True
    given = mark.option("name") if mark.name == "DataProvider" else None
    return given is not None and given.text().strip('"') in named


def parameter_types(node: SgNode) -> str:
    listed = next(
        (one for one in node.children() if one.kind().endswith("parameters") and one.kind() != "type_parameters"), None
    )
    if listed is None:
        return ""
    types = []
    for one in code_in(listed):
        typed = one.field("type") or next((part for part in code_in(one) if part.kind() in _TYPES_OF_PARAMETERS), None)
        if typed:
            types.append(flat(typed))
    return ", ".join(types)


def _is_collected(scope: Scope, imports: str) -> bool:
    """Jupiter passes over inner classes that are not marked as nested."""
    if "org.junit.jupiter" not in imports:
        return True
    for around in scope.around():
        if around.outer is None or around.outer.outer is None or around.node.kind() != "class_declaration":
            continue
        said = modifiers(around.node)
        is_inner = "inner" in said if around.node.get_root().root().kind() == "source_file" else "static" not in said
        outer_is_class = around.outer.node.kind() == "class_declaration"
        if is_inner and outer_is_class and not any(mark.name.endswith("Nested") for mark in annotations(around.node)):
            return False
    return True


def _is_of_junit_3(scope: Scope, imports: str) -> bool:
    base = next((one for one in scope.node.children() if one.kind() in {"superclass", "delegation_specifier"}), None)
    if base is None:
        return False
    parent = re.sub(r"^extends\s+|[(<].*$", "", flat(base))
    if parent.endswith("TestCase"):
        return "org.junit.Test" not in imports and "org.junit.jupiter" not in imports
    return "Test" in parent and "junit.framework" in imports
