"""What a test puts something of its own in the place of."""

import re
from collections.abc import Iterable, Iterator

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.java.annotated import Annotation, annotations
from untilproven.guard.languages.java.syntax import (
    Call,
    body_of,
    call_of,
    code_in,
    flat,
    is_literal,
    name_of,
    statements,
    type_named,
)

_MAKES = re.compile(
    r"mock|spy|mockk|spyk|mockStatic|mockConstruction|createMock|createNiceMock|createStrictMock|strictMock|niceMock"
)
_MAKES_IN_PLACE = frozenset({"mockkObject", "mockkStatic", "mockkConstructor", "mockkClass"})
_OPENS = frozenset({"when", "whenever", "given", "every", "coEvery", "on", "wheneverBlocking"})
_ANSWERS = re.compile(
    r"(?:then|will|do)Return|returns|coReturns|doReturn|returnsMany|thenThrow|throws|thenAnswer|answers"
)
_OF_MOCKS = re.compile(r"(?ms)^package (\w+\.\w+)\b.*?^import (?:static )?\1\.[\w.]*[mM]ock")
_OF_FIELDS = re.compile(
    r"Mock|Spy|MockBean|SpyBean|MockK|RelaxedMockK|SpyK|MockitoBean|MockitoSpyBean|MockkBean|SpykBean"
)


def mocks(calls: Iterable[Call]) -> Iterator[str]:
    for call in calls:
        if _MAKES.fullmatch(call.name) and (made := _made(call)):
            yield made
        elif call.name in _MAKES_IN_PLACE:
            yield from (type_named(value) for value in call.values)
        elif (stubbed := _stubbed(call)) is not None:
            yield _target(stubbed)


def of_fields(fields: Iterable[SgNode], text: str) -> Iterator[str]:
    """Mocks made by annotation for the whole class, where a test names them."""
    for field in fields:
        marks: list[Annotation] = annotations(field)
        if not any(_OF_FIELDS.fullmatch(one.name) for one in marks):
            continue
        declared = next((one for one in code_in(field) if "variable_declarat" in one.kind()), None)
        if declared is None or not re.search(rf"\b{re.escape(name_of(declared))}\b", text):
            continue
        typed = field.field("type") or next((one for one in code_in(declared) if one.kind().endswith("_type")), None)
        yield flat(typed) if typed else name_of(declared)


def _made(call: Call) -> str | None:
    if call.types:
        return call.types[0]
    if call.arguments:
        return type_named(call.arguments[0])
    parent = call.node.parent()
    if parent is None or parent.kind() not in {"variable_declarator", "property_declaration"}:
        return None
    above = parent.parent() if parent.kind() == "variable_declarator" else parent
    typed = above.field("type") if above else None
    if typed is None:
        declared = next((one for one in code_in(parent) if one.kind() == "variable_declaration"), None)
        typed = next((one for one in code_in(declared) if one.kind().endswith("_type")), None) if declared else None
    return flat(typed) if typed else None


def _stubbed(call: Call) -> SgNode | None:
    """The call that is answered in place of the real one."""
    if call.name not in _OPENS:
        return None
    if call.block is not None:
        body = body_of(call.block)
        done = statements(body) if body else []
        return done[-1] if done else None
    if len(call.arguments) != 1:
        return None
    if call.receiver is None or flat(call.receiver).endswith("Mockito"):
        return call.arguments[0] if call_of(call.arguments[0]) else None
    parent = call.node.parent()
    outer = call_of(parent) if parent else None
    return outer.node if outer and re.search(r"\bdo(?:Return|Throw|Answer|Nothing)\(", call.receiver.text()) else None


def _target(stubbed: SgNode) -> str:
    call = call_of(stubbed)
    if call is None or call.receiver is None:
        return flat(call.node).partition("(")[0] if call else flat(stubbed)
    inner = call_of(call.receiver)
    of = inner.arguments[0] if inner and inner.name == "when" and inner.arguments else call.receiver
    return f"{flat(of)}.{call.name}"


def configured(calls: Iterable[Call]) -> set[tuple[str, str]]:
    """Calls and what the test itself has them answer."""
    found: set[tuple[str, str]] = set()
    for call in calls:
        if not _ANSWERS.fullmatch(call.name) or not call.arguments or not call.receiver:
            continue
        opened = call_of(call.receiver)
        if opened and (stubbed := _stubbed(opened)) and is_literal(call.arguments[0]):
            found.add((flat(stubbed), flat(call.arguments[0])))
    return found


def is_of_mocks(node: SgNode) -> bool:
    """It stands in a package of the library that makes the mocks: whether they answer is just what is to be tested."""
    return _OF_MOCKS.search(node.get_root().root().text()) is not None


def without_echoes(assertions: Iterable[Assertion], told: set[tuple[str, str]]) -> tuple[Assertion, ...]:
    """What a mock was told to say, and says, is no news."""
    return tuple(
        Assertion(one.text, one.about, Strength.NOTHING, one.line, one.expected)
        if one.expected is not None and (one.about, one.expected) in told
        else one
        for one in assertions
    )
