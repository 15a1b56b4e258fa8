"""What the names in a test are known to be."""

import re
from functools import lru_cache

import msgspec
from ast_grep_py import Config, SgNode, SgRoot

from untilproven.guard.languages.javascript.naming import name_of
from untilproven.guard.languages.javascript.nodes import (
    FUNCTIONS,
    Link,
    arguments,
    bare,
    chain,
    is_constant,
    parameters,
    statements,
    string_of,
    written,
)
from untilproven.guard.languages.javascript.openings import Opening
from untilproven.guard.languages.javascript.survey import survey

_ANSWERING = (
    "^(?:mockReturnValue|mockResolvedValue|mockReturnValueOnce|mockResolvedValueOnce|returns|resolves|fn|fake)$"
)
_RULE: Config = {
    "rule": {
        "any": [
            {"kind": "variable_declarator"},
            {
                "kind": "call_expression",
                "has": {"field": "function", "has": {"field": "property", "regex": _ANSWERING}},
            },
        ]
    }
}
_ASSERTING = re.compile(r"\b(?:expect|assert|should|fail)\b|\bassert[A-Z]|\bt\.\w+\(")
_WRAPPING: Config = {
    "rule": {
        "kind": "variable_declarator",
        "all": [
            {"has": {"field": "name", "kind": "identifier"}},
            {"has": {"field": "value", "kind": "call_expression"}},
        ],
    }
}
_MAKERS = re.compile(r"(?:jest|vi|sinon|sandbox|mock|t\.mock|td)\.")


class Scope(msgspec.Struct, frozen=True):
    givers: frozenset[str]
    """Those that a runner gives to it, with methods that assert."""
    fixed: frozenset[str]
    """Those bound to a literal."""
    rigged: dict[str, frozenset[str]]
    """Functions that were replaced, and what they were told to answer."""
    helpers: frozenset[str]
    """Functions of the file that assert something."""
    own: frozenset[str]
    """Functions declared in the test, which are looked into."""


def scope_of(test: Opening, function: SgNode) -> Scope:
    fixed: set[str] = set()
    rigged: dict[str, frozenset[str]] = {}
    for start, name, answer in _certain(test.node.get_root()):
        if not test.start <= start <= test.end:
            continue
        if answer is None:
            fixed.add(name)
        else:
            rigged[name] = rigged.get(name, frozenset()) | {answer}
    givers = {"t", *parameters(function)[:1]}
    givers |= {name for name, source in _wrapped(test.node.get_root()) if source in givers}
    own = frozenset(name for start, name in _functions(test.node.get_root()) if test.start <= start <= test.end)
    return Scope(frozenset(givers), frozenset(fixed), rigged, _helpers(test.node.get_root()), own)


@lru_cache(maxsize=16)
def _wrapped(root: SgRoot) -> tuple[tuple[str, str], ...]:
    """Names bound to what a call makes of another name: `const plan = tspl(t, { plan: 1 })`."""
    found = []
    for binding in root.root().find_all(_WRAPPING):
        name, value = binding.field("name"), binding.field("value")
        args = arguments(value) if value is not None else ()
        if name is not None and args and args[0].kind() == "identifier":
            found.append((name.text(), args[0].text()))
    return tuple(found)


@lru_cache(maxsize=16)
def _functions(root: SgRoot) -> tuple[tuple[int, str], ...]:
    """Where each function of the file begins, and its name."""
    return tuple(
        (function.range().start.index, name)
        for function in survey(root.root()).functions
        if (name := name_of(function)) is not None
    )


@lru_cache(maxsize=16)
def _helpers(root: SgRoot) -> frozenset[str]:
    """Those in a test are looked into where they stand."""
    everything = survey(root.root())
    return frozenset(
        name.rpartition(".")[2]
        for function in everything.functions
        if (name := name_of(function)) is not None
        and _ASSERTING.search(function.text())
        and all(one.is_suite for one in everything.around(function))
    )


@lru_cache(maxsize=16)
def _certain(root: SgRoot) -> tuple[tuple[int, str, str | None], ...]:
    """Of a file: where, the name, and the answer if it is a function that was told one."""
    found: list[tuple[int, str, str | None]] = []
    for node in root.root().find_all(_RULE):
        start = node.range().start.index
        if node.kind() == "variable_declarator":
            if (name := _fixed(node)) is not None:
                found.append((start, name, None))
        elif (told := _told(node)) is not None:
            found.append((start, *told))
    return tuple(found)


def _fixed(binding: SgNode) -> str | None:
    """The name that is bound to a literal, once and for all."""
    name, value, above = binding.field("name"), binding.field("value"), binding.parent()
    if name is None or value is None or above is None or name.kind() != "identifier":
        return None
    is_fixed = bare(value).kind() not in {"array", "object"} and is_constant(value) and above.text().startswith("const")
    return name.text() if is_fixed else None


def _told(call: SgNode) -> tuple[str, str] | None:
    """The function that is replaced, and its answer."""
    links = chain(call)
    last = links[-1]
    if not last.args:
        return None
    answer = bare(last.args[0])
    if last.name in {"fn", "fake"}:
        if answer.kind() not in FUNCTIONS or not _MAKERS.match(last.node.text()):
            return None
        inside = statements(answer.field("body"))
        returned = inside[0] if len(inside) == 1 else None
        if returned is not None and returned.kind() == "return_statement":
            returned = next(iter(returned.named_children()), None)
        if returned is None:
            return None
        answer = bare(returned)
    if not is_constant(answer):
        return None
    name = _name(links, call)
    return (name, written(answer)) if name else None


def _name(links: list[Link], call: SgNode) -> str | None:
    for at, link in enumerate(links):
        if link.name in {"spyOn", "stub", "method"} and link.args and len(link.args) > 1:
            member = string_of(link.args[1])
            return f"{written(link.args[0])}.{member}" if member else None
        if link.name in {"fn", "stub", "fake"} and at <= len(("t", "mock")):
            above = call.parent()
            name = above.field("name") if above is not None and above.kind() == "variable_declarator" else None
            return name.text() if name else None
    below = links[-2].node if len(links) > 1 else None
    return written(below) if below is not None and below.kind() in {"identifier", "member_expression"} else None
