"""Calls that declare a test or a group of tests, in whichever dialect: `it`, `test.each(...)`, `xdescribe`."""

import re
from functools import lru_cache
from typing import NamedTuple

import msgspec
from ast_grep_py import Rule, SgNode, SgRoot

from untilproven.guard.languages.javascript.nodes import (
    FUNCTIONS,
    Link,
    arguments,
    bare,
    chain,
    head,
    string_of,
    truth,
    written,
)

_SUITES = frozenset({"describe", "context", "suite", "xdescribe", "fdescribe", "xcontext", "fcontext", "ddescribe"})
_TESTS = frozenset({"it", "test", "specify", "xit", "fit", "xtest", "xspecify", "fspecify", "iit", "ftest"})
_RUNNERS = frozenset({"QUnit", "Deno", "tap", "t", "bun"})
_OWN = _SUITES | _TESTS
_FANCY = re.compile(
    r"(?:[xf]?(?P<s>describe|context|suite)|[xf]?(?:it|test|specify))[A-Z_$]\w*|\w+(?:(?P<z>Describe|Suite)|It|Test|_it|_test)"
)
_MAY_ALIAS = re.compile(r"=[^;=\n]*\b(?:it|test|describe)\b(?:\.\w+)?\s*(?:[:;\n]|$)")
"""Where it is worth looking closer."""
_WORDS = frozenset(
    {"only", "skip", "each", "for", "concurrent", "sequential", "todo", "fails", "failing", "skipIf", "runIf", "serial"}
    | {
        "parallel",
        "describe",
        "fixme",
        "fail",
        "slow",
        "if",
        "cb",
        "shuffle",
        "extend",
        "module",
        "test",
        "it",
        "sequence",
    }
    | {"expectFailure", "ignore", "override", "scoped", "suite"}
)
_MAKING = frozenset({"extend", "override", "scoped", "each", "for", "skipIf", "runIf", "if"})
"""Those that give back what declares a test."""
_LETTER = "[A-Za-z0-9_$]"  # a rule is compiled for every file, and `\w` of all scripts takes ten times as long
_CALLEE = (
    rf"^(?:{_LETTER}+[?]?[.])?{_LETTER}*?(?:[iI]t|[tT]est|[dD]escribe|[cC]ontext|[sS]pecify|[sS]uite|module)"
    rf"(?:[A-Z_$]{_LETTER}*)?(?:[^A-Za-z0-9_$]|$)|^[(](?:[^()]|[(][^()]*[)])*[?]"
)
CANDIDATES: Rule = {"kind": "call_expression", "has": {"field": "function", "regex": _CALLEE}}
"""The rule that finds calls which may be one."""


class Choice(NamedTuple):
    """`(condition ? it.skip : it)`."""

    condition: SgNode
    skips_if: bool | None
    """Which outcome skips; None if neither does, or both."""


class Opening(msgspec.Struct, frozen=True, eq=False):
    node: SgNode
    start: int
    end: int
    is_suite: bool
    name: str
    links: tuple[Link, ...]
    options: SgNode | None
    function: SgNode | None
    """What is run; None if it is none, or written elsewhere."""
    is_pending: bool
    """Nothing to run was given."""
    choice: "Choice | None" = None

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(link.name for link in self.links)

    @property
    def is_focused(self) -> bool:
        if "only" in self.words or self.words[0] in {"fit", "fdescribe", "fcontext", "fspecify", "iit", "ddescribe"}:
            return True
        return (only := self.option("only")) is not None and truth(only) is True

    def option(self, name: str) -> SgNode | None:
        return value_at(self.options, name)

    def holds(self, other: "Opening | None") -> bool:
        return other is not None and self.start <= other.start and other.end <= self.end


def value_at(object_: SgNode | None, name: str) -> SgNode | None:
    """The value of a key of an object as written."""
    for pair in object_.named_children() if object_ else ():
        key = pair.field("key")
        if pair.kind() == "pair" and key is not None and key.text().strip("'\"") == name:
            return pair.field("value")
    return None


