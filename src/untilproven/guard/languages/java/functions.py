"""What is inside a function that is no test."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.facts import Declaration, Function, Handler
from untilproven.guard.languages.java import words
from untilproven.guard.languages.java.annotated import annotations, modifiers
from untilproven.guard.languages.java.answers import answers
from untilproven.guard.languages.java.asking import asks_if_tested
from untilproven.guard.languages.java.flow import branches, thrown_by
from untilproven.guard.languages.java.handling import Caught, as_fact, handler_of
from untilproven.guard.languages.java.syntax import (
    CATCHES,
    FUNCTIONS,
    IFS,
    Call,
    bare,
    below,
    body_of,
    call_of,
    code_in,
    flat,
    name_of,
    statements,
    unwrapped,
)
from untilproven.guard.languages.syntax import Nodes, line_of

_VALIDATES = re.compile(r"(?:validate|sanitize|sanitise|requireNonNull|escape|authorize|authenticate)(?:[A-Z]\w*)?")
_VALIDATES_ALONE = re.compile(
    r"(?:require|check|ensure|verify)(?:[A-Z]\w*)?|notNull|notEmpty|isTrue|hasText|inclusiveBetween|validState"
)
_VALIDATORS = re.compile(r"(?:\w+\.)*(?:Validate|Assert|\w*Preconditions|Checks|Verify)")
_REFERENCES = frozenset({"method_reference", "callable_reference"})
_FOR_EACH = frozenset({"forEach", "forEachOrdered", "onEach", "peek"})
_EMPTY = re.compile(
    r"null|\"\"|(?:Optional\w*|Stream|Collections|List|Set|Map|Mono|Flux|ImmutableList|ImmutableSet|ImmutableMap)\.(?:<.*>)?"
    r"(?:empty\w*|of)\(\)|empty\w*(?:<.*>)?\(\)|new \w+<.*>\(\)|new \w+\[0\]|(?:list|set|map|array)Of(?:<.*>)?\(\)"
)
_LATER = frozenset({"lambda_expression", "class_body"})
"""What is done in these is not done by the function itself."""
_NOT_THERE = re.compile(r"(?:\w+\.)*NotImplemented(?:Error|Exception)|(?:\w+\.)*NotYetImplementedException")
_UNSUPPORTED = re.compile(
    r"(?:\w+\.)*(?:UnsupportedOperationException|IllegalStateException|RuntimeException|AssertionError|Error)"
)


def function(declaration: Declaration) -> Function:
    node = declaration.node
    body = body_of(node)
    if body is None:
        return Function()
    nodes = Nodes(lambda: below(body))
    return Function(
        guards=_guards(nodes),
        raises=_raises(body, nodes),
        handlers=_handlers(nodes),
        stub=lambda: None if _is_left_open(node) else _stub(node, body) or _stub_within(nodes),
        left_open=lambda: _stub(node, body) if _is_left_open(node) else None,
        answers=answers(node, nodes),
        asks_if_tested=asks_if_tested(body),
        returns_nothing=lambda: sum(1 for said in _said(body, nodes) if _EMPTY.fullmatch(flat(said))),
        always_equal=lambda: _always_equal(node, body, nodes),
    )


def _caught(nodes: Nodes) -> list[Caught]:
    return [handler_of(one) for one in nodes if one.kind() in CATCHES]


def _raises(body: SgNode, nodes: Nodes) -> Iterator[str]:
    by_variable = {one.variable: one.errors for one in _caught(nodes)}
    for one in below(body, stop=_LATER):
        if name := thrown_by(one):
            yield by_variable.get(name) or _error(name)


def _handlers(nodes: Nodes) -> Iterator[Handler]:
    yield from map(as_fact, _caught(nodes))
    yield from _dropped(nodes)


def _error(thrown: str) -> str:
    """What a function or a variable holds is not known by its name."""
    return thrown if thrown.rpartition(".")[2][:1].isupper() else "Throwable"


def _guards(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        if node.kind() in IFS:
            condition, then, _ = branches(node)
            if condition and then and _refuses(then):
                yield flat(condition)
        elif node.kind() == "elvis_expression":
            parts = code_in(node)
            if len(parts) == 2 and thrown_by(parts[1]):
                yield flat(node)
        elif node.kind() in _REFERENCES:
            if _refers_to_validation(node):
                yield flat(node)
        elif (call := call_of(node)) and _validates(call):
            yield flat(node)


def _refuses(then: SgNode) -> bool:
    done = statements(then)
    return 0 < len(done) <= 3 and thrown_by(done[-1]) is not None


def _refers_to_validation(node: SgNode) -> bool:
    """`items.forEach(this::validate)`."""
    owner, _, name = flat(node).rpartition("::")
    if _VALIDATES.fullmatch(name) or _VALIDATORS.fullmatch(owner):
        return True
    given_to = next((call.name for one in node.ancestors() if (call := call_of(one))), "")
    return given_to in _FOR_EACH and _VALIDATES_ALONE.fullmatch(name) is not None


def _validates(call: Call) -> bool:
    if call.receiver and _VALIDATORS.fullmatch(flat(call.receiver)):
        return bool(call.parts)
    if _VALIDATES.fullmatch(call.name):
        return True
    parent = call.node.parent()
    alone = parent is not None and parent.kind() in {"expression_statement", "statements", "control_structure_body"}
    return alone and bool(call.parts) and _VALIDATES_ALONE.fullmatch(call.name) is not None


def _dropped(nodes: Nodes) -> Iterator[Handler]:
    """`runCatching { }` whose result nobody takes."""
    for node in nodes:
        call = call_of(node)
        if call is None or call.name != "runCatching" or not call.block:
            continue
        parent = node.parent()
        if parent and parent.kind() == "statements" and code_in(parent)[-1] != node:
            yield Handler("", is_broad=True, is_silent=True, line=line_of(node))


def _stub(node: SgNode, body: SgNode) -> str | None:
    done = statements(body)
    for statement in done:
        one = unwrapped(statement)
        call = call_of(one)
        if call and call.receiver is None and (call.name == "TODO" or (call.name == "error" and _admits(one))):
            return flat(one)
        thrown = thrown_by(one)
        if thrown and (_NOT_THERE.fullmatch(thrown) or (_UNSUPPORTED.fullmatch(thrown) and _admits(one))):
            return flat(one).rstrip(";")
        if thrown == "UnsupportedOperationException" and len(done) == 1 and _is_bare(one) and not _is_override(node):
            return flat(one).rstrip(";")
    return None


def _is_left_open(node: SgNode) -> bool:
    """An operation of an interface that whoever implements it may have or not."""
    around = next((one for one in node.ancestors() if one.kind().endswith(("_declaration", "_expression"))), None)
    return around is not None and around.kind() == "interface_declaration" and "default" in modifiers(node)


def _stub_within(nodes: Nodes) -> str | None:
    """Of a class without a name that the function makes."""
    within = (one for one in nodes if one.kind() in FUNCTIONS)
    return next((stub for one in within if (body := body_of(one)) and (stub := _stub(one, body))), None)


def _admits(node: SgNode) -> bool:
    """It says that it is not done yet."""
    texts = node.find_all(kind="string_literal")
    return any(words.NOT_YET.search(one.text()) for one in texts)


def _is_bare(thrown: SgNode) -> bool:
    return flat(thrown).rstrip(";").endswith("UnsupportedOperationException()")


def _is_override(node: SgNode) -> bool:
    """It was asked for by somebody else, or is no function that does anything."""
    marks = {one.name for one in annotations(node)}
    return bool(marks & {"Override", "Deprecated"}) or "override" in modifiers(node) or "constructor" in node.kind()


def _said(body: SgNode, nodes: Nodes) -> Iterator[SgNode]:
    """What it returns."""
    for node in nodes:
        if node.kind() == "return_statement" or (node.kind() == "jump_expression" and node.text().startswith("return")):
            yield from (bare(one) for one in code_in(node)[-1:] if one.kind() != "label")
    if body.kind() == "function_body" and body.children() and body.children()[0].kind() == "=":
        yield from (bare(one) for one in code_in(body)[-1:])


def _always_equal(node: SgNode, body: SgNode, nodes: Nodes) -> bool:
    name = name_of(node)
    said = [flat(one) for one in _said(body, nodes)] if name in {"equals", "compareTo", "compare"} else []
    if name == "equals":
        return bool(said) and set(said) == {"true"}
    return name in {"compareTo", "compare"} and said == ["0"] and len(statements(body)) == 1
