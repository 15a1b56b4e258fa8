"""What the names in a test are known to be."""

import re
from collections.abc import Iterator
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
from untilproven.guard.languages.javascript.survey import FILES, survey

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
    flags: frozenset[str]
    """Those that are false at first, and true once something has happened."""


def scope_of(test: Opening, function: SgNode) -> Scope:
    fixed: set[str] = set()
    rigged: dict[str, frozenset[str]] = {}
    for start, name, answer in _names(test.node.get_root()).certain:
        if not test.start <= start <= test.end:
            continue
        if answer is None:
            fixed.add(name)
        else:
            rigged[name] = rigged.get(name, frozenset()) | {answer}
    names = _names(test.node.get_root())
    givers = {"t", *parameters(function)[:1]}
    givers |= {name for name, source in names.wrapped if source in givers}
    own = frozenset(name for start, name in names.functions if test.start <= start <= test.end)
    flags = frozenset(
        name
        for start, name in names.unset
        if test.start <= start <= test.end and re.search(rf"(?<![\w.$]){re.escape(name)}\s*=\s*true\b", function.text())
    )
    return Scope(frozenset(givers), frozenset(fixed), rigged, names.helpers, own, flags)


def scope_beside(function: SgNode) -> Scope:
    """Of a function that is no test: nothing is known of what it is given."""
    nothing = frozenset[str]()
    givers = frozenset({"t", *parameters(function)[:1]})
    return Scope(givers, nothing, {}, _names(function.get_root()).helpers, nothing, nothing)


class _Names(msgspec.Struct, frozen=True, eq=False):
    """Of a file."""

    certain: tuple[tuple[int, str, str | None], ...]
    """Where, the name, and the answer if it is a function that was told one; else it is bound to a literal."""
    unset: tuple[tuple[int, str], ...]
    """Names that are false at first: where, and the name."""
    wrapped: tuple[tuple[str, str], ...]
    """Names bound to what a call makes of another name: `const plan = tspl(t, { plan: 1 })`."""
    functions: tuple[tuple[int, str], ...]
    """In tests: where, and the name."""
    helpers: frozenset[str]


@lru_cache(maxsize=FILES)
def _names(root: SgRoot) -> _Names:
    certain: list[tuple[int, str, str | None]] = []
    unset: list[tuple[int, str]] = []
    wrapped: list[tuple[str, str]] = []
    for node in root.root().find_all(_RULE):
        start = node.range().start.index
        if node.kind() != "variable_declarator":
            certain.extend((start, name, answer) for name, answer in _told(node))
            continue
        name, value = node.field("name"), node.field("value")
        if name is None or value is None or name.kind() != "identifier":
            continue
        if value.kind() == "call_expression":
            wrapped.extend(
                (name.text(), given.text()) for given in arguments(value)[:1] if given.kind() == "identifier"
            )
        elif _is_fixed(node, value):
            certain.append((start, name.text(), None))
        elif value.kind() == "false":
            unset.append((start, name.text()))
    inner, helpers = _functions(root)
    return _Names(tuple(certain), tuple(unset), tuple(wrapped), inner, helpers)


def _functions(root: SgRoot) -> tuple[tuple[tuple[int, str], ...], frozenset[str]]:
    """Those in tests, which are looked into where they stand, and the names of others that assert something."""
    everything = survey(root.root())
    tests = [(one.start, one.end) for one in everything.openings if not one.is_suite]
    inner: list[tuple[int, str]] = []
    helpers: set[str] = set()
    at = 0
    for function in everything.functions:
        start = function.range().start.index
        while at < len(tests) and tests[at][1] < start:
            at += 1
        name = name_of(function)
        if name is None:
            continue
        if at < len(tests) and tests[at][0] <= start:
            inner.append((start, name))
        elif _ASSERTING.search(function.text()):
            helpers.add(name.rpartition(".")[2])
    return tuple(inner), frozenset(helpers)


def _is_fixed(binding: SgNode, value: SgNode) -> bool:
    """Whether a name is bound to a literal, once and for all."""
    above = binding.parent()
    if above is None or bare(value).kind() in {"array", "object"} or not is_constant(value):
        return False
    return above.text().startswith("const")


def _told(call: SgNode) -> Iterator[tuple[str, str]]:
    """The function that is replaced, and its answer."""
    links = chain(call)
    last = links[-1]
    if not last.args:
        return
    answer = bare(last.args[0])
    if last.name in {"fn", "fake"}:
        if answer.kind() not in FUNCTIONS or not _MAKERS.match(last.node.text()):
            return
        inside = statements(answer.field("body"))
        returned = inside[0] if len(inside) == 1 else None
        if returned is not None and returned.kind() == "return_statement":
            returned = next(iter(returned.named_children()), None)
        if returned is None:
            return
        answer = bare(returned)
    if is_constant(answer) and (name := _name(links, call)) is not None:
        yield name, written(answer)


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
