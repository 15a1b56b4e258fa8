"""What is done with an error that was caught."""

import re

import msgspec
from ast_grep_py import SgNode

from untilproven.guard.facts import Handler
from untilproven.guard.languages.java import words
from untilproven.guard.languages.java.syntax import COMMENTS, code_in, flat, statements, unwrapped
from untilproven.guard.languages.syntax import line_of

_NOTHING = re.compile(r"return|return@\w+|return@?\w* ?null|break|continue|continue@\w+|null|Unit|;|return@?\w* ?Unit")
_REPORTS = re.compile(
    r"(?:.*\.)?(?:print\w*|printStackTrace|log\w*|debug|info|warn|warning|error|trace|fine\w*|severe)\(.*\)", re.DOTALL
)


class Caught(msgspec.Struct, frozen=True, eq=False):
    node: SgNode
    errors: str
    names: tuple[str, ...]
    """Of the types, without their packages."""
    variable: str
    body: tuple[SgNode, ...]


def handler_of(node: SgNode) -> Caught:
    """Of a `catch`."""
    if node.kind() == "catch_clause":
        parameter = next((child for child in code_in(node) if child.kind() == "catch_formal_parameter"), None)
        types = [child for child in code_in(parameter) if child.kind() == "catch_type"] if parameter else []
        named = parameter.field("name") if parameter else None
        block = node.field("body")
        body = statements(block) if block else []
    else:
        parts = code_in(node)
        types = [child for child in parts if child.kind() in {"user_type", "nullable_type"}]
        named = next((child for child in parts if child.kind() == "simple_identifier"), None)
        body = [one for child in parts if child.kind() == "statements" for one in statements(child)]
    errors = flat(types[0]) if types else ""
    names = tuple(one.strip().rpartition(".")[2] for one in errors.split("|"))
    return Caught(node, errors, names, named.text() if named else "", tuple(body))


def does_nothing(caught: Caught) -> bool:
    return all(_NOTHING.fullmatch(flat(one).rstrip(";") or ";") for one in caught.body if one.kind() not in COMMENTS)


def swallows(caught: Caught, *, expects: bool = False) -> bool:
    """Whether a failed assertion inside goes unseen. An `Exception` that is swallowed hides what stands behind the
    call that threw it, unless that is what the test `expects`."""
    hides = words.CATCHES_FAIL if expects else words.CATCHES_ASSERTIONS
    if hides.isdisjoint(caught.names):
        return False
    return all(says_only(one) for one in caught.body)


def says_only(statement: SgNode) -> bool:
    """It does nothing, but perhaps tells somebody."""
    text = flat(statement).rstrip(";")
    return bool(_NOTHING.fullmatch(text or ";") or _REPORTS.fullmatch(flat(unwrapped(statement))))


def as_fact(caught: Caught) -> Handler:
    return Handler(
        errors=caught.errors,
        is_broad=not words.BROAD.isdisjoint(caught.names) or not caught.errors,
        is_silent=does_nothing(caught),
        line=line_of(caught.node),
    )
