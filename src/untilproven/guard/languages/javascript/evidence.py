"""What a test really asserts: what is reached, and what is only written."""

import re
from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.javascript.assertions import FAILING, Found, found_in
from untilproven.guard.languages.javascript.comparing import compared
from untilproven.guard.languages.javascript.handlers import is_swallowing, swallows
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

_DONE = re.compile(r"_?(?:done|cb|callback|next|end|finish)")
_LEAVING = frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"})
_EXIT = re.compile(r"process\.(?:exit|abort|reallyExit)\(|Deno\.exit\(|process\.kill\(process\.pid")
_PROMISED = frozenset({"resolves", "rejects", "eventually", "rejected", "rejectedWith", "fulfilled", "doesNotReject"})
_AWAITED = frozenset({"then", "catch", "finally", "notify", "end"})
_ON_PAGE = re.compile(
    r"toHave(?:Text|URL|Title|Count|Value|Attribute|Class|CSS|Screenshot)|toContainText|toMatchAriaSnapshot"
    r"|toBe(?:Visible|Hidden|Enabled|Disabled|Checked|Attached|Editable|Focused|InViewport)"
)
_SENDING = frozenset({"request", "supertest"})
_LITERAL = frozenset({"number", "string", "regex", "object", "array", "template_string"})


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


class _Gathering:
    def __init__(self, function: SgNode, scope: Scope) -> None:
        self.scope = scope
        names = parameters(function)
        self.done = names[0] if names and _DONE.fullmatch(names[0]) else None
        self.is_plain = not names and not function.text().startswith(("async", "function*", "function *"))
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
        weighty = [found for found in self.found if not found[1].is_weak]
        kept = weighty or self.found
        assertions = tuple(found.assertion for _, found in kept)
        leaves = self.exits or next(
            (cause for cause in self.lost if cause.startswith(("return", "process", "Deno"))), None
        )
        if leaves is None and self.early and kept and all(at > self.early[0] for at, _ in kept):
            leaves = self.early[1]
        return Evidence(assertions, len(self.lost), leaves)

    def push(self, step: _Step, nodes: list[SgNode], **changed: object) -> None:
        self.stack.extend(step._replace(node=node, **{"place": "value", **changed}) for node in reversed(nodes))  # type: ignore[arg-type]

    def visit(self, step: _Step) -> None:
        kind = step.node.kind()
        if kind in {"call_expression", "member_expression"}:
            self.visit_chain(step)
        elif kind in FUNCTIONS:
            self.visit_function(step)
        elif kind in {"statement_block", "switch_case", "switch_default", "program"}:
            self.visit_block(step)
        elif kind == "if_statement":
            self.visit_if(step)
        elif kind == "try_statement":
            self.visit_try(step)
        elif kind == "for_in_statement":
            right = step.node.field("right")
            is_empty = right is not None and right.text() == "[]"
            self.push(step, step.node.named_children(), cause="never" if is_empty else step.cause, place="statement")
        elif kind == "binary_expression" and (left := step.node.field("left")) and (right := step.node.field("right")):
            sign, holds = step.node.field("operator"), truth(left)
            never = sign is not None and (sign.text(), holds) in {("&&", False), ("||", True)}
            self.push(step, [right], cause="never" if never else step.cause, place=step.place)
            self.push(step, [left])
        elif kind == "expression_statement":
            self.push(step, step.node.named_children(), place="statement")
        elif kind in {"await_expression", "return_statement", "parenthesized_expression", "sequence_expression"}:
            place = step.place if kind[0] in {"p", "s"} else "awaited"
            self.push(step, step.node.named_children(), place=place)
        elif kind in {"identifier", "shorthand_property_identifier"}:
            self.visit_name(step)
        elif kind != "comment":
            self.push(step, step.node.named_children())

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
            if cause is None and (said := _ends(statement)):
                cause = said
        self.stack.extend(reversed(steps))

    def visit_if(self, step: _Step) -> None:
        node = step.node
        condition, then, otherwise = (node.field(name) for name in ("condition", "consequence", "alternative"))
        holds = truth(condition) if condition is not None else None
        if condition is not None and then is not None and step.cause is None:
            self.look_at_branch(step, condition, then)
        if otherwise is not None:
            self.push(step, otherwise.named_children(), cause="never" if holds else step.cause, place="statement")
        if then is not None:
            self.push(step, [then], cause="never" if holds is False else step.cause, place="statement")
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
        elif _fails(last):
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
            self.push(step, [body], cause="caught" if caught else step.cause)

    def visit_function(self, step: _Step) -> None:
        node, cause = step.node, step.cause
        above = node.parent()
        name = node.field("name") if node.kind().endswith("declaration") else None
        if above is not None and above.kind() == "variable_declarator":
            name = above.field("name")
        if name is not None and name.kind() == "identifier":
            if len(re.findall(rf"(?<![\w$]){re.escape(name.text())}(?![\w$])", self.text)) == 1:
                cause = "never called"
        if (body := node.field("body")) is not None:
            self.stack.append(step._replace(node=body, cause=cause, depth=step.depth + 1, place="awaited"))

    def visit_chain(self, step: _Step) -> None:
        links = chain(step.node)
        if not links:
            return
        if step.node.kind() == "call_expression" and opening(step.node) is not None:
            return
        cause = step.cause
        silenced = next((at for at, link in enumerate(links) if is_swallowing(link)), 0)
        if silenced:
            cause = cause or "caught"
        found = found_in(links, self.scope, is_statement=step.place != "value") or self.weak(step, links)
        if found and cause is None and step.place == "statement" and _is_dropped(links):
            cause = "not awaited"
        self.keep(step._replace(cause=cause), found)
        if cause is None and step.place == "statement" and self.is_plain and not step.depth:
            if any(link.name == "then" and link.args for link in links[1:]):
                cause = "not awaited"
        if cause is None and _EXIT.match(step.node.text()):
            self.exits = self.exits or written(step.node)
        for at in range(len(links) - 1, -1, -1):
            if args := links[at].args:
                self.push(step, list(args), cause=cause if at < silenced or not silenced else step.cause)
        start = head(links)
        if start.kind() not in {"identifier", "this", "call_expression", "member_expression"}:
            self.push(step, [start], cause=cause)

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
            if step.cause is None:
                self.found.append((step.node.range().start.index, one))
            elif one.assertion.strength > Strength.NOTHING and not one.is_weak:
                self.lost.append(step.cause)


