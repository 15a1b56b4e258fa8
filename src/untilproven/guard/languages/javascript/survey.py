"""A file looked through once, for everything that is asked of it later."""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec
from ast_grep_py import Config, Rule, SgNode, SgRoot

from untilproven.guard.languages.javascript.nodes import FUNCTIONS
from untilproven.guard.languages.javascript.openings import CANDIDATES, Opening, aliases, opening

FILES = 64
"""So many are remembered: both versions of what one change touches, usually."""

_REPLACING = (
    "mock|doMock|unstable_mockModule|spyOn|replaceProperty|stubGlobal|stubEnv|stub|replace|method|module|intercept"
)
_SETTING = "timeout|retries|retryTimes|setTimeout|setConfig|configure"
_ENDING = "exit|abort|reallyExit|kill|extend|defineProperty|on|once"
_CALLS: Rule = {
    "kind": "call_expression",
    "has": {
        "field": "function",
        "kind": "member_expression",
        "has": {"field": "property", "regex": f"^(?:{_REPLACING}|{_SETTING}|{_ENDING})$"},
    },
}
_NAMED_CALLS: Rule = {
    "kind": "call_expression",
    "has": {
        "field": "function",
        "kind": "identifier",
        "regex": "^(?:spyOn|proxyquire|nock)$",
    },
}
_VARIABLES: Rule = {
    "kind": "member_expression",
    "regex": "^(?:process|import[.]meta|Deno)[.]env[.][A-Z_]+$|^import[.]meta[.]vitest$|^window[.]Cypress$",
}
_NAMES: Rule = {"kind": "string", "regex": "^['\"](?:test|testing|vitest|jest|mocha)['\"]$"}
_TYPES: Rule = {
    "kind": "unary_expression",
    "regex": "^typeof (?:jest|vi|describe|it|test|expect|mocha|jasmine|Cypress|cy)$",
}
_BINDINGS: Rule = {
    "kind": "variable_declarator",
    "has": {"field": "value", "any": [{"kind": "true"}, {"kind": "false"}, {"kind": "object"}, {"kind": "array"}]},
}
_ASSIGNMENTS: Rule = {"kind": "assignment_expression", "has": {"field": "left", "kind": "member_expression"}}
_FUNCTIONS: list[Rule] = [{"kind": kind} for kind in sorted(FUNCTIONS)]
_ASKING: list[Rule] = [_VARIABLES, _NAMES, _TYPES]
_RULE: Config = {
    "rule": {
        "any": [
            *_FUNCTIONS,
            {"kind": "comment"},
            CANDIDATES,
            _CALLS,
            _NAMED_CALLS,
            *_ASKING,
            _BINDINGS,
            _ASSIGNMENTS,
        ]
    }
}


class Survey(msgspec.Struct, frozen=True, eq=False):
    openings: tuple[Opening, ...]
    functions: tuple[SgNode, ...]
    calls: tuple[SgNode, ...]
    """Of what replaces something, sets limits, ends the process, or takes hold of the run."""
    comments: tuple[SgNode, ...]
    asking: tuple[SgNode, ...]
    """What may be about being tested."""
    bindings: tuple[SgNode, ...]
    """Of a name to true, false, an array or an object."""
    assignments: tuple[SgNode, ...]
    """To a property."""
    focused: tuple[Opening, ...]

    def around(self, node: SgNode) -> tuple[Opening, ...]:
        """The openings that a node stands in, the outermost first; not itself."""
        range_ = node.range()
        start, end = range_.start.index, range_.end.index
        return tuple(
            one
            for one in self.openings
            if one.start <= start and end <= one.end and (one.start, one.end) != (start, end)
        )


def survey(node: SgNode) -> Survey:
    """Of the file that a node stands in."""
    return _survey(node.get_root())


