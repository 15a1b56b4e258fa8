"""kotest and Spek, where a test is a call with a name and a block."""

import re
from collections.abc import Iterator

import msgspec
from ast_grep_py import SgNode

from untilproven.guard.facts import Running
from untilproven.guard.languages.java.conditions import constant
from untilproven.guard.languages.java.members import Member, Scope
from untilproven.guard.languages.java.running import duration
from untilproven.guard.languages.java.syntax import LAMBDAS, Call, body_of, call_of, code_in, flat, number, statements

_SPEC = re.compile(r"\w*(?:Spec|Spek)")
_TEST = re.compile(r"x?(?:test|it|should|[tT]hen|scenario|expect|property)")
_CONTAINER = re.compile(r"x?(?:describe|context|[gG]iven|[wW]hen|[aA]nd|feature|group|[sS]hould)")
_TEXTS = frozenset({"string_literal", "line_string_literal", "multi_line_string_literal"})


class Told(msgspec.Struct, frozen=True, eq=False):
    """A call that declares a test, or a group of them."""

    name: str
    block: SgNode
    is_test: bool
    options: tuple[tuple[str, SgNode], ...] = ()
    crossed_out: str | None = None
    """The word or the name that switches it off."""

    def option(self, name: str) -> SgNode | None:
        return next((value for key, value in self.options if key == name), None)


class Example(Member, frozen=True, eq=False):
    """A test of a specification."""

    told: Told | None = None
    running: Running = Running.ALWAYS
    reason: str | None = None


def examples(scope: Scope) -> Iterator[Example]:
    blocks = list(_blocks(scope.node))
    if not blocks:
        return
    found = [one for block in blocks for one in _declared(block, scope)]
    focused = any(one.told and one.told.name.startswith("f:") and one.name.count(" > ") == 1 for one in found)
    for one in found:
        away = focused and not one.name.partition(" > ")[2].startswith("f:")
        yield _silenced(one, "another test is focused") if away else one


def _silenced(one: Example, reason: str) -> Example:
    return Example(one.name, one.node, True, (*one.marks, reason), one.scope, one.told, Running.NEVER, reason)


def _blocks(node: SgNode) -> Iterator[SgNode]:
    """What a specification hands to its base class, and what it does when it is made."""
    inherited = (one for child in code_in(node) if child.kind() == "delegation_specifier" for one in code_in(child))
    for base in inherited:
        parts = code_in(base) if base.kind() == "constructor_invocation" else []
        if not parts or not _SPEC.fullmatch(flat(parts[0]).rpartition(".")[2]):
            continue
        for argument in (one for part in parts[1:] for one in code_in(part)):
            yield from (one for one in code_in(argument) if one.kind() == "lambda_literal")
        body = next((child for child in code_in(node) if child.kind() == "class_body"), None)
        if body:
            yield from (one for one in code_in(body) if one.kind() == "anonymous_initializer")


def _declared(block: SgNode, scope: Scope) -> Iterator[Example]:
    way = tuple[str, ...]
    stack: list[tuple[SgNode, way, Running, tuple[str, ...]]] = [(block, (scope.path,), Running.ALWAYS, ())]
    decided = tuple(mark.text for each in scope.around() for mark in each.marks)
    while stack:
        node, names, running, reasons = stack.pop()
        told = told_by(node)
        if told is None:
            stack.extend((child, names, running, reasons) for child in reversed(code_in(node)))
            continue
        here, reason = _runs(told)
        running = min(running, here)
        reasons = (*reasons, reason) if reason else reasons
        if told.is_test:
            name = " > ".join((*names, told.name))
            yield Example(name, node, True, decided + reasons, scope, told, running, reasons[0] if reasons else None)
        else:
            stack.append((told.block, (*names, told.name), running, reasons))


def told_by(node: SgNode) -> Told | None:
    if node.kind() == "additive_expression":
        """`"name" - { }`"""
        parts = code_in(node)
        is_group = len(parts) == 2 and parts[0].kind() in _TEXTS and parts[1].kind() in LAMBDAS
        return _told(_text(parts[0]), parts[1], is_test=False) if is_group else None
    call = call_of(node)
    if call is None:
        return None
    if node.kind() == "infix_expression":
        is_group = call.receiver is not None and call.receiver.kind() in _TEXTS and call.arguments[0].kind() in LAMBDAS
        named = _CONTAINER.fullmatch(call.name) is not None
        return (
            _told(_text(call.receiver), call.arguments[0], is_test=False, word=call.name)
            if is_group and named and call.receiver
            else None
        )
    if call.block is None:
        return None
    if call.name == "config" and call.receiver is not None:
        inner = call_of(call.receiver)
        if call.receiver.kind() in _TEXTS:
            return _told(_text(call.receiver), call.block, is_test=True, options=call.named)
        return _by_word(inner, call.block, call.named) if inner else None
    if call.name == "" and call.receiver is not None and call.receiver.kind() in _TEXTS:
        return _told(_text(call.receiver), call.block, is_test=True)
    if call.name == "withData" and call.receiver is None:
        return _told("withData", call.block, is_test=True)
    return _by_word(call, call.block, call.named)


def _by_word(call: Call, block: SgNode, options: tuple[tuple[str, SgNode], ...]) -> Told | None:
    is_test = _TEST.fullmatch(call.name) is not None
    if call.receiver is not None or not call.arguments or call.arguments[0].kind() not in _TEXTS:
        return None
    if not is_test and not _CONTAINER.fullmatch(call.name):
        return None
    return _told(_text(call.arguments[0]), block, is_test=is_test, options=options, word=call.name)


def _told(
    name: str, block: SgNode, *, is_test: bool, options: tuple[tuple[str, SgNode], ...] = (), word: str = ""
) -> Told:
    crossed_out = word if word.startswith("x") else name if name.startswith("!") else None
    return Told(name.removeprefix("!"), block, is_test, options, crossed_out)


def _text(node: SgNode) -> str:
    return flat(node).strip('"')


def _runs(told: Told) -> tuple[Running, str | None]:
    if told.crossed_out:
        return Running.NEVER, told.crossed_out
    enabled = told.option("enabled")
    if enabled is not None and constant(enabled) is not True:
        never = constant(enabled) is False
        return (Running.NEVER if never else Running.SOMETIMES), f"enabled = {flat(enabled)}"
    for name in ("enabledIf", "enabledOrReasonIf"):
        if condition := told.option(name):
            body = body_of(condition) if condition.kind() in LAMBDAS else None
            asked = statements(body) if body else []
            never = len(asked) == 1 and constant(asked[0]) is False
            return (Running.NEVER if never else Running.SOMETIMES), f"{name} = {flat(condition)}"
    return Running.ALWAYS, None


def retries(told: Told) -> int | None:
    given = told.option("retries")
    amount = number(given) if given else None
    return int(amount) if amount is not None else None


def timeout(told: Told) -> float | None:
    given = told.option("timeout") or told.option("invocationTimeout")
    return duration(flat(given)) if given else None