def gather(function: SgNode, scope: Scope) -> Evidence:
    """From the function of a test."""
    return _Gathering(function, scope).run()


def _ends(statement: SgNode) -> str | None:
    """What ends the whole run, or the test, as a statement: an exit, a certain return."""
    if statement.kind() == "expression_statement":
        text = statement.text()
        if _EXIT.match(text):
            return written(statement)
        if re.match(r"(?:this|t|ctx|context)\.skip\(\)", text):
            return f"return {written(statement)}"
    if statement.kind() == "if_statement" and (condition := statement.field("condition")) and truth(condition):
        inside = statements(statement.field("consequence"))
        if inside and inside[-1].kind() == "return_statement":
            return written(inside[-1])
    return None


def _fails(statement: SgNode) -> bool:
    """Whether a statement does nothing but fail the test."""
    if statement.kind() == "throw_statement":
        thrown = expression_of(statement) or next(iter(statement.named_children()), None)
        return thrown is not None and thrown.kind() in {"new_expression", "call_expression"}
    called = expression_of(statement)
    if called is None or bare(called).kind() != "call_expression":
        return False
    links = chain(called)
    if links[-1].name in FAILING:
        return True
    args = links[-1].args or ()
    return (
        len(links) == 1 and bool(_DONE.fullmatch(links[0].name)) and bool(args) and args[0].kind() == "new_expression"
    )


def _is_dropped(links: list[Link]) -> bool:
    """Whether an assertion is a promise that nobody waits for."""
    names = {link.name for link in links}
    if names & _AWAITED:
        return False
    if links[0].name in _SENDING and links[-1].name == "expect":
        return all(argument.kind() in _LITERAL for argument in links[-1].args or ())
    if names & _PROMISED and links[0].name in {"expect", "assert"}:
        return True
    is_on_page = links[0].name == "expect" and bool(_ON_PAGE.fullmatch(links[-1].name))
    return is_on_page and "@playwright/test" in links[0].node.get_root().root().text()
