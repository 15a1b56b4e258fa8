"""Through the body of a test, in order: what it asserts, what of that can fail, how it ends."""

import re
from collections.abc import Callable, Iterable

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.java import words
from untilproven.guard.languages.java.annotated import modifiers
from untilproven.guard.languages.java.assertions import asserted, text_of
from untilproven.guard.languages.java.conditions import claims, constant, stated
from untilproven.guard.languages.java.course import Place, Walked
from untilproven.guard.languages.java.flow import ASSUMES, JUMPS, assumption, branches, ends, settled, thrown_by
from untilproven.guard.languages.java.handling import handler_of, swallows
from untilproven.guard.languages.java.syntax import (
    BLOCKS,
    CALLS,
    CATCHES,
    IFS,
    LAMBDAS,
    TRIES,
    TYPES,
    Call,
    call_of,
    code_in,
    flat,
    name_of,
    statements,
    unwrapped,
)
from untilproven.guard.languages.syntax import Claim

_LOOPS = frozenset({"for_statement", "enhanced_for_statement", "while_statement"})
_EMPTY = re.compile(
    r"(?:(?:Collections\.)?empty(?:List|Set|Map|Array)|List\.of|Set\.of|Stream\.of|Arrays\.asList|listOf|setOf|mapOf|arrayOf"
    r"|emptySequence|sequenceOf|Stream\.empty|intArrayOf)(?:<[^()]*>)?\(\)|new \w+(?:\[0\]|\[\] ?\{ ?\}|<.*>\(\))"
)
_WAITS = re.compile(r"awaitTermination|invokeAll|\.close\(|try \(|\.join\(")
_NEVER_AWAITED = frozenset({"runAsync", "supplyAsync"})


Steps = Iterable[tuple[SgNode, Place]]
Helpers = Callable[[str], tuple[Assertion, ...]]


def walk(body: SgNode, helpers: Helpers = lambda _: ()) -> Walked:
    """`helpers` knows what functions of the same class assert, by name."""
    walked, text = Walked(), body.text()
    stack = [(body, Place())]
    while stack:
        node, place = stack.pop()
        kind = node.kind()
        steps: Steps
        if kind in CALLS and (call := call_of(node)):
            steps = _called(call, place, walked, helpers)
        elif kind in BLOCKS:
            steps = _in_order(node, place)
        elif kind in IFS:
            steps = _branches(node, place)
        elif kind in TRIES:
            steps = _attempt(node, place, walked)
        elif kind in JUMPS:
            steps = _jump(node, place, walked)
        elif kind == "elvis_expression":
            steps = _otherwise(node, place)
        else:
            if kind == "assert_statement":
                walked.note(_stated(node), place)
            inside = _inside(node, kind, place, text)
            steps = [(child, inside) for child in code_in(node)]
        stack.extend(reversed(list(steps)))
    walked.close()
    return walked


def _inside(node: SgNode, kind: str, place: Place, text: str) -> Place:
    if kind in _LOOPS:
        return Place(place.live and not _never_loops(node), place.own, place.under or "a loop")
    if kind in LAMBDAS:
        return _in_lambda(node, place, text)
    if kind in TYPES or kind == "function_declaration":
        used = "override" in modifiers(node) or _is_named_again(name_of(node), text)
        return Place(place.live and used, own=False)
    return Place(place.live, own=False) if kind in {"class_body", "method_declaration"} else place


def _called(call: Call, place: Place, walked: Walked, helpers: Helpers) -> Steps:
    """What of a call is still to be walked through."""
    if words.EXITS.fullmatch(flat(call.node)):
        if place.live:
            walked.leaves = walked.leaves or flat(call.node)
        return ()
    if ASSUMES.fullmatch(call.name) and (assumed := assumption(call)):
        holds, reason = assumed
        if call.name == "assumingThat":
            place = Place(place.live and holds is not False, place.own, place.under or reason)
        elif holds is not True:
            walked.skip(place, reason, certain=holds is False)
        return [(part, place) for part in call.parts]
    if _is_for_nothing(call):
        place = Place(False, own=False)
    helped = _helped(call, place, walked, helpers)
    if found := asserted(call):
        walked.note(found.assertions, place)
        return [(part, place) for part in found.inside]
    if helped or (call.name == "error" and call.receiver is None and bool(place.under)):
        walked.note([stated(Claim(flat(call.node), Strength.PARTLY), call.node)], place)
    return [(part, place) for part in code_in(call.node)]


def _is_for_nothing(call: Call) -> bool:
    """What it is handed is never run, or nobody waits for it."""
    if call.name in {"forEach", "onEach"} and call.receiver:
        return _EMPTY.fullmatch(flat(call.receiver)) is not None
    if call.name == "submit" and (kept := _kept_as(call.node)):
        return not _is_waited_for(kept, _method_of(call.node).text())
    return call.name in _NEVER_AWAITED and _is_dropped(call.node)


def _method_of(node: SgNode) -> SgNode:
    return next((above for above in node.ancestors() if above.kind() == "method_declaration"), node)


def _kept_as(node: SgNode) -> str | None:
    """The variable that is given what a call answers."""
    parent = node.parent()
    return name_of(parent) if parent is not None and parent.kind() == "variable_declarator" else None


def _is_waited_for(name: str, text: str) -> bool:
    return _is_named_again(name, text) or _WAITS.search(text) is not None


def _helped(call: Call, place: Place, walked: Walked, helpers: Helpers) -> bool:
    """Whether a function of the same class asserts; if it is the first call of it, what."""
    is_own = (call.receiver is None or call.receiver.text() == "this") and call.name not in words.KNOWN
    found = helpers(call.name) if is_own else ()
    if found and call.name not in walked.helped:
        walked.helped.add(call.name)
        walked.note(found, place)
    return bool(found)


