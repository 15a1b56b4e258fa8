"""Calls that assert: of unittest, pytest, mocks, numpy, pandas, nose, Django, hamcrest, and of helpers."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.python.conditions import actual_first, claims, equality, is_fixed, tolerance
from untilproven.guard.languages.python.names import Names
from untilproven.guard.languages.python.nodes import (
    Call,
    bare,
    call_of,
    is_broad,
    parts,
    rewrapped,
    with_items,
    written,
)
from untilproven.guard.languages.syntax import Claim

_TRUE = frozenset({"asserttrue", "assert", "ok", "failunless", "assertthattrue"})
_FALSE = frozenset({"assertfalse", "failif"})
_EQUAL = re.compile(
    r"assert(?:list|dict|set|tuple|sequence|multiline|count|items|array|frame|series|index|extensionarray|string|xml|html"
    r"|json|queryset|datetimearray|numpyarray)?equals?|eq|failunlessequal|compare|asserteq|assertis"
    r"|assertmatchsnapshot"
)
_CLOSE = re.compile(r"assert(?:array)?(?:not)?almostequals?|assertallclose|assert(?:is)?close|assertapprox(?:equal)?")
_KIND = frozenset({"assertisinstance", "assertnotisinstance", "assertissubclass", "assertisnotnone", "assertcallable"})
_ABOUT_SECOND = frozenset({"assertin", "assertnotin"})
_ABOUT_FIRST = re.compile(
    r"assert(?:greater|less)(?:equal)?|assertnot(?:equals?|regex)|assertisnot|assert(?:not)?regex|assertregexpmatches"
    r"|assertcontains|assertnotcontains|assertstartswith|assertendswith|assertarrayless"
)
_ERRORS = re.compile(
    r"raises|raisesgroup|warns|deprecatedcall|assertraises(?:regexp?|message|group)?|assertwarns(?:regex|message)?"
    r"|assertproduceswarning|assertdeprecated\w*"
)
_CALLED_WITH = re.compile(r"assert(?:called|awaited)(?:once)?with")
_CALLED = re.compile(r"assert(?:not)?(?:called|awaited)(?:once)?|assertany(?:call|await)|asserthas(?:calls|awaits)")
_LINES = re.compile(r"(?:no_)?(?:fnmatch|re_match)_lines?(?:_random)?")
_MATCHER_EQUAL = re.compile(r"equal_to|is_|equals?|is_equal_to|to_equal|to_be|eq|same_instance|to_have_\w+|have_\w+")
_MATCHER_WEAK = re.compile(r"not_none|anything|instance_of|is_not_none|is_instance_of|is_true|is_not_empty|to_be_\w+")
_HELPER = re.compile(
    r"(?:^|_)(?:assert|check|verify|verifies|expect|checks|asserts|expects)(?:_|$|[A-Z0-9])"
    r"|(?<=[a-z])(?:Assert|Check|Verify|Expect)(?:[A-Z_]|$)"
)
_NO_HELPER = re.compile(r"subprocess\.|check_output$|check_call$|(?:^|\.)check_box|expected?_calls?$")
_ASSERTS = re.compile(r"_*assert|eq_$|compare$")
_LONGEST = 400


def asserted(call: Call, names: Names, *, alone: bool) -> Iterator[Assertion]:
    """What a call asserts; `alone` says that nothing is done with its result."""
    for node, claim in _claims(call, names, alone=alone):
        yield claim.asserted(call.node, written(call.node) if node == call.node else f"{call.name}({written(node)})")


def _claims(call: Call, names: Names, *, alone: bool) -> Iterator[tuple[SgNode, Claim]]:
    short = call.name.replace("_", "").lower()
    first = call.argument(0, "first")
    if _ERRORS.fullmatch(short):
        yield from ((call.node, claim) for claim in _error(call))
    elif short in _TRUE | _FALSE and first:
        found = list(claims(first, names, holds=short in _TRUE))
        yield from ((node if len(found) > 1 else call.node, claim) for node, claim in found)
    elif short == "fail" and call.path in {"pytest.fail", "self.fail", "fail"}:
        yield call.node, Claim(written(call.node), Strength.PARTLY)
    elif _LINES.fullmatch(call.name):
        yield call.node, Claim(written(call.receiver or call.node), Strength.PARTLY, _arguments(call))
    elif chained := _chained(call):
        yield call.node, chained
    elif call.path not in names.inner and _ASSERTS.match(call.name):
        if short not in {"eq", "compare"} or alone:
            yield call.node, _unittest(call, short, names)
    elif alone and call.path not in names.inner and (is_helper(call) or call.path in names.helpers):
        yield call.node, Claim(written(first or call.node), Strength.PARTLY)


def is_helper(call: Call) -> bool:
    """Whether its name says that it looks for something wrong."""
    name = call.path or call.name
    return _HELPER.search(call.name) is not None and _NO_HELPER.search(name) is None


def _unittest(call: Call, short: str, names: Names) -> Claim:  # noqa: C901 -- a table of styles
    first, second = call.argument(0, "first"), call.argument(1, "second")
    if short == "assertthat" and first and second:
        matcher = call_of(bare(second))
        return Claim(written(first), _matched(matcher.name if matcher else ""), written(second))
    if _CALLED_WITH.fullmatch(short):
        return Claim(written(call.receiver or call.node), Strength.EXACTLY, _arguments(call))
    if _CALLED.fullmatch(short):
        return Claim(written(call.receiver or call.node), Strength.PARTLY, _arguments(call) or None)
    if short == "assertisnone" and first:
        constant = bare(first).kind() == "none"
        return Claim(written(first), Strength.NOTHING if constant else Strength.EXACTLY, "None")
    if short in _KIND and first:
        constant = short != "assertisinstance" and is_fixed(first, names.constants)
        strength = Strength.NOTHING if constant or (second and written(second) == "object") else Strength.SOMETHING
        return Claim(written(first), strength, written(second) if second else None)
    if not first or not second:
        return Claim(written(first or call.receiver or call.node), Strength.PARTLY)
    if _EQUAL.fullmatch(short):
        claim = equality(first, second, names)
        return claim._replace(tolerance=tolerance(call) or claim.tolerance)
    if _CLOSE.fullmatch(short):
        about, expected = actual_first(first, second, names.constants)
        same = written(first) == written(second) or (is_fixed(about, names.constants) and "not" not in short)
        third = {"places": call.positional[2]} if len(call.positional) > 2 else {}
        allowed = tolerance(call._replace(named=third | call.named))
        return Claim(written(about), Strength.NOTHING if same else Strength.PARTLY, written(expected), allowed)
    if short in _ABOUT_SECOND:
        if is_fixed(first, names.constants) and is_fixed(second, names.constants):
            return Claim(written(second), Strength.NOTHING, written(first))
        about, expected = (first, second) if is_fixed(second, names.constants) else (second, first)
        return Claim(written(about), Strength.PARTLY, written(expected))
    if _ABOUT_FIRST.fullmatch(short):
        about, expected = actual_first(first, second, names.constants)
        fixed = is_fixed(about, names.constants) and is_fixed(expected, names.constants)
        return Claim(written(about), Strength.NOTHING if fixed else Strength.PARTLY, written(expected))
    return Claim(written(first), Strength.PARTLY, written(second))


def _arguments(call: Call) -> str:
    arguments = call.node.field("arguments")
    return written(arguments)[1:-1] if arguments else ""


def _chained(call: Call) -> Claim | None:
    """`assert_that(x).is_equal_to(1)`, `expect(x).to_have_text("a")`, `data_regression.check(x)`."""
    receiver = bare(call.receiver) if call.receiver else None
    for _ in range(6):
        start = call_of(receiver)
        if start is None and receiver and receiver.kind() == "attribute":
            receiver = receiver.field("object")
            continue
        if start and start.name in {"assert_that", "expect", "assertThat", "should"} and start.positional:
            inner = call_of(bare(call.positional[0])) if call.positional else None
            strength = _matched(inner.name if inner and call.name in {"to", "should"} else call.name)
            return Claim(written(start.positional[0]), strength, _arguments(call) or None)
        receiver = bare(start.receiver) if start and start.receiver else None
    if call.name == "check" and call.path.endswith("_regression.check") and call.positional:
        return Claim(written(call.positional[0]), Strength.EXACTLY)
    return None


def _matched(name: str) -> Strength:
    if _MATCHER_WEAK.fullmatch(name):
        return Strength.SOMETHING
    return Strength.EXACTLY if _MATCHER_EQUAL.fullmatch(name) else Strength.PARTLY


def _error(call: Call) -> Iterator[Claim]:
    """`about` is what was called, or what stands in the `with` block."""
    error = call.argument(0, "expected_exception") or call.named.get("expected_warning")
    if call.name in {"raises", "warns"} and call.receiver and not call.path.startswith(("pytest.", "nose.", "self.")):
        return
    regex = call.name.lower().endswith(("regex", "regexp", "message"))
    message = call.argument(1) if regex else call.named.get("match")
    rest = call.positional[2 if regex else 1 :]
    about = written(rest[0]) if rest else _block(call.node)
    broad = is_broad(error) or (error is not None and written(error) == "Warning")
    strength = Strength.PARTLY if broad else Strength.EXACTLY
    if (message is None and _raised_by_itself(call.node)) or (error is not None and error.kind() == "none"):
        strength = Strength.NOTHING
    if call.name == "deprecated_call":
        yield Claim(about, Strength.EXACTLY, error="DeprecationWarning")
        return
    yield Claim(about, strength, written(message) if message else None, error=written(error) if error else None)


def _with_around(node: SgNode) -> SgNode | None:
    for around in node.ancestors():
        if around.kind() == "with_statement":
            return around
        if around.kind() not in {"with_item", "as_pattern", "with_clause", "parenthesized_expression"}:
            return None
    return None


def _block(node: SgNode) -> str:
    around = _with_around(node)
    body = around.field("body") if around else None
    return rewrapped(body.text()[:_LONGEST]) if body else written(node)


def _raised_by_itself(node: SgNode) -> bool:
    """The block begins with a `raise` of its own, and nobody looks at what was raised."""
    around = _with_around(node)
    items = list(with_items(around)) if around else []
    if around is None or len(items) != 1 or items[0][1] is not None:
        return False
    inside = parts(around.field("body"))
    return bool(inside) and inside[0].kind() == "raise_statement"
