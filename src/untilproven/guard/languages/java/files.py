"""What a file does to a test run by being there."""

import re
from collections.abc import Iterable, Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.java import words
from untilproven.guard.languages.java.annotated import annotations, modifiers
from untilproven.guard.languages.java.asking import asks_if_tested
from untilproven.guard.languages.java.handling import says_only
from untilproven.guard.languages.java.members import SETUP_OR_TEARDOWN, Scope
from untilproven.guard.languages.java.syntax import FUNCTIONS, body_of, code_in, flat, name_of, statements

_TAKES_HOLD = re.compile(
    r"ExecutionCondition|TestExecutionExceptionHandler|LifecycleMethodExecutionExceptionHandler|InvocationInterceptor"
    r"|TestExecutionListener|LauncherSessionListener|LauncherDiscoveryListener|PostDiscoveryFilter|LauncherInterceptor"
    r"|TestRule|MethodRule|BlockJUnit4ClassRunner|Runner|RunListener|TestWatcher|TestInstancePostProcessor|TestEngine"
    r"|IRetryAnalyzer|ITestListener|IAnnotationTransformer|IInvokedMethodListener|IHookable|IMethodInterceptor|ISuiteListener"
    r"|AbstractProjectConfig|TestCaseExtension|TestListener|ProjectListener|TestFilter|TestCaseFilter|EnabledExtension"
)
_ASSERTS = (
    words.EQUAL | words.UNEQUAL | words.FALSE | words.THROWS | {"assertTrue", "assertThat", "fail", "assertNotNull"}
)
_HERITAGE = frozenset({"superclass", "super_interfaces", "delegation_specifier"})
_OF_MEMBERS = frozenset({"field_declaration", "constant_declaration"})


def hooks(every: Iterable[Scope]) -> Iterator[str]:
    for scope in every:
        heritage = [one for one in scope.node.children() if one.kind() in _HERITAGE]
        for named in (name for one in heritage for name in re.findall(r"\w+", flat(one))):
            if _TAKES_HOLD.fullmatch(named):
                yield f"{scope.name}: {named}"
        for function in scope.functions:
            body = body_of(function.node) if function.name in _ASSERTS else None
            if body and all(map(says_only, statements(body))):
                yield f"{scope.path}.{function.name} asserts nothing"


def exits(root: SgNode) -> Iterator[str]:
    """Outside of functions, and in what runs before and after tests."""
    text = root.text()
    if not re.search(r"System\s*\.\s*exit|exitProcess|getRuntime", text):
        return
    kind = "method_invocation" if root.kind() == "program" else "call_expression"
    for call in root.find_all(kind=kind):
        if not words.EXITS.fullmatch(flat(call)):
            continue
        within = next((one for one in call.ancestors() if one.kind() in FUNCTIONS), None)
        if within is None or {mark.name for mark in annotations(within)} & SETUP_OR_TEARDOWN:
            yield flat(call)


def flags(every: Iterable[Scope]) -> Iterator[tuple[str, bool]]:
    for scope in every:
        shared = scope.outer is None or scope.node.kind() in {
            "object_declaration",
            "companion_object",
            "interface_declaration",
        }
        for field in scope.fields:
            if not shared and not (field.kind() in _OF_MEMBERS and "static" in modifiers(field)):
                continue
            parts = code_in(field)
            declared = [one for one in parts if one.kind() in {"variable_declarator", "variable_declaration"}]
            for one in declared:
                value = code_in(one)[-1] if one.kind() == "variable_declarator" else parts[-1]
                if flat(value) in {"true", "false"}:
                    name = name_of(one)
                    yield (f"{scope.path}.{name}" if scope.path else name), flat(value) == "true"


def asked_outside(every: Iterable[Scope]) -> Iterator[str]:
    for scope in every:
        for field in scope.fields:
            yield from asks_if_tested(field)
