"""That a mock was called: Mockito's `verify` and MockK's."""

import re

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.java.syntax import Call, body_of, call_of, flat, statements
from untilproven.guard.languages.syntax import Claim, line_of

_MATCHES_ANYTHING = re.compile(
    r"any\w*\(.*\)|(?:ArgumentMatchers|Mockito)\.any\w*\(.*\)|isA\(.*\)|eq\(any.*\)", re.DOTALL
)


def verification(first: Call, rest: list[Call]) -> Assertion:
    """`verify(mock, times(2)).call(3)`"""
    called = rest[0]
    mode = flat(first.values[1]) if len(first.values) > 1 else ""
    claim = _claim(flat(first.values[0]), called, mode)
    return Assertion(flat(rest[-1].node), claim.about, claim.strength, line_of(first.node), claim.expected)


def _claim(mock: str, called: Call, mode: str) -> Claim:
    given = [flat(value) for value in called.values]
    exact = bool(given) and not any(_MATCHES_ANYTHING.fullmatch(value) for value in given)
    strength = Strength.EXACTLY if exact else Strength.PARTLY
    if re.search(r"atLeast\w*\(0\)|atMost\((?:Integer\.MAX_VALUE|\d{3,})\)", mode):
        strength = Strength.NOTHING
    elif re.search(r"atLeast|atMost", mode):
        strength = Strength.PARTLY
    return Claim(f"{mock}.{called.name}", strength, " ".join(filter(None, (mode, f"({', '.join(given)})"))))


def verified(call: Call) -> list[Claim] | None:
    """`verify(exactly = 2) { mock.call(3) }`, `verifyNoInteractions(mock)`, `then(mock).should().call(3)`"""
    if call.name in {"verify", "coVerify", "verifyAll", "verifyOrder", "verifySequence", "coVerifyAll"} and call.block:
        return _called_in(call)
    if call.name in {"verifyNoInteractions", "verifyNoMoreInteractions", "verifyZeroInteractions", "confirmVerified"}:
        return [Claim(flat(value), Strength.PARTLY, call.name) for value in call.values] or None
    before = call_of(call.receiver) if call.receiver else None
    mocked = call_of(before.receiver) if before and before.name == "should" and before.receiver else None
    if mocked is None or mocked.name != "then" or not mocked.arguments:
        return None
    mode = flat(before.arguments[0]) if before and before.arguments else ""
    return [_claim(flat(mocked.arguments[0]), call, mode)]


def _called_in(call: Call) -> list[Claim]:
    mode = " ".join(f"{key} = {flat(value)}" for key, value in call.named)
    if re.search(r"atLeast = 0", mode):
        return [Claim(flat(call.node), Strength.NOTHING)]
    body = body_of(call.block) if call.block else None
    found = []
    for statement in statements(body) if body else []:
        inner = call_of(statement)
        given = [flat(value) for value in inner.values] if inner else []
        exact = bool(given) and not any(_MATCHES_ANYTHING.fullmatch(value) for value in given)
        about = f"{flat(inner.receiver)}.{inner.name}" if inner and inner.receiver else flat(statement)
        expected = " ".join(filter(None, (mode, f"({', '.join(given)})")))
        found.append(Claim(about, Strength.EXACTLY if exact else Strength.PARTLY, expected))
    return found
