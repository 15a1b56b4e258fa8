"""The assertions of a test in Go, and which of them can be reached."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.golang.claims import arguments, called, claims, equality
from untilproven.guard.languages.golang.libraries import (
    AMBIGUOUS,
    CHECKED,
    EXPECTING,
    TO,
    WORDS,
    expected_of,
    said,
    without_f,
)
from untilproven.guard.languages.golang.statements import SKIPS, constant, is_parting, receiver, statements
from untilproven.guard.languages.syntax import Claim, flat, flat_text

_FAILS = frozenset({"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"})
_TESTING = re.compile(r"(?:^|\.)(?:T|B|F|TB|C|TestingT|TestReporter|GinkgoTInterface)$")
_ASKED = re.compile(r"^(?:assert|require|must|should|is|suite|a|r|s|ts|test|qt|expect)$|(?:Require|Assert)\(\)$")
_HELPER = re.compile(r"^(?:assert|check|verify|expect|require|ensure|must|should)", re.IGNORECASE)
_COMPARES = re.compile(
    r"(?i)(?:expect|assert|check|require|verify|ensure|must)(?:ed)?_?(?:eq|equals?|same)?|eq|equals?"
)
"""Functions of a project's own that are given two values, and named for comparing."""
_PREPARING = re.compile(
    r"(?i)^(?:set|init|new|create|make|mk|start|stop|close|clean|reset|register|prepare|mock|skip|needs?|log|enable"
    r"|disable|write|add|remove|delete|load|seed|install|restore|use|with|cleanup|teardown|open|chdir|parallel)"
)
_ASKER = re.compile(r"(?:assert|require|is|qt|must|should)\.New(?:Relaxed)?\(")
"""What asks in the name of a `*testing.T`."""
_NAMES_OF_T = frozenset({"t", "tb", "T"})


class Found(NamedTuple):
    assertions: tuple[Assertion, ...]
    unreached: int
    parting: SgNode | None
    """The statement that the first of the unreached stands behind."""


class _Names(NamedTuple):
    testing: frozenset[str]
    """Those of a `*testing.T`."""
    fake: frozenset[str]
    """Those of one that nobody looks at."""
    asked: frozenset[str]
    """Those that assertions are methods of."""


def assertions(node: SgNode) -> Found:
    """Of a test, a subtest, or a ginkgo spec."""
    names = _names(node)
    found: list[Assertion] = []
    unreached, parting = 0, None
    spent: set[int] = set()
    stack: list[tuple[SgNode, SgNode | None]] = [(node, None)]
    while stack:
        one, dead = stack.pop()
        kind = one.kind()
        here: list[Assertion] = []
        if kind == "if_statement":
            here = _of_if(one, names, spent)
            unreached += not here and _only_logs(one, names)
        elif kind == "call_expression" and one.range().start.index not in spent:
            here = _of_call(one, names)
            if here and _is_swallowed(one, names):
                dead = dead or one
        if dead is None:
            found += here
        elif here:
            unreached += len(here)
            parting = parting or dead
        stack.extend(reversed(_below(one, dead)))
    return Found(tuple(found), unreached, parting)


def _below(node: SgNode, dead: SgNode | None) -> list[tuple[SgNode, SgNode | None]]:
    """The nodes in it, each with the statement that it can not be reached behind."""
    kind = node.kind()
    if kind == "if_statement" and dead is None and (asked := node.field("condition")) is not None:
        always = constant(asked)
        branches = {False: node.field("consequence"), True: node.field("alternative")}
        never = branches[always] if always is not None else None
        return [(child, node if never is not None and child == never else None) for child in node.named_children()]
    if kind == "assignment_statement" and flat_text(node).startswith("_ = func("):
        return [(child, dead or node) for child in node.named_children()]
    below = []
    for child in node.named_children():
        if dead is not None and child.kind() == "labeled_statement" and node.find(kind="goto_statement") is not None:
            dead = None
        below.append((child, dead))
        if kind == "statement_list" and dead is None and is_parting(child):
            dead = child
    return below