def opening(call: SgNode, steps: list[Link] | None = None) -> Opening | None:
    """None if the call declares nothing; `steps` is its chain, if that is known."""
    links = steps or chain(call)
    if not links or links[-1].args is None:
        return None
    args = links[-1].args
    choice = None
    start = head(links)
    if start.kind() == "identifier":
        start = aliases(call.get_root()).get(start.text(), start)
    if start.kind() in {"ternary_expression", "member_expression"}:
        choice, chosen = _chosen(start)
        links = [*chosen, *([links[0]._replace(name="")] if links[0].args is not None else []), *links[1:]]
    base = _base(links)
    if base is None:
        return None
    is_suite, links, is_exact = base
    given = _given(args, call, is_exact=is_exact, is_bare=len(links) == 1)
    if given is None:
        return None
    name, options, function, is_pending = given
    range_ = call.range()
    return Opening(
        call, range_.start.index, range_.end.index, is_suite, name, tuple(links), options, function, is_pending, choice
    )


def _chosen(word: SgNode) -> tuple[Choice | None, list[Link]]:
    """Of two words for a test, the one that runs it; of one, that."""
    if word.kind() != "ternary_expression":
        return None, chain(word)
    condition = word.field("condition")
    branches = [chain(branch) for side in ("consequence", "alternative") if (branch := word.field(side))]
    if condition is None or len(branches) != len(("yes", "no")):
        return None, []
    skips = [any(link.name == "skip" or link.name.startswith("x") for link in branch) for branch in branches]
    skips_if = None if skips[0] == skips[1] else skips[0]
    return Choice(condition, skips_if), branches[skips[0]]


@lru_cache(maxsize=64)
def aliases(root: SgRoot) -> dict[str, SgNode]:
    """Other names of a file for `it` and its like: `const maybe = online ? it : it.skip`."""
    top = root.root()
    if not _MAY_ALIAS.search(top.text()):
        return {}
    found = {}
    for binding in top.find_all(kind="variable_declarator"):
        name, value = binding.field("name"), binding.field("value")
        value = bare(value) if value is not None else None
        if name is None or value is None or value.kind() not in {"ternary_expression", "member_expression"}:
            continue
        links = _chosen(value)[1]
        if links and links[0].name in _OWN and all(link.args is None for link in links):
            found[name.text()] = value
    return found


def _base(links: list[Link]) -> tuple[bool, list[Link], bool] | None:
    """Whether it is a suite, the links from the runner's word on, and whether that word is the runner's own."""
    names = [link.name for link in links]
    at = 0
    if names[0] not in _OWN and len(names) > 1 and (names[1] in _OWN or names[1] == "module") and links[0].args is None:
        if names[1] == "module" and names[0] != "QUnit":
            return None
        at = 1
    word, rest = names[at], names[at + 1 :]
    if any(name and name not in _WORDS for name in rest) or (rest and rest[-1] in _MAKING):
        return None
    if word in _OWN or word == "module":
        return word in _SUITES or word == "module" or "describe" in rest, links[at:], at == 0 or names[0] in _RUNNERS
    if at == 0 and (found := _FANCY.fullmatch(word)):
        return bool(found["s"] or found["z"] or "describe" in rest), links, False
    return None


def _given(
    args: tuple[SgNode, ...], call: SgNode, *, is_exact: bool, is_bare: bool
) -> tuple[str, SgNode | None, SgNode | None, bool] | None:
    """The name, the options, the function and whether there is none."""
    if not args:
        return None
    title = string_of(args[0])
    functions = [argument for argument in args if argument.kind() in FUNCTIONS]
    options = next((argument for argument in args[1:] if argument.kind() == "object"), None)
    if functions:
        if functions[0] is args[0] or functions[0] == args[0]:
            above = call.parent()
            is_alone = above is not None and above.kind() == "expression_statement" and len(args) == 1
            return ("", None, args[0], False) if is_exact and is_bare and is_alone else None
        if not is_exact and (title is None or not _is_statement(call)):
            return None
        return title if title is not None else written(args[0]), options, functions[-1], False
    if title is None or not is_exact or not _is_statement(call):
        return None
    others = [argument for argument in args[1:] if argument is not options and argument.kind() != "number"]
    if not others:
        return title, options, None, True
    wrapped = next(
        (
            one
            for other in others
            if bare(other).kind() == "call_expression"
            for one in arguments(bare(other))
            if one.kind() in FUNCTIONS
        ),
        None,
    )
    return title, options, wrapped, False


def _is_statement(call: SgNode) -> bool:
    parent = call.parent()
    while parent is not None and parent.kind() in {"await_expression", "unary_expression", "parenthesized_expression"}:
        parent = parent.parent()
    return parent is not None and parent.kind() in {
        *("expression_statement", "return_statement", "arrow_function", "binary_expression", "ternary_expression"),
        *("variable_declarator", "ERROR"),
    }
