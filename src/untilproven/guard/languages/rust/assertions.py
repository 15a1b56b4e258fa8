"""The assertions of a test in Rust, and which of them can be reached."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.rust.claims import (
    arguments,
    claims,
    difference,
    equality,
    expression,
    matching,
    method,
    pieces,
    pieces_of,
    subject,
)
from untilproven.guard.languages.rust.statements import constant, is_parting, is_spawned_away, macro_name
from untilproven.guard.languages.syntax import Claim, flat_text, number_in, parsed

_FAILING = frozenset({"panic", "unreachable", "fail", "bail"})
_NEAR = re.compile(r"(?:relative|abs_diff|ulps|approx|float|f64|f32)\w*_eq$|_near$|_close$|approx_eq")
_ASSERTING = re.compile(
    r"(?:^|_)(?:assert|check|verify|ensure)(?:_|$)|^(?:expect_(?!file)|must|prop_assert|eqnice)|^(?:eq|same)_?nice$"
)
_HELPING = re.compile(
    r"^(?:assert|check|verify|expect_|ensure|must_|should_|compare_|test(?:_|$)|run_test|do_test|round_?trip)|_(?:test|helper|inner|check|case)$"
)
_HELPING_METHODS = re.compile(
    r"^(?:assert|check_|verify|expect_(?!err$)|ensure_|should_)|^(?:compile_fail|pass|test|run_test)$"
)
_OF_TEST = re.compile(r"\btest\b")
_SOMETHING = re.compile(r"_(?:ok|some|ready|send|sync|static|unpin)$|_(?:impl|obj_safe|trait)\w*$")
_PATTERNS = re.compile(r"matches$|^let_assert$|_let$")


class Found(NamedTuple):
    assertions: tuple[Assertion, ...]
    weak: tuple[Assertion, ...]
    """What only fails when something before went wrong: `unwrap`, `expect`, `?`. Where some of them are statements,
    those whose value somebody takes are none: they only bring the test to where it asks."""
    unreached: int
    parting: SgNode | None
    """The statement that the first of the unreached stands behind."""


def assertions(node: SgNode) -> Found:
    """Of a test's function, or of a file that is a test by itself."""
    found: list[Assertion] = []
    weak: list[Assertion] = []
    alone: list[Assertion] = []
    unreached, parting = 0, None
    spent: set[int] = set()
    stack: list[tuple[SgNode, SgNode | None]] = [(node, None)]
    while stack:
        one, dead = stack.pop()
        kind = one.kind()
        here: list[Assertion] = []
        if kind == "macro_invocation" and one.range().start.index not in spent:
            here = [claim.asserted(one) for claim in _of_macro(one)]
        elif kind == "call_expression":
            here = [claim.asserted(one) for claim in _of_call(one)]
        elif kind == "if_expression":
            here = _of_if(one, spent)
        if dead is None:
            found += here
            if not here and _is_weak(one):
                weak.append(Claim(flat_text(one), Strength.SOMETHING).asserted(one))
                if (above := one.parent()) is not None and above.kind() == "expression_statement":
                    alone.append(weak[-1])
        elif here:
            unreached += len(here)
            parting = parting or dead
        stack.extend(reversed(_below(one, dead)))
    return Found(tuple(found), tuple(alone or weak), unreached, parting)


def _below(node: SgNode, dead: SgNode | None) -> list[tuple[SgNode, SgNode | None]]:
    """The nodes in it, each with the statement that it can not be reached behind."""
    kind = node.kind()
    children = [child for child in node.named_children() if child.kind() != "token_tree"]
    if dead is None and is_spawned_away(node):
        dead = node
    if dead is None and kind == "if_expression" and (asked := node.field("condition")) is not None:
        always = constant(asked)
        branches = {False: node.field("consequence"), True: node.field("alternative")}
        never = branches[always] if always is not None else None
        return [(child, node if never is not None and child == never else None) for child in children]
    if kind not in {"block", "source_file"} or dead is not None:
        return [(child, dead) for child in children]
    return _in_order(children)


def _in_order(children: list[SgNode]) -> list[tuple[SgNode, SgNode | None]]:
    """Statements of a block; what is declared there is there wherever it stands, if anything runs before the end."""
    run = [child for child in children if not child.kind().endswith(("_item", "comment", "use_declaration"))]
    if run and is_parting(run[0]):
        return [(child, run[0]) for child in children]
    dead: SgNode | None = None
    below: list[tuple[SgNode, SgNode | None]] = []
    for child in children:
        below.append((child, None if child.kind().endswith("_item") else dead))
        if dead is None and is_parting(child):
            dead = child
    return below


def _of_macro(node: SgNode) -> Iterator[Claim]:
    name, given = macro_name(node), pieces(node)
    known = list(_said(name, given))
    if known or name in {"vec", "format", "println", "write", "writeln", "matches", "eprintln", "print"}:
        yield from known
        return
    tree = next((one for one in node.children() if one.kind() == "token_tree"), None)
    for inner, of in _macros_in(tree) if tree is not None else ():
        yield from _said(inner, of)


def _macros_in(tree: SgNode) -> Iterator[tuple[str, list[str]]]:
    """Macros that are called within the arguments of another one."""
    stack = [tree]
    while stack:
        children = stack.pop().children()
        for at, child in enumerate(children):
            if child.kind() != "token_tree":
                continue
            if at >= 2 and children[at - 1].text() == "!" and children[at - 2].kind() == "identifier":
                yield children[at - 2].text(), pieces_of(child)
            stack.append(child)