@lru_cache(maxsize=FILES)
def _survey(root: SgRoot) -> Survey:
    openings: list[Opening] = []
    functions: list[SgNode] = []
    calls: list[SgNode] = []
    comments: list[SgNode] = []
    asking: list[SgNode] = []
    bindings: list[SgNode] = []
    assignments: list[SgNode] = []
    for node in root.root().find_all(_RULE):
        kind = node.kind()
        if kind == "call_expression":
            if (found := opening(node)) is not None:
                openings.append(found)
            else:
                calls.append(node)
        elif kind in FUNCTIONS:
            functions.append(node)
        elif kind == "comment":
            comments.append(node)
        elif kind == "variable_declarator":
            bindings.append(node)
        elif kind == "assignment_expression":
            assignments.append(node)
        else:
            asking.append(node)
    openings.extend(_by_other_names(root, {one.start for one in openings}))
    openings.sort(key=lambda one: (one.start, -one.end))
    return Survey(
        openings=tuple(openings),
        functions=tuple(functions),
        calls=tuple(calls),
        comments=tuple(comments),
        asking=tuple(asking),
        bindings=tuple(bindings),
        assignments=tuple(assignments),
        focused=tuple(one for one in openings if one.is_focused),
    )


def _by_other_names(root: SgRoot, known: set[int]) -> Iterator[Opening]:
    """Tests declared by a name that the file gives to `it`."""
    names = "|".join(re.escape(name) for name in aliases(root))
    if not names:
        return
    rule: Rule = {"kind": "call_expression", "has": {"field": "function", "regex": f"^(?:{names})(?:[^A-Za-z0-9_$]|$)"}}
    for call in root.root().find_all({"rule": rule}):
        found = opening(call)
        if found is not None and found.start not in known:
            yield found


def is_at_top(node: SgNode) -> bool:
    """Whether a binding or a statement stands in no function and no block."""
    for above in node.ancestors():
        if above.kind() in {"program", "export_statement"}:
            return True
        if above.kind() not in {"lexical_declaration", "variable_declaration", "expression_statement"}:
            return False
    return False


@lru_cache(maxsize=FILES)
def _certain(root: SgRoot) -> dict[str, bool]:
    known: dict[str, bool] = {}
    for binding in _survey(root).bindings:
        name, value, above = binding.field("name"), binding.field("value"), binding.parent()
        if not name or not value or value.kind() not in {"true", "false"}:
            continue
        if above and above.text().startswith("const") and is_at_top(binding):
            known[name.text()] = value.kind() == "true"
    return known


def certain(node: SgNode) -> dict[str, bool]:
    """Constants of the file that are true or false, whatever happens."""
    return _certain(node.get_root())


@lru_cache(maxsize=FILES)
def _tables(root: SgRoot) -> dict[str, SgNode]:
    found: dict[str, SgNode] = {}
    twice: set[str] = set()
    for binding in _survey(root).bindings:
        name, value = binding.field("name"), binding.field("value")
        if name and value and value.kind() in {"array", "object"}:
            if name.text() in found:
                twice.add(name.text())
            found[name.text()] = value
    return {name: value for name, value in found.items() if name not in twice}


def tables(node: SgNode) -> dict[str, SgNode]:
    """Names of the file that are bound, once, to an array or an object as written."""
    return _tables(node.get_root())


@lru_cache(maxsize=256)
def uncalled(function: SgNode) -> str | None:
    """The name of a function that nothing in the file, and nothing elsewhere, can call; None for any other."""
    holder = function.parent()
    named = function if function.kind().endswith("declaration") else holder
    if named is None or named.kind() not in {"function_declaration", "variable_declarator"}:
        return None
    name = named.field("name")
    if name is None or name.kind() != "identifier":
        return None
    if any(above.kind() == "export_statement" for above in named.ancestors()):
        return None
    kinds: list[Rule] = [{"kind": "identifier"}, {"kind": "shorthand_property_identifier"}]
    said = function.get_root().root().find_all({"rule": {"any": kinds, "regex": f"^{re.escape(name.text())}$"}})
    return name.text() if len(said) == 1 else None
