"""The cases of a test with parameters or of a table, as written."""

import re
from collections.abc import Iterable, Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.java.annotated import Annotation
from untilproven.guard.languages.java.syntax import (
    LAMBDAS,
    Call,
    bare,
    below,
    body_of,
    call_of,
    code_in,
    flat,
    is_kotlin,
    is_literal,
    number,
    text_in,
)

_LISTS = frozenset({"element_value_array_initializer", "array_initializer", "collection_literal"})
_MAKES_LIST = re.compile(
    r"(?:List|Set|Stream|IntStream|LongStream|ImmutableList|ImmutableSet|DynamicTest|Iterator|Seq)?\.?(?:of|asList|copyOf|stream)"
    r"|listOf|setOf|arrayOf|\w+ArrayOf|sequenceOf|mutableListOf|arrayListOf|mapOf|streamOf|forAll|table|withData|forEach|asList"
    r"|argumentsForFirstParameter"
)
_ROWS = frozenset({"row", "dynamicTest", "dynamicContainer", "data"})
_LOOPS = frozenset({"for_statement", "enhanced_for_statement", "while_statement"})
_MOST = 1000
_DEEPEST = 5


def sources(annotations: Iterable[Annotation], name: str) -> set[str]:
    """Functions that give a test its cases, by name."""
    found: set[str] = set()
    for annotation in annotations:
        if annotation.name in {"MethodSource", "FieldSource", "MethodFactory"}:
            given = [text_in(value) for value in _elements(annotation.option("value"))]
            found |= {one.rpartition("#")[2].partition("(")[0] for one in given if one} or {name}
        elif annotation.name == "Test" and (given_by := annotation.option("dataProvider")):
            found.add(text_in(given_by) or flat(given_by))
        elif annotation.name in {"Parameters", "UseDataProvider"}:
            named = annotation.option("method")
            found |= {text_in(value) or "" for value in ([named] if named else annotation.arguments[:1])}
    return found


def of_annotations(annotations: Iterable[Annotation]) -> Iterator[str]:
    for annotation in annotations:
        if annotation.name == "CsvSource":
            yield from _csv(annotation)
        elif annotation.name in {
            "ValueSource",
            "EnumSource",
            "ArgumentsSource",
            "CsvFileSource",
            "TestCase",
            "DataRow",
            "TestParameter",
            "TestParameters",
            "Values",
        }:
            yield from (flat(value) for value in _given(annotation))
            if not annotation.arguments and not annotation.named:
                yield annotation.text
        elif annotation.name == "Parameters":
            yield from (flat(value) for value in _elements(annotation.option("value")))
        elif annotation.name in {"NullSource", "NullAndEmptySource", "EmptySource"}:
            yield from (word for word in ("null", "empty") if word in annotation.name.lower())
        elif annotation.name == "RepeatedTest" and (times := annotation.option("value")):
            yield from (f"repetition {at + 1}" for at in range(min(int(number(times) or 0), _MOST)))


def _given(annotation: Annotation) -> Iterator[SgNode]:
    values = annotation.arguments + tuple(value for key, value in annotation.named if key != "name")
    for value in values:
        yield from _elements(value)


def _csv(annotation: Annotation) -> Iterator[str]:
    block = annotation.option("textBlock")
    if block is None:
        yield from (flat(value) for value in _elements(annotation.option("value")))
        return
    for line in block.text().strip('"').splitlines():
        if line.strip() and not line.strip().startswith("#"):
            yield " ".join(line.split())


def _elements(node: SgNode | None) -> list[SgNode]:
    if node is None:
        return []
    if node.kind() in _LISTS:
        return code_in(node)
    call = call_of(node)
    if call and call.name.lower().endswith("arrayof"):
        return list(call.values)
    return [node]


def in_body(body: SgNode, calls: Iterable[Call]) -> Iterator[str]:
    """Rows of tables that a test goes through, and subtests with a name."""
    for loop in body.find_all(kind="for_statement" if is_kotlin(body) else "enhanced_for_statement"):
        yield from _looped(loop)
    for call in calls:
        if call.name in _ROWS and call.arguments and _is_of_no_value(call):
            yield flat(call.arguments[0]) if call.name.startswith("dynamic") else flat(call.node)
        elif call.name in {"forEach", "onEach", "withData"}:
            given = [value for value in call.arguments if value.kind() not in LAMBDAS]
            over = given or ([call.receiver] if call.receiver else [])
            yield from (row for one in over for row in table(one, alone=len(over) == 1))


def _is_of_no_value(call: Call) -> bool:
    """By its own name, or as a function of a class: what a value is told, as in `request.data(...)`, is no row."""
    return call.receiver is None or re.fullmatch(r"[A-Z][\w.]*", call.receiver.text()) is not None


def _looped(loop: SgNode) -> Iterator[str]:
    over = loop.field("value") or next((one for one in code_in(loop) if call_of(one)), None)
    if over is not None:
        yield from table(over)


def table(node: SgNode, *, alone: bool = True) -> list[str]:
    """The rows of a table written out; none for one that is computed. What is not `alone` is a row itself."""
    node = bare(node)
    if not alone:
        call = call_of(node)
        return [] if call and call.name in _ROWS else [flat(node)]
    rows = _rows(node)
    return [flat(row) for row in rows] if len(rows) > 1 or (rows and not is_literal(rows[0])) else []


def _rows(node: SgNode, nested: int = 0) -> list[SgNode]:
    if node.kind() == "array_creation_expression":
        inside = next((one for one in code_in(node) if one.kind() == "array_initializer"), None)
        return code_in(inside) if inside else []
    if node.kind() in _LISTS:
        return code_in(node)
    call = call_of(node)
    if call is None or not _MAKES_LIST.fullmatch(call.name):
        return []
    if len(call.values) != 1:
        return list(call.values)
    only = bare(call.values[0])
    within = _rows(only, nested + 1) if nested < _DEEPEST else []
    return within or ([only] if call.name != "stream" else [])


def of_provider(provider: SgNode) -> list[str]:
    """Rows of what a function gives back: the first table in what it returns, or in all of it. What a loop or a
    lambda makes is not written out."""
    body = body_of(provider) or provider
    written = list(below(body, stop=LAMBDAS | _LOOPS))
    returned = [one for one in written if one.kind() in {"return_statement", "jump_expression"}]
    parts = [one for part in returned for one in below(part, stop=LAMBDAS)] + written
    rows = next((found for one in parts if (found := _rows(one))), [])
    calls = [call for one in written if (call := call_of(one))]
    added = [value for call in calls if call.name == "add" and call.receiver for value in call.values]
    return [flat(row) for row in (added if len(added) > len(rows) else rows)]
