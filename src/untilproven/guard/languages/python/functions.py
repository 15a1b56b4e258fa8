"""What is inside a function that is no test."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.facts import Declaration, Function, Handler
from untilproven.guard.languages.python.answers import answers_in
from untilproven.guard.languages.python.constants import UNKNOWN, truth, value
from untilproven.guard.languages.python.nodes import (
    bare,
    block_of,
    body_of,
    call_of,
    decorators,
    definition,
    dotted,
    errors_of,
    expression,
    is_broad,
    last_name,
    name_of,
    of_kinds,
    parts,
    with_items,
    written,
)
from untilproven.guard.languages.python.stubs import left_open, stub_of
from untilproven.guard.languages.python.tested import asked_in
from untilproven.guard.languages.syntax import Nodes, line_of

_REFUSALS = re.compile(r"\w*(?:Error|BadRequest|Forbidden|Denied|Unauthorized|NotFound|NotAllowed)|abort")
_REFUSES = frozenset({"abort", "error", "fail", "sys.exit", "exit", "die"})
_VALIDATES = re.compile(
    r"_*(?:validate|sanitize|sanitise|verify|check|ensure|authorize|authorise|authenticate|require|escape)(?:_\w+|[A-Z]\w*)?"
)
_CLEANS = re.compile(
    r"_*(?:validate|sanitize|sanitise|escape|verify)(?:_\w+|[A-Z]\w*)?|\w+_(?:validate|sanitize|escape)"
)
_GUARDS = re.compile(r"\w*_required|require_\w+|requires_\w+|validate\w*|permission\w*|authenticated|rate_?limit\w*")
_FOR_TYPES = re.compile(r"[\w.]+ is not None")
"""What is asserted to tell a type checker, not to refuse anything."""
_NEVER = frozenset({"False", "0"})
"""What is asserted where the code is not meant to come to."""
_CAUGHT = re.compile(r"[a-z_]\w*")
"""An error that was raised before, by the name it was given."""
_EQUALS = frozenset({"__eq__", "equals", "is_equal", "equal", "eq", "isequal", "is_same"})
_EMPTY: tuple[object, ...] = ([], (), {}, "", frozenset(), b"")
_SEEN = (
    *("if_statement", "elif_clause", "assert_statement", "raise_statement", "return_statement", "expression_statement"),
    *("except_clause", "finally_clause", "with_statement"),
)


def function(declaration: Declaration) -> Function:
    node = declaration.node
    if node.kind() == "expression_statement":
        return _lambda(node, declaration.name)
    seen = Nodes(lambda: of_kinds(node, *_SEEN))
    return Function(
        guards=_guards(node, seen),
        raises=_raises(seen),
        handlers=_handlers(seen),
        stub=lambda: stub_of(node),
        left_open=lambda: left_open(node),
        answers=answers_in(node),
        asks_if_tested=asked_in(node),
        returns_nothing=lambda: _returns_nothing(node, seen),
        always_equal=lambda: name_of(node) in _EQUALS and _is_yes(node, seen),
    )


def _lambda(node: SgNode, name: str) -> Function:
    given = node.find(kind="lambda")
    body = given.field("body") if given else None
    is_equality = name.rpartition(".")[2] in _EQUALS
    return Function(always_equal=lambda: is_equality and body is not None and truth(body, {}) is True)


def _guards(node: SgNode, seen: Nodes) -> Iterator[str]:
    for mark in decorators(node):
        call = call_of(mark)
        if _GUARDS.fullmatch(last_name(call.function if call else mark)):
            yield f"@{written(mark)}"
    for statement in seen:
        condition = statement.field("condition")
        if condition and _refuses(statement.field("consequence")):
            yield written(bare(condition))
        elif statement.kind() == "assert_statement" and parts(statement):
            asserted = written(bare(parts(statement)[0]))
            if not _FOR_TYPES.fullmatch(asserted) and asserted not in _NEVER:
                yield asserted
        elif statement.kind() == "expression_statement":
            call = call_of(expression(statement))
            if call and _VALIDATES.fullmatch(call.name) and not call.path.startswith("subprocess."):
                yield written(call.node)
            for inner in _cleaned(statement):
                yield written(inner)


def _cleaned(statement: SgNode) -> Iterator[SgNode]:
    """`name = sanitize(name)`."""
    inside = parts(statement)[0] if parts(statement) else None
    given = inside.field("right") if inside and inside.kind() == "assignment" else None
    for found in given.find_all(kind="call") if given else []:
        call = call_of(found)
        if call and _CLEANS.fullmatch(call.name):
            yield found


def _refuses(block: SgNode | None) -> bool:
    """It does nothing but refuse, and perhaps say so."""
    inside = parts(block)
    if not inside or not _is_refusal(inside[-1]):
        return False
    return all(statement.kind() in {"expression_statement", "raise_statement"} for statement in inside[:-1])


def _is_refusal(statement: SgNode) -> bool:
    if statement.kind() == "raise_statement":
        return True
    call = call_of(expression(statement))
    if call:
        return call.path in _REFUSES or call.name in {"abort", "error"}
    if statement.kind() != "return_statement" or not parts(statement):
        return False
    given = parts(statement)[0]
    made = call_of(given)
    if made:
        return _REFUSALS.fullmatch(made.name) is not None
    code = value(parts(given)[-1], {}) if given.kind() in {"tuple", "expression_list"} and parts(given) else UNKNOWN
    return isinstance(code, int) and 400 <= code < 600


def _raises(seen: Nodes) -> Iterator[str]:
    for statement in seen:
        if statement.kind() == "raise_statement":
            for raised in parts(statement)[:1]:
                error = _without_traceback(raised)
                call = call_of(error)
                if call or not _CAUGHT.fullmatch(written(error)):
                    yield dotted(call.function if call else error) or written(error)


def _without_traceback(raised: SgNode) -> SgNode:
    call = call_of(raised)
    return call.receiver if call and call.receiver and call.name == "with_traceback" else raised


def _handlers(seen: Nodes) -> Iterator[Handler]:
    for statement in seen:
        match statement.kind():
            case "except_clause":
                errors = errors_of(statement)
                silent = _is_silent(errors, parts(block_of(statement)))
                yield Handler(written(errors) if errors else "", is_broad(errors), silent, line_of(statement))
            case "finally_clause":
                if any(part.kind() == "return_statement" for part in parts(block_of(statement))):
                    yield Handler("", is_broad=True, is_silent=True, line=line_of(statement))
            case "with_statement":
                for entered, _ in with_items(statement):
                    call = call_of(entered)
                    if call and call.path in {"suppress", "contextlib.suppress"} and call.positional:
                        named = ", ".join(map(written, call.positional))
                        broad = any(map(is_broad, call.positional))
                        yield Handler(named, broad, is_silent=True, line=line_of(entered))


def _is_silent(errors: SgNode | None, done: list[SgNode]) -> bool:
    """Whoever leaves a loop on one certain error has an end for it."""
    leaves = any(statement.kind() == "break_statement" for statement in done)
    return all(map(_is_nothing, done)) and not (leaves and not is_broad(errors))


def _is_nothing(statement: SgNode) -> bool:
    match statement.kind():
        case "pass_statement" | "continue_statement" | "break_statement":
            return True
        case "return_statement":
            return not parts(statement) or parts(statement)[0].kind() == "none"
    inside = expression(statement)
    return inside is not None and inside.kind() in {"ellipsis", "string"}


def _own(node: SgNode, seen: Nodes) -> list[SgNode]:
    """Returns of the function itself, not of those within."""
    inside = definition(node)
    returns = [statement for statement in seen if statement.kind() == "return_statement"]
    return [
        one
        for one in returns
        if next((up for up in one.ancestors() if up.kind() == "function_definition"), inside) == inside
    ]


def _returns_nothing(node: SgNode, seen: Nodes) -> int:
    """A bare `return` only where other returns have a value."""
    given = [parts(statement) for statement in _own(node, seen)]
    has_value = any(one and one[0].kind() != "none" for one in given)
    return sum(has_value if not one else _is_empty(one[0]) for one in given)


def _is_empty(node: SgNode) -> bool:
    found = value(node, {})
    return found is None or any(found == empty and type(found) is type(empty) for empty in _EMPTY)


def _is_yes(node: SgNode, seen: Nodes) -> bool:
    given = [parts(statement) for statement in _own(node, seen)]
    if not given or any(statement.kind() == "raise_statement" for statement in seen):
        return False
    return len(body_of(node)) <= 2 and all(bool(one) and truth(one[0], {}) is True for one in given)
