"""Chains that read as sentences: `assertThat(x).isEqualTo(3)`, `x shouldBe 3`, `verify(mock, times(2)).call(3)`."""

import re

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.java import words
from untilproven.guard.languages.java.conditions import claims, equal, stated
from untilproven.guard.languages.java.matchers import matched, of_matcher
from untilproven.guard.languages.java.syntax import (
    LAMBDAS,
    Call,
    bare,
    body_of,
    call_of,
    flat,
    is_literal,
    number,
    statements,
    type_named,
)
from untilproven.guard.languages.java.verifying import verification
from untilproven.guard.languages.syntax import Claim

_LONGEST = 200
_SHOULD = re.compile(r"should(?:Not)?(?:[A-Z]\w*)?")


def chain(call: Call) -> list[Call] | None:
    """From the call that opens a sentence to the last one; None if nothing opens one."""
    links = [call]
    for _ in range(_LONGEST):
        receiver = links[-1].receiver
        inner = (
            call_of(bare(receiver)) if receiver is not None and bare(receiver).kind() != "infix_expression" else None
        )
        if inner is None:
            break
        links.append(inner)
    links.reverse()
    last = len(links) - 1
    opens = next((at for at, link in enumerate(links) if _opens(link, is_last=at == last)), None)
    if opens is None:
        opens = next((at for at, link in enumerate(links[:-1]) if _is_of_its_own(link)), None)
    return links[opens:] if opens is not None else None


def _is_of_its_own(link: Call) -> bool:
    """`assertCart(x).isFull()`"""
    known = words.TOGETHER | words.THROWS | words.HARMLESS
    return link.name.startswith("assert") and link.name not in known


def _opens(link: Call, *, is_last: bool) -> bool:
    if link.name == "that":
        return bool(link.values) and link.receiver is not None
    if link.name in words.OPENERS:
        return bool(link.parts) or link.name.endswith("Exception") or (is_last and link.name == "assertThat")
    if link.name == "verify" and not is_last:
        return bool(link.arguments)
    return link.name == "then" and not is_last and not link.parts and link.receiver is not None


def inside(links: list[Call]) -> tuple[SgNode, ...]:
    """Lambdas handed to links that count for what they assert, and what the sentence is about."""
    if links[0].name in words.THROWS or any(link.name.startswith("isThrownBy") for link in links):
        return ()
    return tuple(part for link in links for part in link.parts)


def of_chain(links: list[Call]) -> list[Assertion]:
    first, rest = links[0], links[1:]
    if first.name == "verify":
        return [verification(first, rest)]
    if len(first.values) >= 2 and first.name == "assertThat":
        return [of_matcher(first)]
    return _of_answer(first, rest) if first.name == "then" else _of_sentence(first, rest)


def _of_sentence(first: Call, rest: list[Call]) -> list[Assertion]:
    about, error_of = _subject(first), _error_of(first)
    found: list[Assertion] = []
    tolerance = None
    text = flat(first.node)
    for at, link in enumerate(rest):
        if link.name in {"isWithin", "isNotWithin"} and link.arguments:
            tolerance = number(link.arguments[0])
            continue
        is_said = link.name == "withMessage" and error_of is not None
        if words.NAVIGATES.fullmatch(link.name) and not (is_said or (link.name == "isA" and at == len(rest) - 1)):
            if link.name not in {"as", "describedAs", "withFailMessage", "and", "also"}:
                about = f"{about}.{_call_text(link)}"
            continue
        if link.name == "all" and link.block:
            found += _in_block(link.block, first, about, error_of)
            continue
        about = _subject(link) if link.name == "isThrownBy" else about
        claim = _link(link, first, about, error_of)
        if tolerance is not None:
            claim = claim._replace(tolerance=tolerance, strength=Strength.PARTLY)
            tolerance = None
        found.append(claim.asserted(link.node, f"{text}.{_call_text(link)}"))
    if not found and first.block and not rest:
        return _in_block(first.block, first, about, None)
    return found or [stated(_opened(first, about, error_of), first.node)]


def _opened(first: Call, about: str, error_of: str | None) -> Claim:
    """What a sentence says that goes no further."""
    if error_of is not None:
        return Claim(about, Strength.PARTLY if error_of in words.BROAD else Strength.EXACTLY, error=error_of)
    return Claim(about, Strength.NOTHING if first.name in words.OPENERS else Strength.PARTLY)


def _of_answer(first: Call, rest: list[Call]) -> list[Assertion]:
    """`get("/a").then().statusCode(200).body("b", equalTo(3))`"""
    about = flat(first.receiver) if first.receiver else ""
    checks = {"statusCode", "body", "header", "headers", "contentType", "cookie", "statusLine", "time"}
    return [
        Claim(f"{about}.{link.name}", Strength.EXACTLY, ", ".join(flat(value) for value in link.values)).asserted(
            link.node, f"then().{_call_text(link)}"
        )
        for link in rest
        if link.name in checks and link.values
    ]