def _is_checked(place: Place) -> bool:
    """What is thrown here, or stated to be wrong, depends on a condition of the test itself."""
    return place.own and bool(place.under) and not place.under.startswith(("catch", "a loop"))


def _is_dropped(node: SgNode) -> bool:
    parent = node.parent()
    return parent is not None and parent.kind() in {"expression_statement", "statements"}


def _jump(node: SgNode, place: Place, walked: Walked) -> Steps:
    text = flat(node).rstrip(";")
    thrown = thrown_by(node)
    if thrown and words.SKIPPED.fullmatch(thrown):
        walked.skip(place, text)
    elif thrown and (words.FAILED.fullmatch(thrown) or _is_checked(place)):
        walked.note([stated(Claim(place.under or "fail", Strength.PARTLY), node)], place)
    elif text == "return":
        walked.end(Place(place.live, own=True, under=place.under) if node.kind() == "jump_expression" else place, text)
    elif re.fullmatch(r"return@\w+|return@?\w* (?:null|Unit)", text):
        walked.end(place, text)
    return [(child, place) for child in code_in(node)]


def _otherwise(node: SgNode, place: Place) -> Steps:
    parts = code_in(node)
    for part in parts:
        yield part, place if part == parts[0] else Place(place.live, place.own, f"{flat(parts[0])} == null")


def _in_order(block: SgNode, place: Place) -> Steps:
    parts = code_in(block)
    for at, statement in enumerate(parts):
        idle = statement.kind() == "lambda_literal" and at < len(parts) - 1
        """A lambda that nobody is handed."""
        yield statement, Place(False, False) if idle else place
        if place.live and ends(statement):
            place = Place(False, place.own, place.under)


def _branches(node: SgNode, place: Place) -> Steps:
    condition, then, otherwise = branches(node)
    value = settled(condition) if condition else None
    asked = flat(condition) if condition else ""
    if condition:
        yield condition, place
    if then:
        yield then, Place(place.live and value is not False, place.own, place.under if value else asked)
    if otherwise:
        yield (
            otherwise,
            Place(place.live and value is not True, place.own, place.under if value is False else f"!({asked})"),
        )


def _never_loops(loop: SgNode) -> bool:
    parts = code_in(loop)
    if loop.kind() == "while_statement":
        return bool(parts) and constant(parts[0]) is False
    return len(parts) > 1 and any(_EMPTY.fullmatch(flat(part)) for part in parts[1:-1])


def _in_lambda(node: SgNode, place: Place, text: str) -> Place:
    """A function of a test that is kept in a variable and never named again is never run; what is the whole body of
    a test, as in `= runTest { }`, is the test."""
    parent = node.parent()
    if parent and parent.kind() in {"variable_declarator", "property_declaration"}:
        of = (
            parent
            if parent.kind() == "variable_declarator"
            else next((one for one in code_in(parent) if one.kind() == "variable_declaration"), parent)
        )
        return Place(place.live and _is_named_again(name_of(of), text), own=False)
    return Place(place.live, place.own and _is_whole_body(node), place.under)


def _is_whole_body(node: SgNode) -> bool:
    for above in node.ancestors():
        if above.kind() in {"function_body", "lambda_literal"}:
            return above.kind() == "function_body" and len(statements(above)) == 1
        if above.kind() in {"value_argument", "property_declaration", "argument_list"}:
            return False
    return True


def _is_named_again(name: str, text: str) -> bool:
    return len(re.findall(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text)) > 1


def _stated(node: SgNode) -> list[Assertion]:
    parts = code_in(node)
    return [stated(claim, node) for claim in claims(parts[0])] if parts else []


def _attempt(node: SgNode, place: Place, walked: Walked) -> Steps:
    caught = [handler_of(child) for child in code_in(node) if child.kind() in CATCHES]
    parts = [child for child in code_in(node) if child.kind() not in CATCHES]
    tried = next((child for child in parts if child.kind() in {"block", "statements"}), None)
    done = statements(tried) if tried else []
    expects = bool(done) and bool(caught) and _fails(done[-1])
    hidden = any(swallows(handler, expects=expects) for handler in caught) or any(map(_overrides, parts))
    if expects and not hidden:
        error = " | ".join(handler.errors for handler in caught)
        wide = all(name in words.BROAD for handler in caught for name in handler.names)
        about = text_of(done[:-1])
        claim = Claim(about, Strength.PARTLY if wide else Strength.EXACTLY, error=error)
        walked.note([stated(claim, node)], place)
    if expects:
        parts = [child for child in parts if child != tried] + done[:-1]
        walked.unreached += int(hidden)
    inside = Place(place.live and not hidden, place.own, place.under) if hidden else place
    yield from ((part, place if part.kind() in {"finally_clause", "finally_block"} else inside) for part in parts)
    for handler in caught:
        yield from (
            (one, Place(place.live, place.own, place.under or f"catch ({handler.errors})")) for one in handler.body
        )


def _overrides(part: SgNode) -> bool:
    """A return at last takes the place of whatever was thrown."""
    blocks = code_in(part) if part.kind() in {"finally_clause", "finally_block"} else []
    return any(one.text().startswith("return") for block in blocks for one in statements(block))


def _fails(statement: SgNode) -> bool:
    """`fail()`, or an assertion error thrown by hand."""
    statement = unwrapped(statement)
    thrown = thrown_by(statement)
    call = call_of(statement)
    return bool((thrown and words.FAILED.fullmatch(thrown)) or (call and call.name in words.FAILS))
