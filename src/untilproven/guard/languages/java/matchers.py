"""Hamcrest's matchers, and those that are used as they are: `assertThat(x, is(3))`, `x should startWith("a")`."""

import re

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.java import words
from untilproven.guard.languages.java.conditions import claims, equal, stated
from untilproven.guard.languages.java.syntax import Call, bare, call_of, flat, is_literal, number, type_named
from untilproven.guard.languages.syntax import Claim

_MATCHERS = re.compile(
    r"is|not|equalTo|nullValue|notNullValue|instanceOf|any|anything|closeTo|contains\w*|has[A-Z]\w*|empty\w*|greaterThan\w*"
    r"|lessThan\w*|startsWith|endsWith|matches\w*|allOf|anyOf|sameInstance|theInstance|every\w*|in|oneOf|isIn|isOneOf|both|either"
)


def of_matcher(call: Call) -> Assertion:
    """`assertThat("message", x, is(3))`"""
    values = call.values
    subject, matcher = values[-2], values[-1]
    if is_literal(values[0]) and len(values) == 2 and call_of(matcher) is None:
        return stated(claims(matcher)[0], call.node)
    return stated(matched(subject, matcher), call.node)


def matched(subject: SgNode, matcher: SgNode, nested: int = 0) -> Claim:
    about = flat(subject)
    call = call_of(bare(matcher))
    if call is None or nested > 20:
        return Claim(about, Strength.PARTLY, flat(matcher))
    given = call.values
    if call.name in {"is", "equalTo", "describedAs", "both", "either", "equals", "be", "sameInstance"} and given:
        if call_of(bare(given[0])) and _is_matcher(given[0]):
            return matched(subject, given[0], nested + 1)
        if flat(given[0]).endswith((".class", "::class")):
            return Claim(about, Strength.SOMETHING, type_named(given[0]))
        return equal(subject, given[0])
    if call.name == "not" and given:
        inner = matched(subject, given[0], nested + 1)
        return Claim(
            about, Strength.SOMETHING if inner.expected in {None, "null", "empty"} else Strength.PARTLY, inner.expected
        )
    if call.name in {"allOf", "anyOf", "and", "or"} and given:
        parts = [matched(subject, one, nested + 1) for one in given]
        best = (min if call.name in {"anyOf", "or"} else max)(parts, key=lambda part: part.strength)
        return (
            best if call.name in {"allOf", "and"} else Claim(about, min(best.strength, Strength.PARTLY), flat(matcher))
        )
    if call.name in {"anything", "any"} and not given:
        return Claim(about, Strength.NOTHING)
    if call.name in {"closeTo", "plusOrMinus"} and len(given) == 2:
        return Claim(about, Strength.PARTLY, flat(given[0]), number(given[1]))
    expected = ", ".join(flat(one) for one in given) or {"nullValue": "null", "empty": "empty"}.get(call.name)
    if words.EXACT.fullmatch(call.name):
        return Claim(about, Strength.EXACTLY, expected)
    return Claim(about, Strength.SOMETHING if words.WEAK.fullmatch(call.name) else Strength.PARTLY, expected)


def _is_matcher(node: SgNode) -> bool:
    call = call_of(bare(node))
    if call is None or _MATCHERS.fullmatch(call.name) is None:
        return False
    return call.receiver is None or flat(call.receiver).endswith("Matchers")