def _in_block(block: SgNode, first: Call, about: str, error_of: str | None) -> list[Assertion]:
    """`expectThat(x) { isEqualTo(3) }`, `assertThat(x).all { isEqualTo(3) }`"""
    body = body_of(block)
    calls = [call_of(statement) for statement in statements(body)] if body else []
    return [stated(_link(call, first, about, error_of), call.node) for call in calls if call and not call.receiver]


def _call_text(link: Call) -> str:
    text = f"{link.name}({', '.join(flat(value) for value in link.values)})"
    return f"{text} {flat(link.block)}" if link.block else text


def _subject(first: Call) -> str:
    given = first.values[0] if first.values else first.block
    if given is None:
        return flat(first.node)
    body = body_of(given) if given.kind() in LAMBDAS else None
    return " ".join(flat(one).rstrip(";") for one in statements(body)) if body else flat(given)


def _error_of(first: Call) -> str | None:
    """Which error a sentence is about, `Throwable` if it does not say."""
    if first.name == "assertThatExceptionOfType" and first.values:
        return type_named(first.values[0])
    if found := re.fullmatch(r"assertThat(\w+Exception)", first.name):
        return None if found[1] == "NoException" else found[1]
    return "Throwable" if first.name in {"assertThatThrownBy", "assertFailure", "expectCatching"} else None


def _link(link: Call, first: Call, about: str, error_of: str | None) -> Claim:
    given = link.values[0] if link.values else None
    expected = ", ".join(flat(value) for value in link.values) or None
    if link.name == "isThrownBy":
        wide = error_of is None or error_of in words.BROAD
        return Claim(about, Strength.PARTLY if wide else Strength.EXACTLY, error=error_of)
    if link.name == "withMessage":
        return Claim(about, Strength.EXACTLY, expected)
    if error_of is not None and link.name in {"isInstanceOf", "isExactlyInstanceOf", "isA", "hasClass"}:
        error = type_named(given) if given else link.types[0] if link.types else None
        return Claim(about, Strength.PARTLY if error in words.BROAD else Strength.EXACTLY, error=error)
    if link.name in {"isTrue", "isFalse"} and len(first.values) == 1:
        return claims(first.values[0], wanted=link.name == "isTrue")[0]
    if link.name in {"isEqualTo", "isSameAs", "isSameInstanceAs", "equalTo"} and given is not None and first.values:
        claim = equal(first.values[0], given, identical="Same" in link.name)
        plain = flat(bare(first.values[0])) == about
        return claim if plain else Claim(about, Strength.EXACTLY, expected)
    if link.name == "of" and given is not None:
        return Claim(about, Strength.PARTLY, flat(given))
    if link.name in {"isCloseTo", "isNotCloseTo", "isEqualToWithTolerance"} and len(link.values) == 2:
        offset = call_of(link.values[1])
        amount = number(offset.arguments[0]) if offset and offset.arguments else number(link.values[1])
        return Claim(about, Strength.PARTLY, flat(link.values[0]), amount)
    if link.name == "isNotNull" and first.values and is_literal(first.values[0]):
        return Claim(about, Strength.NOTHING)
    return Claim(about, _strength(link.name), expected or _silently(link.name))


def _silently(name: str) -> str | None:
    return {"isNull": "null", "isZero": "0", "isOne": "1", "isEmpty": "empty"}.get(name)


def _strength(name: str) -> Strength:
    if name in {"contains", "is", "any", "isArray", "isObject"} or words.LENGTHS.fullmatch(name):
        return Strength.PARTLY
    if words.EXACT.fullmatch(name):
        return Strength.EXACTLY
    return Strength.SOMETHING if words.WEAK.fullmatch(name) else Strength.PARTLY


def is_infix(name: str) -> bool:
    return _SHOULD.fullmatch(name) is not None


def of_infix(call: Call) -> Assertion:
    """`x shouldBe 3`, `x.shouldHaveSize(3)`, `x should startWith("a")`"""
    subject = call.receiver or call.node
    about, given = flat(subject), call.values[0] if call.values else None
    if call.name in {"shouldBe", "shouldBeEqual", "shouldBeEqualTo", "shouldEqual", "shouldBeSameInstanceAs"} and given:
        tolerant = call_of(bare(given))
        if tolerant and tolerant.name == "plusOrMinus" and tolerant.receiver and tolerant.values:
            claim = Claim(about, Strength.PARTLY, flat(tolerant.receiver), number(tolerant.values[0]))
        else:
            claim = equal(subject, given, identical="Same" in call.name)
        return stated(claim, call.node)
    if call.name == "should" and given is not None and given.kind() not in LAMBDAS:
        return stated(matched(subject, given), call.node)
    if call.name in {"shouldBeTrue", "shouldBeFalse"}:
        return stated(claims(subject, wanted=call.name == "shouldBeTrue")[0], call.node)
    strength = _strength(call.name)
    if is_literal(subject) and strength <= Strength.SOMETHING and about != "null":
        strength = Strength.NOTHING
    return stated(Claim(about, strength, ", ".join(flat(value) for value in call.values) or None), call.node)
