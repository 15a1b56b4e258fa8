"""From a call to what it asserts."""

import re

import msgspec
from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.java import fluent, words
from untilproven.guard.languages.java.conditions import claims, equal, stated
from untilproven.guard.languages.java.syntax import (
    LAMBDAS,
    Call,
    bare,
    body_of,
    call_of,
    code_in,
    flat,
    is_literal,
    number,
    operation,
    statements,
    type_named,
)
from untilproven.guard.languages.java.verifying import verified
from untilproven.guard.languages.syntax import Claim

_STATEMENT_IN = frozenset(
    {
        "expression_statement",
        "statements",
        "function_body",
        "control_structure_body",
        "lambda_expression",
        "switch_rule",
    }
)
_TELLS = re.compile(r"\w*(?:msg|message|reason|description)\w*", re.IGNORECASE)
_TOLERANCE = re.compile(r"\w*(?:delta|epsilon|eps|tolerance|precision)\w*", re.IGNORECASE)


class Found(msgspec.Struct, frozen=True, eq=False):
    assertions: tuple[Assertion, ...]
    inside: tuple[SgNode, ...] = ()
    """Where further ones may be."""


def asserted(call: Call) -> Found | None:
    """None for a call that asserts nothing."""
    if chain := fluent.chain(call):
        return Found(tuple(fluent.of_chain(chain)), fluent.inside(chain))
    name = call.name
    if name in words.TOGETHER:
        return Found((), call.parts + ((call.receiver,) if call.receiver else ()))
    if fluent.is_infix(name) and call.receiver:
        return Found((fluent.of_infix(call),), (call.receiver, *call.parts))
    if name in words.THROWS:
        return Found((_throws(call),))
    if (claimed := _plain(call)) is not None:
        return Found(tuple(stated(claim, call.node) for claim in claimed), call.parts)
    if words.HELPER.fullmatch(name) and (name.startswith("andExpect") or _is_statement(call.node)):
        return Found(
            (stated(_by_name(call), call.node),),
            call.parts + ((call.receiver,) if call.receiver else ()),
        )
    return None


def _is_statement(node: SgNode) -> bool:
    """Nobody takes what comes of it, but for more to be called on it."""
    for parent in node.ancestors():
        if parent.kind() not in {"method_invocation", "call_expression", "navigation_expression"}:
            return parent.kind() in _STATEMENT_IN
    return False


def _by_name(call: Call) -> Claim:
    given = ", ".join(flat(value) for value in call.values)
    return Claim(f"{call.name}({given})" if call.receiver is None else flat(call.node), Strength.PARTLY)


def _plain(call: Call) -> list[Claim] | None:  # noqa: C901, PLR0912 - one branch for each family of words
    name = call.name
    if name in words.EQUAL:
        return _equal(call)
    if name in words.UNEQUAL and len(call.values) >= 2:
        expected, actual, _ = _pair(call)
        return [Claim(flat(actual), Strength.PARTLY, flat(expected))]
    if name in words.TRUE | words.FALSE and (condition := _condition(call)):
        if name in {"check", "require"} and not _is_statement(call.node):
            return None
        return claims(condition, wanted=name not in words.FALSE)
    if name in {"assertNull", "assertNotNull"} and call.values:
        subject = _subject(call)
        if name == "assertNull":
            return [
                equal(subject, subject) if flat(subject) == "null" else Claim(flat(subject), Strength.EXACTLY, "null")
            ]
        constant = is_literal(subject) and flat(subject) != "null"
        return [Claim(flat(subject), Strength.NOTHING if constant else Strength.SOMETHING)]
    if name in {"assertContains", "assertNotContains"} and call.receiver is None and len(call.values) >= 2:
        whole, part = call.values[:2]
        return [Claim(flat(whole), Strength.PARTLY, flat(part))]
    if name in words.OF_TYPE:
        return _of_type(call)
    if name in words.HARMLESS:
        return [Claim(done_by(call), Strength.SOMETHING)]
    if name in words.FAILS and (call.receiver is None or flat(call.receiver).endswith(("Assert", "Assertions"))):
        return [Claim("fail", Strength.PARTLY)]
    if name == "expect" and call.receiver and flat(call.receiver).lower().endswith(("thrown", "exception", "rule")):
        return [_expects(call)] if call.arguments else None
    if name == "expectMessage" and call.arguments:
        return [Claim("message", Strength.PARTLY, flat(call.arguments[0]))]
    if name == "expect" and call.receiver is None and call.block and len(call.arguments) in {1, 2}:
        return [Claim(done_by(call), Strength.EXACTLY, flat(call.arguments[0]))]
    if name == "forAll" and call.receiver is None and call.block:
        return _for_all(call.block)
    return verified(call)


def _for_all(block: SgNode) -> list[Claim] | None:
    """A property that is a condition by itself: `forAll(Arb.int()) { it + 0 == it }`"""
    body = body_of(block)
    said = statements(body)[-1:] if body else []
    return claims(said[0]) if said and (operation(said[0]) or is_literal(said[0])) else None


