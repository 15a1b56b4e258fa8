"""With what a test is run, what it replaces, how often and how long it may try."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.facts import Running
from untilproven.guard.languages.python.constants import value
from untilproven.guard.languages.python.nodes import (
    Call,
    assigned,
    bare,
    call_of,
    definition,
    parts,
    string_in,
    written,
)
from untilproven.guard.languages.python.skipping import fate_of_mark

_TABLES = frozenset({"list", "tuple", "set", "dictionary"})
_IMPORTS = ("import_from_statement", "import_statement")
_MOCKS = re.compile(r"(?:Magic|Async|NonCallable|Property)*Mock|create_autospec")
_PATCHES = re.compile(r"(?:.*\.)?patch(?:\.(?:object|dict|multiple))?|(?:.*\.)?(?:setattr|delattr|setitem|delitem)")
_RETRIES = re.compile(r"flaky|retry|rerun|reruns|repeat_on_failure")
_TIMES = ("reruns", "max_runs", "retries", "max_attempts", "attempts", "tries", "stop_max_attempt_number")
_LONGEST = 300


class Cases(NamedTuple):
    run: tuple[str, ...]
    none_left: bool
    """It has parameters, and is run with none."""


def cases_of(marks: list[SgNode], function: SgNode, names: Mapping[str, SgNode]) -> Cases:
    """`marks` are its decorators and those around it; `names` those of its module."""
    found: list[str] = []
    none_left = False
    local = _tables(function) | dict(names)
    for mark in marks:
        call = call_of(mark)
        if call is None:
            continue
        if call.name in {"parametrize", "expand", "parameterize", "parameterized", "product"}:
            table = call.argument(1, "argvalues") if call.name == "parametrize" else call.argument(0)
            rows = list(_rows(table, local)) if table else []
            kept = [row for row in rows if not _is_skipped(row, names)]
            none_left = none_left or (table is not None and not kept and bool(rows or bare(table).kind() in _TABLES))
            found += map(_row, kept)
        elif call.name in {"example", "data", "foreach", "idata"}:
            found += [written(call.node)] if call.name == "example" else map(written, call.positional)
        elif _names_parameters(call, function):
            found.append(_row(call.node))
    found += _looped(function, local)
    return Cases(tuple(found), none_left)


def _names_parameters(call: Call, function: SgNode) -> bool:
    """A mark of somebody's own that says first what it gives to the test, as `parametrize` does."""
    named = string_in(call.positional[0]) if len(call.positional) > 1 else None
    given = definition(function).field("parameters")
    known = {part.text() for part in given.find_all(kind="identifier")} if given and named else set[str]()
    return bool(known) and {name.strip() for name in (named or "").split(",")} <= known


def _tables(function: SgNode) -> dict[str, SgNode]:
    """Tables that the test itself names."""
    return {
        target.text(): given
        for assignment in definition(function).find_all(kind="assignment")
        for target, given in assigned(assignment)
        if given.kind() in _TABLES
    }


def _rows(table: SgNode, names: Mapping[str, SgNode]) -> Iterator[SgNode]:
    table = bare(table)
    if table.kind() == "identifier" and table.text() in names:
        table = bare(names[table.text()])
    call = call_of(table)
    if call and call.name == "items" and call.receiver and call.receiver.text() in names:
        table = bare(names[call.receiver.text()])
    if table.kind() in _TABLES:
        yield from parts(table)
    else:
        yield table


def _row(node: SgNode) -> str:
    return written(node)[:_LONGEST]


def _is_skipped(row: SgNode, names: Mapping[str, SgNode]) -> bool:
    """`pytest.param(..., marks=pytest.mark.skip)`."""
    call = call_of(row)
    marks = call.named.get("marks") if call and call.name == "param" else None
    return marks is not None and fate_of_mark(marks, names).running is Running.NEVER


def _looped(function: SgNode, names: Mapping[str, SgNode]) -> Iterator[str]:
    """Rows of a table that is written there and run through, and subtests with a name."""
    text = function.text()
    for loop in definition(function).find_all(kind="for_statement") if "for " in text else []:
        source = loop.field("right")
        if source is None:
            continue
        rows = list(_rows(source, names))
        if len(rows) != 1 or rows[0] != bare(source):
            yield from map(_row, rows)
    if "subTest" not in text and "subtests" not in text:
        return
    for entered in definition(function).find_all(kind="with_item", regex=r"^(?:self\.subTest|subtests\.test)\("):
        call = call_of(entered.find(kind="call"))
        if call and call.positional and string_in(call.positional[0]) is not None:
            yield written(call.positional[0])


def mocks_of(marks: list[SgNode], function: SgNode) -> Iterator[str]:
    """As named."""
    calls = [call_of(mark) for mark in marks]
    text = function.text()
    if any(hint in text for hint in ("patch", "attr", "item")):
        calls += [call_of(node) for node in _body(function).find_all(kind="call")]
    for call in calls:
        if call and _PATCHES.fullmatch(call.path):
            yield from _replaced(call)
    if "Mock" not in text and "create_autospec" not in text:
        return
    for assignment in _body(function).find_all(kind="assignment"):
        for target, given in assigned(assignment):
            made = call_of(given)
            if (
                made
                and _MOCKS.fullmatch(made.name)
                and (target.kind() in {"attribute", "subscript"} or _is_imported(target.text(), function))
            ):
                yield written(target)


def _is_imported(name: str, function: SgNode) -> bool:
    """Whether a name stands for something of another file where the test does not replace it."""
    imports = function.get_root().root().find_all({"rule": {"any": [{"kind": kind} for kind in _IMPORTS]}})
    return any(found.text() == name for one in imports for found in one.find_all(kind="identifier"))


def _body(function: SgNode) -> SgNode:
    return definition(function).field("body") or definition(function)


def _replaced(call: Call) -> Iterator[str]:
    if not call.positional:
        return
    owner = string_in(call.positional[0])
    named = call.path.rpartition(".")[2]
    if named == "multiple":
        yield from (f"{owner or written(call.positional[0])}.{name}" for name in call.named)
    elif named in {"patch", "dict"}:
        if "." in (owner or ".") or named == "dict":
            yield owner or written(call.positional[0]).removeprefix("f").strip("\"'")
    elif owner is not None and named in {"setattr", "delattr"}:
        yield owner
    elif len(call.positional) > 1:
        name = string_in(call.positional[1])
        yield f"{written(call.positional[0])}.{name if name is not None else written(call.positional[1])}"


def retries_of(marks: list[SgNode]) -> int | None:
    for mark in marks:
        call = call_of(mark)
        name = call.name if call else written(mark).rpartition(".")[2]
        if not _RETRIES.fullmatch(name):
            continue
        given = [value(call.named[key], {}) for key in _TIMES if key in call.named] if call else []
        given += [value(one, {}) for one in call.positional] if call else []
        stop = call_of(call.named.get("stop")) if call else None
        given += [value(one, {}) for one in stop.positional] if stop else []
        return next((times for times in given if isinstance(times, int)), 1)
    return None


def timeout_of(marks: list[SgNode]) -> float | None:
    for mark in marks:
        call = call_of(mark)
        if call and call.name in {"timeout", "timeout_after", "fail_after"}:
            seconds = call.argument(0, "timeout") or call.named.get("seconds")
            given = value(seconds, {}) if seconds else None
            return float(given) if isinstance(given, int | float) else None
    return None
