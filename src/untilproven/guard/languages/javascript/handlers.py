"""What becomes of an error that is caught."""

import re

from ast_grep_py import SgNode

from untilproven.guard.facts import Handler
from untilproven.guard.languages.javascript.nodes import (
    FUNCTIONS,
    Link,
    bare,
    chain,
    expression_of,
    statements,
    walk,
    written,
)

_NOTHING = frozenset({"", "null", "undefined", "void 0", "{}"})
_NARROWING = re.compile(
    r"(?:instanceof\s+(?P<type>[\w$.]+))|(?:\.(?:code|name|status|errno)\s*[!=]==?\s*(?P<code>['\"][\w]+['\"]|\d+))"
)
_DOING_NOTHING = re.compile(r"(?:\w+\.)*(?:noop|no_op|nothing)")


def handler_of(clause: SgNode) -> Handler:
    """Of `catch`."""
    body, name = clause.field("body"), clause.field("parameter")
    errors = ""
    inside = statements(body)
    if name is not None and inside and inside[0].kind() == "if_statement":
        condition = inside[0].field("condition")
        found = _NARROWING.search(condition.text()) if condition is not None else None
        rethrows = any(node.kind() == "throw_statement" for node in walk(clause))
        if found and rethrows:
            errors = (found["type"] or found["code"] or "").strip("'\"")
    leaves = any(one.kind() == "return_statement" for one in inside[-1:]) if _is_followed(clause) else None
    line = clause.range().start.line + 1
    return Handler(errors, is_broad=not errors, is_silent=_is_silent(inside), line=line, leaves=leaves)


def _is_followed(clause: SgNode) -> bool:
    """Whether something is done behind the `try`."""
    following = [] if (whole := clause.parent()) is None else whole.next_all()
    return any(one.is_named() and one.kind() != "comment" for one in following)


def silenced(link: Link) -> Handler | None:
    """Of `.catch(...)`, `.then(..., ...)` and `.on("error", ...)`; None for any other call."""
    handler = _given(link)
    if handler is None:
        return None
    return Handler("", is_broad=True, is_silent=_does_nothing(handler), line=link.node.range().end.line + 1)


def _given(link: Link) -> SgNode | None:
    match link.name, link.args:
        case "catch", (handler,):
            return handler
        case "then", (_, handler):
            return handler
        case "on" | "once", (event, handler) if event.text().strip("'\"") == "error":
            return handler
    return None


def is_swallowing(link: Link) -> bool:
    """Whether an error of what comes before it goes no further, and nobody looks at it."""
    args = link.args or ()
    if link.name != "catch" or len(args) != 1:
        return False
    return _does_nothing(args[0]) or (args[0].kind() in FUNCTIONS and _only_logs(args[0].field("body")))


def swallows(clause: SgNode) -> bool:
    """The same of `catch`."""
    return _only_logs(clause.field("body"))


def _only_logs(body: SgNode | None) -> bool:
    for statement in statements(body):
        said = expression_of(statement)
        if said is None:
            if statement.kind() != "return_statement" and statement.kind() != "empty_statement":
                return False
            continue
        if written(said) in _NOTHING:
            continue
        if statement.kind() == "return_statement" or bare(said).kind() != "call_expression":
            return False
        if chain(said)[0].name not in {"console", "logger", "log"}:
            return False
    return True


def _is_silent(inside: list[SgNode]) -> bool:
    for statement in inside:
        if statement.kind() == "empty_statement":
            continue
        if statement.kind() != "return_statement":
            return False
        said = expression_of(statement)
        if said is not None and (said.kind() == "object" or written(said) not in _NOTHING):
            return False
    return True


def _does_nothing(handler: SgNode) -> bool:
    if handler.kind() in {"identifier", "member_expression"}:
        return bool(_DOING_NOTHING.fullmatch(handler.text()))
    if handler.kind() not in FUNCTIONS:
        return False
    body = handler.field("body")
    if body is not None and body.kind() != "statement_block":
        return written(bare(body)) in _NOTHING - {"{}"}
    return _is_silent(statements(body))