def _expects(call: Call) -> Claim:
    error = type_named(call.arguments[0])
    return Claim("exception", Strength.PARTLY if error in words.BROAD else Strength.EXACTLY, error=error)


def is_text(node: SgNode) -> bool:
    """A string, or one that is put together."""
    node = bare(node)
    for _ in range(50):
        if "string_literal" in node.kind():
            return True
        applied = operation(node)
        if applied is None or applied[0] != "+" or not applied[1]:
            break
        if any("string_literal" in operand.kind() for operand in applied[1]):
            return True
        node = applied[1][0]
    call = call_of(node)
    return bool(call and call.receiver and flat(call.receiver) == "String" and call.name == "format")


def _says(node: SgNode) -> bool:
    """It is the message of an assertion, not its subject."""
    return is_text(node) or node.kind() in LAMBDAS or _TELLS.fullmatch(flat(node)) is not None


def _condition(call: Call) -> SgNode | None:
    if call.name == "assertThat":
        return None
    if call.values:
        return _subject(call)
    body = body_of(call.block) if call.block else None
    return next(iter(statements(body)[-1:]), None) if body else None


def _subject(call: Call) -> SgNode:
    """What is looked at, with a message before it (JUnit 4) or behind (JUnit 5)."""
    given = call.option("actual") or call.option("value")
    if given is not None:
        return given
    values = call.values
    return (
        values[1]
        if len(values) == 2 and _says(values[0]) and not (_says(values[1]) and not is_text(values[0]))
        else values[0]
    )


def _pair(call: Call) -> tuple[SgNode, SgNode, SgNode | None]:
    """Expected, actual, and what may be a tolerance."""
    expected, actual = call.option("expected"), call.option("actual")
    plain = list(call.arguments)
    tolerance = call.option("absoluteTolerance") or call.option("delta")
    if len(plain) >= 3 and is_text(plain[0]) and not _says(plain[2]):
        plain = plain[1:]
    if len(plain) >= 3 and not is_text(plain[2]) and plain[2].kind() not in LAMBDAS:
        tolerance = plain[2]
    values = plain + [value for key, value in call.named if key not in {"message", "absoluteTolerance"}]
    return expected or values[0], actual or values[1], tolerance


def _equal(call: Call) -> list[Claim] | None:
    if len(call.values) < 2:
        if call.block and call.values:
            return [Claim(done_by(call), Strength.EXACTLY, flat(call.values[0]))]
        return None
    expected, actual, tolerance = _pair(call)
    claim = equal(actual, expected, identical=call.name == "assertSame")
    if tolerance is None or claim.strength < Strength.EXACTLY:
        return [claim]
    amount = number(tolerance)
    if amount is None and not _TOLERANCE.fullmatch(flat(tolerance).rpartition(".")[2]):
        if not _says(tolerance):
            claim = equal(tolerance, actual)
        return [claim]
    return [claim._replace(strength=Strength.EXACTLY if amount == 0 else Strength.PARTLY, tolerance=amount)]


def _of_type(call: Call) -> list[Claim] | None:
    values = call.values
    if not values:
        return None
    expected = call.types[0] if call.types else type_named(values[0])
    about = values[0] if call.types or len(values) == 1 else values[1]
    return [Claim(flat(about), Strength.SOMETHING, expected)]


def done_by(call: Call) -> str:
    """What a lambda handed over does, as written."""
    block = call.block or next((value for value in call.values if value.kind() in LAMBDAS), None)
    if block is None:
        return flat(call.values[-1]) if call.values else flat(call.node)
    return text_of_body(block)


def text_of_body(block: SgNode) -> str:
    body = body_of(block)
    return text_of(statements(body)) if body else ""


def text_of(done: list[SgNode]) -> str:
    """The last thing that is done; what leads there may stand before as well. Where its result goes is left out."""
    if not done:
        return ""
    last = done[-1]
    if last.kind() in {"local_variable_declaration", "property_declaration"}:
        declared = next((one for one in code_in(last) if one.kind() == "variable_declarator"), last)
        last = code_in(declared)[-1]
    return flat(last).rstrip(";")


def _throws(call: Call) -> Assertion:
    errors = [type_named(value) for value in call.values if _is_type(value)]
    error = call.types[0] if call.types else errors[0] if errors else None
    expected = next((flat(value) for value in call.values if is_text(value)), None) if "Message" in call.name else None
    broad = error is None or error.rpartition(".")[2] in words.BROAD or call.name.startswith("shouldThrowAny")
    exact = not broad or expected is not None
    claim = Claim(done_by(call), Strength.EXACTLY if exact else Strength.PARTLY, expected, error=error)
    return stated(claim, call.node)


def _is_type(node: SgNode) -> bool:
    return node.kind() == "class_literal" or flat(node).endswith(("::class", "::class.java", ".class"))
