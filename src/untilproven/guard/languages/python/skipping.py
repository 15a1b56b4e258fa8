"""Whether a test is run, and under which condition."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.facts import Running
from untilproven.guard.languages.python.constants import Known, truth
from untilproven.guard.languages.python.flow import is_skip
from untilproven.guard.languages.python.nodes import (
    Call,
    bare,
    block_of,
    body_of,
    call_of,
    decorators,
    dotted,
    expression,
    last_name,
    name_of,
    parts,
    string_in,
    written,
)
from untilproven.guard.languages.syntax import parsed

_CONDITIONAL = re.compile(
    r"skip[A-Z_]\w*|requires?(?:_\w+|[A-Z]\w*)?|needs?_\w+|only_(?:on|if|in)\w*|unless_\w+|xfail_\w+"
)
_DISABLED = re.compile(r"disabled?|broken|quarantined?|ignored?|do_not_run|not_run")
_SETUPS = frozenset(
    {"setUp", "setUpClass", "setUpModule", "asyncSetUp", "setUpTestData", "setup", "setup_method", "setup_class"}
    | {"setup_module", "setup_function"}
)
_DEEPEST = 4


class Fate(NamedTuple):
    """The lower, the less it is run."""

    running: Running
    reason: str | None = None


RUNS = Fate(Running.ALWAYS)


def least(fates: Iterable[Fate]) -> Fate:
    return min(fates, key=lambda fate: fate.running, default=RUNS)


def never(reason: str | None) -> Fate:
    return Fate(Running.NEVER, reason)


def conditional(condition: SgNode, reason: str | None, *, skips_if: bool = True, known: Known | None = None) -> Fate:
    text = string_in(condition)
    if text is not None:
        condition = parsed(text, "python")
        condition = expression(parts(condition)[0]) or condition if parts(condition) else condition
    held = truth(condition, known or {})
    if held is not None:
        return never(reason or written(condition)) if held is skips_if else RUNS
    asked = written(condition) if skips_if else f"not ({written(condition)})"
    return Fate(Running.SOMETIMES, f"{asked}: {reason}" if reason else asked)


def fate_of_mark(mark: SgNode, names: Mapping[str, SgNode], depth: int = 0) -> Fate:
    """Of a decorator, or of what `pytestmark` is given. `names` are those of the module."""
    mark = bare(mark)
    if depth > _DEEPEST:
        return RUNS
    if mark.kind() in {"list", "tuple"}:
        return least(fate_of_mark(part, names, depth + 1) for part in parts(mark))
    if mark.kind() == "identifier" and mark.text() in names:
        return fate_of_mark(names[mark.text()], names, depth + 1)
    call = call_of(mark)
    if call and call.function.kind() == "identifier" and call.function.text() in names and call.name not in _MARKS:
        return fate_of_mark(names[call.function.text()], names, depth + 1)
    return _named(call.name if call else last_name(mark), call, mark)


_MARKS = frozenset({"skip", "skipif", "skipIf", "skip_if", "skipUnless", "skip_unless", "xfail"})


def _named(name: str, call: Call | None, mark: SgNode) -> Fate:
    reason = _reason(call)
    condition = call.argument(0, "condition") if call else None
    match name:
        case "skip" | "expectedFailure" | "expected_failure":
            return never(reason or written(mark))
        case "skipif" | "skipIf" | "skip_if" | "skip_when":
            return conditional(condition, reason) if condition else never(written(mark))
        case "skipUnless" | "skip_unless" | "skipunless":
            return conditional(condition, reason, skips_if=False) if condition else never(written(mark))
        case "xfail":
            return conditional(condition, reason) if condition else never(reason or written(mark))
    path = dotted(call.function if call else mark)
    if _DISABLED.fullmatch(name) or (_CONDITIONAL.fullmatch(name) and not path.startswith("self.")):
        return Fate(Running.SOMETIMES, written(mark))
    return RUNS


def _reason(call: Call | None) -> str | None:
    if call is None:
        return None
    given = call.named.get("reason") or call.named.get("msg")
    texts = [string_in(one) for one in ([given] if given else call.positional)]
    return next((text for text in reversed(texts) if text), None)


def fate_of_body(statements: Iterable[SgNode], known: Known, *, until: int | None = None, depth: int = 0) -> Fate:
    """Of the statements of a test, a setup or a module that skip it; an unconditional skip behind line `until` comes
    too late to keep the test from saying something."""
    found = RUNS
    for statement in statements:
        if until is not None and statement.range().start.line + 1 > until:
            known_now = _sometimes(statement, known, depth)
            found = least((found, known_now)) if known_now.running is Running.SOMETIMES else found
            continue
        if is_skip(statement):
            return never(_skip_reason(statement))
        found = least((found, _sometimes(statement, known, depth)))
        if found.running is Running.NEVER:
            break
    return found


def _skip_reason(statement: SgNode) -> str:
    call = call_of(expression(statement)) or next((call_of(part) for part in parts(statement)), None)
    return _reason(call) or written(statement)


def _sometimes(statement: SgNode, known: Known, depth: int) -> Fate:
    """Of a statement that has others in it, or looks for a module."""
    if depth > _DEEPEST:
        return RUNS
    match statement.kind():
        case "expression_statement":
            return _looks_for_module(statement)
        case "if_statement":
            return _branches(statement, known, depth)
        case "with_statement":
            return fate_of_body(parts(statement.field("body")), known, depth=depth + 1)
        case "try_statement":
            inside = fate_of_body(parts(statement.field("body")), known, depth=depth + 1)
            for clause in statement.children():
                if clause.kind() == "except_clause" and any(map(is_skip, parts(block_of(clause)))):
                    return least((inside, Fate(Running.SOMETIMES, written(clause))))
            return inside
    return RUNS


def _looks_for_module(statement: SgNode) -> Fate:
    if "importorskip" in statement.text():
        for node in statement.find_all(kind="call"):
            call = call_of(node)
            if call and call.path in {"pytest.importorskip", "importorskip"}:
                return Fate(Running.SOMETIMES, written(node))
    return RUNS


def _branches(statement: SgNode, known: Known, depth: int) -> Fate:
    found: list[Fate] = []
    branches = [statement, *statement.field_children("alternative")]
    for branch in branches:
        condition = branch.field("condition")
        inside = fate_of_body(parts(branch.field("consequence") or branch.field("body")), known, depth=depth + 1)
        held = truth(condition, known) if condition else None
        if held is True:
            return least([*found, inside])
        if held is False:
            continue
        if inside.running is Running.NEVER and condition:
            found.append(Fate(Running.SOMETIMES, f"{written(condition)}: {inside.reason}"))
        elif inside.running is not Running.ALWAYS:
            found.append(Fate(Running.SOMETIMES, inside.reason))
        else:
            found.append(RUNS)
    all_skip = len(found) == len(branches) and branches[-1].kind() == "else_clause"
    if all_skip and all(_skips_outright(branch) for branch in branches):
        return never(found[0].reason)
    return least(found)


def _skips_outright(branch: SgNode) -> bool:
    return any(map(is_skip, parts(branch.field("consequence") or branch.field("body"))))


def fate_of_setup(function: SgNode) -> Fate:
    """What a setup, or a fixture that every test uses, does to the tests around it."""
    if name_of(function) in _SETUPS or is_autouse(function):
        return fate_of_body(body_of(function), {})
    return RUNS


def is_autouse(function: SgNode) -> bool:
    for mark in decorators(function):
        call = call_of(mark)
        used = call.named.get("autouse") if call else None
        if call and call.name == "fixture" and used and used.kind() == "true":
            return True
    return False