def _names(node: SgNode) -> _Names:
    around = [parent for parent in node.ancestors() if parent.kind() in {"function_declaration", "method_declaration"}]
    whole = around[-1] if around else node
    testing, fake, asked = set(_NAMES_OF_T), set(), set()
    for parameter in whole.find_all(kind="parameter_declaration"):
        kind = parameter.field("type")
        if kind is not None and _TESTING.search(kind.text().lstrip("*")):
            testing |= {name.text() for name in parameter.field_children("name")}
    for made in whole.find_all(kind="short_var_declaration"):
        left, right = made.field("left"), made.field("right")
        if left is None or right is None:
            continue
        value = flat_text(right)
        if value in {"new(testing.T)", "&testing.T{}"}:
            fake.add(left.text())
        elif _ASKER.match(value):
            asked.add(left.text())
    if whole.kind() == "method_declaration" and (own := whole.field("receiver")) is not None:
        asked |= {name.text() for one in own.named_children() for name in one.field_children("name")}
    return _Names(frozenset(testing - fake), frozenset(fake), frozenset(asked))


def _is_t(text: str, names: _Names) -> bool:
    if asker := _ASKER.match(text):
        return text[asker.end() :].removesuffix(")") in names.testing
    return text in names.testing or text.endswith((".T()", ".t", ".tb")) or text == "GinkgoT()"


def _is_swallowed(call: SgNode, names: _Names) -> bool:
    """What it says is told to a `testing.T` that no runner knows."""
    given = arguments(call)
    first = flat_text(given[0]) if given else ""
    return first in {"new(testing.T)", "&testing.T{}"} or first in names.fake or receiver(call) in names.fake


def _fails(call: SgNode, names: _Names) -> bool:
    """It lets the test fail, come what may."""
    if called(call) in _FAILS and _is_t(receiver(call), names):
        return True
    return flat_text(call).startswith(("panic(", "log.Fatal", "Fail(", "AbortSuite("))


def _of_if(node: SgNode, names: _Names, spent: set[int]) -> list[Assertion]:
    """`if got != want { t.Error(...) }`, and what stands in its `else`."""
    condition = node.field("condition")
    if condition is None:
        return []
    made = node.field("initializer")
    text = flat(f"if {made.text() + '; ' if made is not None else ''}{condition.text()}")
    asks_itself = any(_of_call(call, names) for call in condition.find_all(kind="call_expression"))
    found = []
    for branch, passes in ((node.field("consequence"), False), (node.field("alternative"), True)):
        failing = [call for call in _calls_in(branch) if _fails(call, names)]
        spent |= {call.range().start.index for call in failing}
        if failing and not asks_itself:
            found += [
                _looked_up(claim, made).asserted(node, text if passes is False else f"{text} else")
                for claim in claims(condition, passes)
            ]
    return found


def _only_logs(node: SgNode, names: _Names) -> bool:
    """`if got != want { t.Log(...) }`: what is wrong is said, and the test passes. Cleaning up may do so."""
    condition, branch = node.field("condition"), node.field("consequence")
    calls = list(_calls_in(branch))
    if condition is None or node.field("alternative") is not None:
        return False
    if not calls or len(calls) < len(list(statements(branch))):
        return False
    if not re.match(r"!|.*(?:[!=]=|[<>])", flat_text(condition)) or _is_aside(node):
        return False
    return all(called(call) in {"Log", "Logf"} and _is_t(receiver(call), names) for call in calls)


def _is_aside(node: SgNode) -> bool:
    """In a function that is deferred, or handed to somebody who does not run it as a test."""
    within = next((one for one in node.ancestors() if one.kind() in {"func_literal", "function_declaration"}), None)
    above = within.ancestors()[1:2] if within is not None and within.kind() == "func_literal" else []
    kinds = {"defer_statement", "go_statement", "call_expression"}
    return any(one.kind() in kinds and called(one) != "Run" for one in above)


