"""Assertions without an assertion library: requests that check their answer, helpers, queries, waits."""

import re

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.javascript.matchers import SEEN
from untilproven.guard.languages.javascript.nodes import FUNCTIONS, Link, written
from untilproven.guard.languages.javascript.scope import Scope

_HELPER = re.compile(
    r"(?:^|[a-z0-9_$])(?:[aA]ssert|[cC]heck|[vV]erify|[eE]xpect)(?:s|ed|ion|ions)?(?:[A-Z_0-9]|$)"
    r"|^(?:assert|check|verify|expect)"
)
_QUERY = re.compile(r"(?:get|find)(?:All)?By[A-Z]\w*")
_WAIT = re.compile(r"waitFor[A-Z]\w*|waitUntil")
_ACTIONS = frozenset({"check", "uncheck"})


def answered(links: list[Link]) -> list[Assertion]:
    """supertest: `.expect(200)`, `.expect("Content-Type", /json/)`, `.expect(response => ...)`."""
    asked = [link for link in links[1:] if link.name == "expect" and link.args]
    if not asked:
        return []
    callee = asked[0].node.field("function")
    sent = callee.field("object") if callee is not None else None
    about = written(sent if sent is not None else asked[0].node)
    return [_answer(about, link) for link in asked]


def _answer(about: str, link: Link) -> Assertion:
    args = list(link.args or ())
    is_called = len(args) > 1 and args[-1].kind() in {"identifier", *FUNCTIONS}
    if is_called or [one.text() for one in args] == ["done"]:
        args.pop()
    text = f".expect({', '.join(written(argument) for argument in args)})"
    line = link.node.range().end.line + 1
    if not args or args[0].kind() in FUNCTIONS or args[0].kind() in {"identifier", "call_expression"}:
        return Assertion(text, about, Strength.PARTLY, line)
    if len(args) > 1 and args[0].kind() == "string":
        about = f"{about}[{written(args[0])}]"
        args = args[1:]
    strength = Strength.PARTLY if args[0].kind() == "regex" else Strength.EXACTLY
    return Assertion(text, about, strength, line, expected=", ".join(written(one) for one in args))


def implied(links: list[Link], whole: SgNode, scope: Scope) -> tuple[Strength, str] | None:
    """What a statement that fails by itself is worth, and what it is about; None if it is none."""
    calls = [link for link in links if link.args is not None]
    if not calls:
        return None
    last = calls[-1]
    is_query = last is links[-1] and links[0].name != "page" and _QUERY.fullmatch(last.name)
    if is_query or (links[0].name == "cy" and last.name == "contains"):
        text = written(whole)
        return Strength.EXACTLY if SEEN.fullmatch(text) else Strength.SOMETHING, text
    if (last.name in _ACTIONS and len(links) > 1) or links[0].name in scope.own:
        return None
    if calls[0].name in scope.helpers or any(_HELPER.search(link.name) for link in calls):
        return Strength.PARTLY, written(last.args[0] if last.args else whole)
    return None


def is_wait(links: list[Link]) -> bool:
    """Whether it ends only when something has happened."""
    return links[-1].args is not None and bool(_WAIT.fullmatch(links[-1].name)) and "Timeout" not in links[-1].name
