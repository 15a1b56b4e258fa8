"""What a test really asserts: what is reached, and what is only written."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec
from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.javascript.assertions import Found, found_in
from untilproven.guard.languages.javascript.comparing import compared
from untilproven.guard.languages.javascript.handlers import is_swallowing, swallows
from untilproven.guard.languages.javascript.leaving import DONE, EXIT, ends, fails, is_dropped
from untilproven.guard.languages.javascript.nodes import (
    FUNCTIONS,
    Link,
    bare,
    chain,
    expression_of,
    head,
    parameters,
    statements,
    truth,
    written,
)
from untilproven.guard.languages.javascript.openings import opening
from untilproven.guard.languages.javascript.scope import Scope
from untilproven.guard.languages.syntax import flat_text, line_of

_LEAVING = frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"})


_LEAVES = frozenset(
    {"comment", "string", "number", "regex", "true", "false", "null", "undefined", "this", "property_identifier"}
    | {"type_annotation", "type_arguments", "jsx_text", "shorthand_property_identifier_pattern"}
)
_ASSERTS = re.compile(r"(?i)expect|assert|should")
_TYPES = ("expectTypeOf", "assertType", "expectType")
"""What is checked without being run."""


class Evidence(NamedTuple):
    assertions: tuple[Assertion, ...]
    unreached: int
    leaves: str | None


class _Step(NamedTuple):
    node: SgNode
    cause: str | None = None
    """Why it is never reached, or can not fail."""
    depth: int = 0
    """In how many callbacks it stands."""
    place: str = "value"
    """`statement`, `awaited` (or returned), or a value that something else uses."""

    def because(self, cause: str, holds: bool) -> "_Step":
        return self._replace(cause=cause) if holds else self


class _Gathering:
    def __init__(self, function: SgNode, scope: Scope) -> None:
        self.scope = scope
        names = parameters(function)
        self.done = next((name for name in names[:2] if DONE.fullmatch(name)), None)
        self.is_plain = not names and not function.text().startswith(("async", "function*", "function *"))
        self.function = function
        self.text = function.text()
        self.found: list[tuple[int, Found]] = []
        self.lost: list[str] = []
        self.exits: str | None = None
        self.early: tuple[int, str] | None = None
        body = function.field("body")
        self.stack = [_Step(body, place="awaited")] if body is not None else []

    def run(self) -> Evidence:
        while self.stack:
            step = self.stack.pop()
            self.visit(step)
        if not self.found:
            self.found.extend(_typed(self.function))
        weighty = [found for found in self.found if not found[1].is_weak]
        if all(found.assertion.strength is Strength.NOTHING for _, found in weighty):
            weighty = [found for found in self.found if not found[1].is_weak or found[1].is_barrier]
        kept = weighty or self.found
        assertions = tuple(found.assertion for _, found in kept)
        leaves = self.exits or next(
            (cause for cause in self.lost if cause.startswith(("return", "process", "Deno"))), None
        )
        if leaves is None and self.early and kept and all(at > self.early[0] for at, _ in kept):
            leaves = self.early[1]
        return Evidence(assertions, len(self.lost), leaves)

    def push(self, step: _Step, nodes: Sequence[SgNode], *, place: str = "value") -> None:
        """What comes below, under the same conditions."""
        self.stack.extend(_Step(node, step.cause, step.depth, place) for node in reversed(nodes))

    def visit(self, step: _Step) -> None:
        kind = step.node.kind()
        if kind in FUNCTIONS:
            self.visit_function(step)
        elif kind in _VISITS:
            _VISITS[kind](self, step)
        elif kind == "expression_statement":
            self.push(step, step.node.named_children(), place="statement")
        elif kind in {"await_expression", "return_statement"}:
            self.push(step, step.node.named_children(), place="awaited")
        elif kind in {"parenthesized_expression", "sequence_expression"}:
            self.push(step, step.node.named_children(), place=step.place)
        elif kind not in _LEAVES:
            self.push(step, step.node.named_children())

    def visit_loop(self, step: _Step) -> None:
        right = step.node.field("right")
        is_empty = right is not None and right.text() == "[]"
        self.push(step.because("never", is_empty), step.node.named_children(), place="statement")

    def visit_two(self, step: _Step) -> None:
        """`condition && expect(...)`."""
        left, right, sign = (step.node.field(name) for name in ("left", "right", "operator"))
        if left is None or right is None or sign is None:
            return
        never = (sign.text(), truth(left)) in {("&&", False), ("||", True)}
        self.push(step.because("never", never), [right], place=step.place)
        self.push(step, [left])

    def visit_name(self, step: _Step) -> None:
        """A helper, or the end of the test, that is handed on to be called by somebody else."""
        name = step.node.text()
        if name == self.done or name in self.scope.helpers:
            strength = Strength.SOMETHING if name == self.done else Strength.PARTLY
            made = Assertion(name, name, strength, step.node.range().start.line + 1)
            self.keep(step, [Found(made, is_weak=name == self.done)])

    def visit_block(self, step: _Step) -> None:
        cause = step.cause
        steps: list[_Step] = []
        for statement in step.node.named_children():
            kind = statement.kind()
            if kind == "comment":
                continue
            steps.append(step._replace(node=statement, cause=step.cause if kind.startswith("function") else cause))
            if cause is None and kind in _LEAVING:
                cause = written(statement) if kind == "return_statement" and not step.depth else "behind"
            if cause is None and (said := ends(statement)):
                cause = said
        self.stack.extend(reversed(steps))

    def visit_if(self, step: _Step) -> None:
        node = step.node
        condition, then, otherwise = (node.field(name) for name in ("condition", "consequence", "alternative"))
        holds = truth(condition) if condition is not None else None
        if condition is not None and then is not None and step.cause is None:
            self.look_at_branch(step, condition, then)
        if otherwise is not None:
            self.push(step.because("never", holds is True), otherwise.named_children(), place="statement")
        if then is not None:
            self.push(step.because("never", holds is False), [then], place="statement")
        if condition is not None:
            self.push(step, [condition])

    def look_at_branch(self, step: _Step, condition: SgNode, then: SgNode) -> None:
        inside = statements(then)
        last = inside[-1] if inside else None
        if last is None:
            return
        if last.kind() == "return_statement" and len(inside) == 1 and expression_of(last) is None and not step.depth:
            if self.early is None and step.node.field("alternative") is None:
                self.early = (step.node.range().start.index, f"if {written(condition)} return")
        elif fails(last):
            claim = compared(condition, is_true=False)
            about, strength = (claim.about, claim.strength) if claim else (written(bare(condition)), Strength.SOMETHING)
            line = step.node.range().start.line + 1
            made = Assertion(written(step.node), about, strength, line, claim.expected if claim else None)
            self.keep(step, [Found(made)])

    def visit_try(self, step: _Step) -> None:
        body, handler, last = (step.node.field(name) for name in ("body", "handler", "finalizer"))
        caught = (handler is not None and swallows(handler)) or (
            last is not None
            and any("return" in one.kind() for block in last.named_children() for one in statements(block))
        )
        if last is not None:
            self.push(step, last.named_children())
        if handler is not None and (inside := handler.field("body")):
            self.push(step, [inside])
        if body is not None:
            self.push(step.because("caught", caught), [body])
            if handler is not None and not caught and _ASSERTS.search(handler.text()):
                self.look_for_barrier(step, statements(body))

    def look_for_barrier(self, step: _Step, tried: list[SgNode]) -> None:
        """`try { f(); assert.fail() } catch (error) { ... }` asks that it raises."""
        if len(tried) > 1 and fails(tried[-1]):
            made = Assertion(written(tried[-1]), written(tried[-2]), Strength.PARTLY, line_of(tried[-1]), error="Error")
            self.keep(step, [Found(made)])

    def visit_function(self, step: _Step) -> None:
        node, cause = step.node, step.cause
        above = node.parent()
        name = node.field("name") if node.kind().endswith("declaration") else None
        if above is not None and above.kind() == "variable_declarator":
            name = above.field("name")
        if name is not None and name.kind() == "identifier" and self.is_named_once(name.text()):
            cause = "never called"
        if (body := node.field("body")) is not None:
            self.stack.append(step._replace(node=body, cause=cause, depth=step.depth + 1, place="awaited"))

    def is_named_once(self, name: str) -> bool:
        return len(re.findall(rf"(?<![\w$]){re.escape(name)}(?![\w$])", self.text)) == 1

    def visit_chain(self, step: _Step) -> None:
        links = chain(step.node)
        if not links or (step.node.kind() == "call_expression" and opening(step.node, links) is not None):
            return
        silenced = next((at for at, link in enumerate(links) if is_swallowing(link)), 0)
        cause = step.cause or ("caught" if silenced else None)
        found = found_in(links, self.scope, is_statement=step.place != "value") or self.weak(step, links)
        if found and cause is None and step.place == "statement" and is_dropped(links):
            cause = "not awaited"
        if step.depth and links[0].name in self.scope.givers:
            found = [_as_reached(one) for one in found]
        self.keep(step._replace(cause=cause), found)
        if cause is None and self.is_left_behind(step, links):
            cause = "not awaited"
        if cause is None and links[0].name in {"process", "Deno"} and EXIT.match(step.node.text()):
            self.exits = self.exits or written(step.node)
        lost = step._replace(cause=cause)
        for at in range(len(links) - 1, -1, -1):
            if args := links[at].args:
                self.push(step if silenced and at >= silenced else lost, args)
        start = head(links)
        if start.kind() not in {"identifier", "this", "call_expression", "member_expression"}:
            self.push(lost, [start])

    def is_left_behind(self, step: _Step, links: list[Link]) -> bool:
        """Whether a test is over before what is in `.then(...)` happens."""
        if step.place != "statement" or not self.is_plain or step.depth:
            return False
        return any(link.name == "then" and link.args for link in links[1:])

    def weak(self, step: _Step, links: list[Link]) -> list[Found]:
        """Reaching the end, in a callback, is worth something where nothing else is asserted."""
        first = links[0]
        reaches = first.name == self.done and first.args is not None and self.done is not None
        passes = len(links) > 1 and first.name in self.scope.givers and links[-1].name == "pass"
        if passes and not step.depth:
            return [Found(Assertion(written(step.node), "", Strength.NOTHING, step.node.range().start.line + 1))]
        if (reaches and step.depth) or passes:
            text = written(step.node)
            made = Assertion(text, text, Strength.SOMETHING, step.node.range().start.line + 1)
            return [Found(made, is_weak=True)]
        return []

    def keep(self, step: _Step, found: list[Found]) -> None:
        for one in found:
            if step.cause is None or one.assertion.text.startswith(_TYPES):
                self.found.append((step.node.range().start.index, one))
            elif one.assertion.strength > Strength.NOTHING and not one.is_weak:
                self.lost.append(step.cause)


def _as_reached(found: Found) -> Found:
    """In a callback, `t.ok(true)` says that it was called."""
    if found.assertion.strength > Strength.NOTHING:
        return found
    return Found(msgspec.structs.replace(found.assertion, strength=Strength.SOMETHING), is_weak=True)


def _typed(function: SgNode) -> Iterator[tuple[int, Found]]:
    """What a type checker must refuse."""
    for comment in function.find_all(kind="comment"):
        if "@ts-expect-error" in comment.text():
            made = Assertion(flat_text(comment), "", Strength.SOMETHING, line_of(comment))
            yield comment.range().start.index, Found(made, is_weak=True)


_VISITS: dict[str, Callable[[_Gathering, _Step], None]] = {
    "call_expression": _Gathering.visit_chain,
    "member_expression": _Gathering.visit_chain,
    "statement_block": _Gathering.visit_block,
    "switch_case": _Gathering.visit_block,
    "switch_default": _Gathering.visit_block,
    "if_statement": _Gathering.visit_if,
    "try_statement": _Gathering.visit_try,
    "for_in_statement": _Gathering.visit_loop,
    "binary_expression": _Gathering.visit_two,
    "identifier": _Gathering.visit_name,
    "shorthand_property_identifier": _Gathering.visit_name,
}


def gather(function: SgNode, scope: Scope) -> Evidence:
    """From the function of a test."""
    return _Gathering(function, scope).run()
