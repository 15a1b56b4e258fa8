"""Whether a test is run: marks on it and around it, and what its body does first."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ast_grep_py import SgNode, SgRoot

from untilproven.guard.facts import Running
from untilproven.guard.languages.javascript.nodes import (
    FUNCTIONS,
    Link,
    arguments,
    bare,
    chain,
    expression_of,
    statements,
    string_of,
    truth,
    written,
)
from untilproven.guard.languages.javascript.openings import Opening, opening
from untilproven.guard.languages.javascript.survey import FILES, certain, survey, uncalled

_NEVER = frozenset({"skip", "todo", "fixme", "fails", "failing", "fail", "ignore", "expectFailure"})
_HOOKS = frozenset({"before", "beforeAll", "beforeEach", "setup", "suiteSetup"})
_RENAMED = re.compile(rf"\b(?:{'|'.join(sorted(_HOOKS))})\s*(?:as|:)\s+([\w$]+)\b")
_RETURNS = re.compile(r"\)\s*(?:return;?|\{\s*return;?\s*\})$")
_SKIPPING = frozenset({"skip", "todo", "fixme", "fail", "pending"})
_ABOUT_MACHINE = re.compile(
    r"process\.(?:platform|version|versions|env|arch|stdout|release|features|getuid)|import\.meta\.env|typeof \w+"
    r"|semver|os\.(?:platform|type|arch)|\b(?:is)?(?:[wW]in(?:dows|32)?|[mM]ac(?:OS)?|[lL]inux|CI|Bun|Deno)\b"
    r"|[nN]ode[mM](?:aj|in)or|\b(?:is)?(?:[bB]rowser(?:Name)?|[nN]ode(?:Version)?)\b|[sS]upport|globalThis|\bglobal\b|navigator|[aA]vailable"
    r"|\b(?:has|isIn)[A-Z]|headless|isMobile|[vV]ersion"
)


class Mark(NamedTuple):
    running: Running
    reason: str | None = None


def running(test: Opening, around: tuple[Opening, ...]) -> Mark:
    """The least of everything that is said of it; `around` are the suites that it stands in."""
    marks = [*_on(test), *_above(test.node), *_focus(test, around), *said_by_file(test.node.get_root())]
    marks.extend(mark for suite in around for mark in said_by_suite(suite))
    if test.function is not None:
        marks.extend(first_things(test.function))
    return min(marks, key=lambda mark: mark.running, default=Mark(Running.ALWAYS))


def _on(one: Opening) -> Iterator[Mark]:
    """What the call itself says: `it.skip`, `xit`, `it.skipIf(...)`, `{ skip: true }`."""
    known = certain(one.node)
    word = one.words[0]
    if word.startswith("x") and word[1:] in {"it", "test", "describe", "context", "specify"}:
        yield Mark(Running.NEVER, word)
    if one.is_pending:
        yield Mark(Running.NEVER, "nothing to run")
    if one.choice is not None:
        yield _when(one.choice.condition, known, if_true=one.choice.skips_if)
    for link in one.links[1:]:
        if link.name in _NEVER:
            yield Mark(Running.NEVER, f".{link.name}")
        elif link.name in {"skipIf", "runIf", "if"} and link.args:
            yield _when(link.args[0], known, if_true=link.name == "skipIf")
    for key in ("skip", "todo", "fails", "ignore", "expectFailure"):
        if (value := one.option(key)) is not None:
            said = string_of(value)
            yield Mark(Running.NEVER, said) if said else _when(value, known, if_true=True)


def _when(condition: SgNode, known: dict[str, bool], *, if_true: bool | None = None) -> Mark:
    """What a condition means for what is skipped by it; `if_true` None if it is not known which way it turns."""
    holds = truth(condition, known) if if_true is not None and condition.kind() not in FUNCTIONS else None
    if holds is None:
        return Mark(Running.SOMETIMES, written(condition))
    return Mark(Running.NEVER, written(condition)) if holds is if_true else Mark(Running.ALWAYS)


def _focus(test: Opening, around: tuple[Opening, ...]) -> Iterator[Mark]:
    focused = survey(test.node).focused
    if not focused or test.is_focused or any(one.is_focused for one in around):
        return
    if not any(test.holds(one) for one in focused):
        yield Mark(Running.NEVER, f"only {focused[0].name} is run")


def _above(node: SgNode) -> Iterator[Mark]:
    """What it stands in: branches, and blocks that end before it."""
    known = certain(node)
    for above in node.ancestors():
        kind = above.kind()
        if kind == "if_statement" and (condition := above.field("condition")) and node != condition:
            runs_if = node == above.field("consequence")
            holds = truth(condition, known)
            if holds is not None:
                yield Mark(Running.ALWAYS if holds is runs_if else Running.NEVER, written(condition))
            else:
                yield Mark(Running.SOMETIMES, written(condition))
        elif kind in {"binary_expression", "ternary_expression"}:
            first = above.field("left") or above.field("condition")
            if first is not None and node != first:
                runs_if = kind == "binary_expression" or node == above.field("consequence")
                yield _when(first, known, if_true=not runs_if)
        elif kind in {"statement_block", "program"}:
            end = end_of(above)
            if end is not None and end[0] < node.range().start.index:
                often = Running.SOMETIMES if end[1].startswith("if") else Running.NEVER
                yield Mark(often, f"behind {end[1]}")
        elif kind in FUNCTIONS and (name := uncalled(above)) is not None:
            yield Mark(Running.NEVER, f"{name} is never called")
        node = above


@lru_cache(maxsize=256)
def end_of(block: SgNode) -> tuple[int, str] | None:
    """The statement that a block ends with before its end, or may: where, and how it is written."""
    maybe: tuple[int, str] | None = None
    for child in block.named_children():
        if child.kind() in {"return_statement", "throw_statement"}:
            return child.range().start.index, written(child)
        if maybe is None and child.kind() == "if_statement" and _RETURNS.search(child.text()):
            maybe = child.range().start.index, written(child)
    return maybe


@lru_cache(maxsize=256)
def said_by_suite(suite: Opening) -> tuple[Mark, ...]:
    """What is said of a suite, and what it does to its tests: `this.skip()` in it or in a hook of it."""
    if not suite.is_suite or suite.function is None:
        return tuple(_on(suite))
    return (*_on(suite), *_among(statements(suite.function.field("body"))))


@lru_cache(maxsize=FILES)
def said_by_file(root: SgRoot) -> tuple[Mark, ...]:
    return tuple(_among(statements(root.root())))


def _among(inside: list[SgNode]) -> Iterator[Mark]:
    for statement in inside:
        if statement.kind() == "if_statement" and (condition := statement.field("condition")):
            branch = statements(statement.field("consequence"))
            if branch and _skip(branch[0]) is not None:
                yield _when(condition, certain(statement), if_true=True)
            continue
        if statement.kind() != "expression_statement":
            continue
        if (mark := _skip(statement)) is not None:
            yield mark
        elif (hook := _hook(statement)) is not None:
            yield from first_things(hook)


def _hook(statement: SgNode) -> SgNode | None:
    """The function of `before(...)`, if the statement is one."""
    call = expression_of(statement)
    if call is None or call.kind() != "call_expression":
        return None
    links = chain(call)
    is_plain = links[-1].name in _HOOKS and call.text().startswith(("before", "test.before", "setup", "suiteSetup"))
    if not is_plain and not (len(links) == 1 and links[0].name in _hooks_by_other_names(call.get_root())):
        return None
    return next((argument for argument in arguments(call) if argument.kind() in FUNCTIONS), None)


@lru_cache(maxsize=FILES)
def _hooks_by_other_names(root: SgRoot) -> frozenset[str]:
    """`import { beforeEach as first } from "vitest"`."""
    return frozenset(_RENAMED.findall(root.root().text()))


def first_things(function: SgNode) -> Iterator[Mark]:
    """What a body does before anything is asserted."""
    known = certain(function)
    for statement in statements(function.field("body")):
        kind = statement.kind()
        if kind in {"expression_statement", "return_statement", "call_expression"}:
            if (mark := _skip(statement)) is not None:
                yield mark
                return
            if "expect" in statement.text() or "assert" in statement.text():
                return
        elif kind == "if_statement" and (condition := statement.field("condition")):
            yield from _leaving(condition, statements(statement.field("consequence")), known)
        elif kind not in {"lexical_declaration", "variable_declaration", "comment", "function_declaration"}:
            return


def _leaving(condition: SgNode, inside: list[SgNode], known: dict[str, bool]) -> Iterator[Mark]:
    if any(_skip(one) is not None for one in inside[:2]):
        yield _when(condition, known, if_true=True)
    elif _is_bare_return(inside) and truth(condition, known) is None and _ABOUT_MACHINE.search(condition.text()):
        yield Mark(Running.SOMETIMES, written(condition))


def _is_bare_return(inside: list[SgNode]) -> bool:
    return bool(inside) and inside[-1].kind() == "return_statement" and expression_of(inside[-1]) is None


def _skip(statement: SgNode) -> Mark | None:
    """`this.skip()`, `t.skip("why")`, `test.skip(condition, "why")`, `pending()`; None for any other statement."""
    call = expression_of(statement)
    if call is None or bare(call).kind() != "call_expression":
        return None
    links = chain(call)
    last = links[-1]
    if last.name not in _SKIPPING or last.args is None or not _is_runners(links) or opening(call) is not None:
        return None
    if not last.args:
        return Mark(Running.NEVER, written(call))
    first = last.args[0]
    if (said := string_of(first)) is not None:
        return Mark(Running.NEVER, said)
    return _when(first, certain(statement), if_true=True)


def _is_runners(links: list[Link]) -> bool:
    """Whether `skip` is said to the runner: `this`, a test's own context, the word that declares tests."""
    if len(links) == 1:
        return links[0].name in {"pending", "skip"}
    if links[-1].name == "fail":
        return links[0].name == "test" and len(links) == len(("test", "fail"))
    before = [link.name for link in links[:-1]]
    return before in (
        ["this"],
        ["t"],
        ["test"],
        ["ctx"],
        ["context"],
        ["it"],
        ["testInfo"],
        ["task"],
        ["this", "test"],
    ) or (before == ["test", "info"])