def _said(name: str, given: list[str]) -> Iterator[Claim]:  # noqa: C901, PLR0912 - one word after another
    """By a macro, of its arguments."""
    first = given[0] if given else ""
    second = given[1] if len(given) > 1 else ""
    word = re.sub(r"^(?:debug|prop|k9|cool|pretty)_", "", name)
    if word == "assert" and given:
        condition = expression(first)
        yield from claims(condition, passes=True) if condition is not None else [Claim(first, Strength.SOMETHING)]
    elif name in _FAILING:
        yield Claim(first, Strength.PARTLY)
    elif "snapshot" in name:
        written = next((one for one in given if one.startswith("@")), None)
        about = next((one for one in given if not one.startswith(("@", '"'))), first)
        yield Claim(about, Strength.EXACTLY, written.lstrip("@") if written else None)
    elif not _ASSERTING.search(word):
        return
    elif _PATTERNS.search(word) and second:
        yield matching(first, second)
    elif word in {"assert_that", "expect_that", "verify_that"} and second:
        found = re.match(r"(?:\w+::)*eq\((.*)\)$", second, re.DOTALL)
        yield equality(first, found[1]) if found else Claim(first, Strength.PARTLY, second)
    elif _NEAR.search(word) and second:
        near = equality(first, second)
        numbers = [number_in(one.split("=")[-1].strip()) for one in given[2:]]
        tolerance = next((number for number in numbers if number is not None), None)
        yield near._replace(strength=min(near.strength, Strength.PARTLY), tolerance=tolerance)
    elif re.search(r"(?:^|_)(?:eq|eqnice)(?:_|$)|^eqnice", word) and second:
        yield equality(first, second)
    elif word.endswith("_ne") and second:
        yield difference(first, second)
    elif re.search(r"_(?:err|error|panics)$", word):
        yield Claim(first, Strength.PARTLY, error="Err")
    elif word.endswith("_none"):
        yield Claim(first, Strength.EXACTLY, "None")
    elif _SOMETHING.search(word):
        yield Claim(first, Strength.SOMETHING)
    else:
        yield Claim(first, Strength.PARTLY, second or None)


def _of_call(node: SgNode) -> Iterator[Claim]:
    name, given = method(node), arguments(node)
    if name:
        on = subject(node)
        about = on.text() if on is not None else ""
        if name in {"unwrap_err", "expect_err", "into_err"}:
            yield Claim(about, Strength.PARTLY, error="Err")
        elif name in {"assert_eq", "assert_debug_eq"} and given:
            yield Claim(given[0].text(), Strength.EXACTLY, about)
        elif _HELPING_METHODS.search(name):
            yield Claim(about, Strength.PARTLY, given[0].text() if given else None)
        return
    function = node.field("function")
    last = re.sub(r"::<.*", "", flat_text(function)).rsplit("::", 1)[-1] if function is not None else ""
    if _HELPING.search(last) or (function is not None and function.kind() == "identifier" and last in _helpers(node)):
        yield Claim(", ".join(one.text() for one in given), Strength.PARTLY)
    elif not given and re.match(r"_?(?:is|require|assert)(?:_|$)", last) and "::<" in flat_text(node):
        yield Claim(flat_text(node), Strength.SOMETHING)


def _helpers(node: SgNode) -> frozenset[str]:
    text = node.get_root().root().text()
    return _asserting_in(text) if "assert" in text else frozenset()


@lru_cache(maxsize=16)
def _asserting_in(text: str) -> frozenset[str]:
    """Functions of a file that assert something, and are no tests; one within a function is looked into there."""
    found = set[str]()
    for one in parsed(text, "rust").find_all(kind="function_item"):
        if any(above.kind() == "function_item" for above in one.ancestors()):
            continue
        name, body = one.field("name"), one.field("body")
        marks = takewhile(lambda before: before.kind() == "attribute_item", one.prev_all())
        if name is None or body is None or any(_OF_TEST.search(mark.text()) for mark in marks):
            continue
        if any(_ASSERTING.search(macro_name(inner)) for inner in body.find_all(kind="macro_invocation")):
            found.add(name.text())
    return frozenset(found)


def _of_if(node: SgNode, spent: set[int]) -> list[Assertion]:
    """`if a != b { panic!() }`, and what stands in its `else`."""
    condition = node.field("condition")
    if condition is None or condition.kind() in {"let_condition", "let_chain"}:
        return []
    found = []
    for branch, passes in ((node.field("consequence"), False), (node.field("alternative"), True)):
        failing = [one for one in _macros_of(branch) if macro_name(one) in _FAILING]
        spent |= {one.range().start.index for one in failing}
        if failing:
            text = f"if {flat_text(condition)}{' else' if passes else ''}"
            found += [claim.asserted(node, text) for claim in claims(condition, passes)]
    return found


def _macros_of(branch: SgNode | None) -> Iterator[SgNode]:
    """Macros that are statements of the block itself."""
    for block in [branch] if branch is not None and branch.kind() == "block" else branch.children() if branch else []:
        for one in block.named_children():
            inner = one.named_children()[0] if one.kind() == "expression_statement" and one.named_children() else one
            if inner.kind() == "macro_invocation":
                yield inner


def _is_weak(node: SgNode) -> bool:
    return node.kind() == "try_expression" or method(node) in {"unwrap", "expect"}