def _calls_in(branch: SgNode | None) -> Iterator[SgNode]:
    """Calls that are statements of the block itself."""
    for statement in statements(branch):
        if statement.kind() == "expression_statement" and statement.named_children():
            call = statement.named_children()[0]
            if call.kind() == "call_expression":
                yield call


def _looked_up(claim: Claim, made: SgNode | None) -> Claim:
    """About the call, where the condition has a name for what it answered."""
    if made is None or made.kind() != "short_var_declaration":
        return claim
    left, right = made.field("left"), made.field("right")
    if left is None or right is None or claim.about not in {name.text() for name in left.named_children()}:
        return claim
    values = right.named_children()
    if len(values) != 1 or claim.strength is Strength.NOTHING:
        return claim
    value = values[0]
    if value.kind() == "call_expression" and called(value) == "Diff" and len(arguments(value)) >= 2:
        return next(iter(said("Equal", arguments(value))))
    return claim._replace(about=value.text())


def _of_call(call: SgNode, names: _Names) -> list[Assertion]:
    name, given = called(call), arguments(call)
    if name in TO and (expecting := _expecting(call)) is not None:
        matcher = given[0] if given else None
        return [expected_of(arguments(expecting), matcher, TO[name]).asserted(call)]
    asked = receiver(call)
    if name in SKIPS:
        return []
    if _fails(call, names):
        return [Claim(flat_text(call), Strength.SOMETHING).asserted(call)]
    if name in EXPECTING and _is_statement(call) and not (given and _is_t(flat_text(given[0]), names)):
        return [Claim(flat_text(call), Strength.NOTHING).asserted(call)]
    with_t = bool(given) and (_is_t(flat_text(given[0]), names) or _is_swallowed(call, names))
    word = without_f(name)
    is_bare = with_t and not asked and _is_statement(call) and not _is_swallowed(call, names)
    if word in WORDS and (asked or is_bare) and not _is_compared_within(call):
        clear = with_t or asked in names.asked or bool(_ASKED.search(asked))
        if clear or (_is_statement(call) and word not in AMBIGUOUS):
            return [claim.asserted(call) for claim in said(word, given[1:] if with_t else given)]
    if name == "Run" and _is_t(asked, names) and len(given) == 2 and given[1].kind() != "func_literal":
        return [Claim(given[1].text(), Strength.PARTLY).asserted(call)]
    return _of_own(call, name, given, names) if _is_statement(call) else []


def _of_own(call: SgNode, name: str, given: list[SgNode], names: _Names) -> list[Assertion]:
    """Of a function of the project's own that asks, or compares."""
    rest = [one for one in given if not _is_t(flat_text(one), names)]
    gets_t = len(rest) < len(given)
    if gets_t and len(rest) == 2 and _COMPARES.fullmatch(name):
        return [equality(*rest).asserted(call)]
    if _HELPER.search(name) or (gets_t and not _PREPARING.search(name)):
        return [Claim(", ".join(one.text() for one in rest), Strength.PARTLY).asserted(call)]
    return []


def _is_statement(call: SgNode) -> bool:
    parent = call.parent()
    return parent is not None and parent.kind() in {"expression_statement", "defer_statement", "go_statement"}


def _is_compared_within(call: SgNode) -> bool:
    """`is.Equal(a, b)` in `assert.Check(t, is.Equal(a, b))`, which counts once."""
    outer = call.ancestors()[1:2]
    return any(one.kind() == "call_expression" and called(one) in CHECKED for one in outer)


def _expecting(call: SgNode) -> SgNode | None:
    """The `Expect(...)` at the beginning of a chain of calls."""
    at: SgNode | None = call
    while at is not None:
        if at.kind() == "call_expression":
            if called(at) in EXPECTING:
                return at
            at = at.field("function")
        elif at.kind() == "selector_expression":
            at = at.field("operand")
        else:
            return None
    return None
