"""From a chain of calls to the assertions in it."""

import re
from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.javascript.comparing import Claim, compared, is_about_size
from untilproven.guard.languages.javascript.matchers import (
    ASSERTS,
    CHAINED,
    FALSE,
    NEAR,
    RAISING,
    SAYS,
    STRENGTHS,
    TRUE,
)
from untilproven.guard.languages.javascript.nodes import (
    FUNCTIONS,
    Link,
    bare,
    is_constant,
    number_of,
    statements,
    string_of,
    written,
)
from untilproven.guard.languages.javascript.scope import Scope

_ASYMMETRIC = frozenset({"soft", "poll", "element"})
_ASSERTING = frozenset({"assert", "tap", "tape", "QUnit", "chai", "strict", "expect"})
_BARE = frozenset(
    {"strictEqual", "deepStrictEqual", "deepEqual", "notStrictEqual", "equal", "rejects", "throws", "doesNotThrow"}
)
_HELPER = re.compile(
    r"(?:^|[a-z0-9_$])(?:[aA]ssert|[cC]heck|[vV]erify|[eE]xpect)(?:s|ed|ion|ions)?(?:[A-Z_0-9]|$)|^(?:assert|check|verify|expect)"
)
_QUERY = re.compile(r"(?:get|find)(?:All)?By[A-Z]\w*")
_BROAD_ERRORS = frozenset({"Error", "Object", "Function"})
_MOCK_CALLS = re.compile(r"\.mock\.(?:calls|results)\b|\.calls\b")
_ALWAYS = frozenset({'""', "/.*/", "/(?:)/", "/^/", "/$/", "/^.*$/", "/[\\s\\S]*/"})
FAILING = frozenset({"fail", "unreachable"})


class Found(NamedTuple):
    """What a chain claims; `weak` if that counts only where nothing else does."""

    assertion: Assertion
    is_weak: bool = False


def found_in(links: list[Link], scope: Scope, *, is_statement: bool) -> list[Found]:
    """The assertions of a chain."""
    names = [link.name for link in links]
    whole = links[-1].node
    start = names[0]
    if any(link.name in FAILING and link.args is not None for link in links[:2]) and (
        start in _ASSERTING or start in scope.givers or start in FAILING
    ):
        return [Found(_made(whole, written(whole), Strength.SOMETHING), is_weak=True)]
    at = 1 if start in {"chai", "this"} and len(links) > 1 else 0
    if names[at] in {"expect", "expectTypeOf", "should"}:
        return _expecting(links[at:], whole, scope)
    if "should" in names[1:]:
        return _should(links, names.index("should", 1), whole, scope)
    if (spoken := _asserting(links, whole, scope)) is not None:
        return spoken
    if any(link.name == "expect" and link.args is not None for link in links[1:]):
        return [Found(_answered(links, link)) for link in links[1:] if link.name == "expect" and link.args]
    return _saying(links, whole, scope) if is_statement else []


def _expecting(links: list[Link], whole: SgNode, scope: Scope) -> list[Found]:
    first, rest = links[0], links[1:]
    if first.args is None:
        if rest and rest[0].name in _ASYMMETRIC and rest[0].args:
            first, rest = rest[0], rest[1:]
        elif first.name == "should":
            return _should_exist(rest, whole, scope)
        elif rest and rest[0].name == "assert" and rest[0].args:
            return [Found(_made(whole, *_claim("ok", rest[0].args[0], (), scope, is_negated=False)))]
        else:
            return []
    if not first.args and first.name != "expectTypeOf":
        return []
    actual = first.args[0] if first.args else first.node
    return [Found(_matched(actual, rest, whole, scope))]


def _should_exist(rest: list[Link], whole: SgNode, scope: Scope) -> list[Found]:
    """`should.exist(x)`, `should.not.exist(x)`, `should.equal(a, b)`."""
    if not rest or not rest[-1].args:
        return []
    actual, *args = rest[-1].args
    return [Found(_matched(actual, [*rest[:-1], rest[-1]._replace(args=tuple(args))], whole, scope))]


def _should(links: list[Link], at: int, whole: SgNode, scope: Scope) -> list[Found]:
    """`x.should.equal(1)`, and what Cypress makes of it: `cy.get(x).should("have.length", 3)`."""
    about = links[at - 1].node
    if links[at].args is None:
        return [Found(_matched(about, links[at + 1 :], whole, scope))]
    found = []
    for link in links[at:]:
        if link.name not in {"should", "and"} or not link.args:
            continue
        said = string_of(link.args[0])
        if said is None:
            found.append(Found(_made(whole, written(about), Strength.PARTLY)))
            continue
        words = [Link(word, None, link.node) for word in said.split(".")]
        words[-1] = words[-1]._replace(args=link.args[1:])
        found.append(Found(_matched(about, words, link.node, scope)))
    return found


def _matched(actual: SgNode, links: list[Link], whole: SgNode, scope: Scope) -> Assertion:
    """The strongest of what a chain after `expect(actual)` says."""
    is_negated = sum(link.name in {"not", "never"} for link in links) % 2 == 1
    is_rejected = any(link.name == "rejects" and link.args is None for link in links)
    best: Claim | None = None
    for at, link in enumerate(links):
        if link.args is None and (link.name in CHAINED or link.name.startswith("to")):
            continue
        if link.name in {"and", "that", "with", "withContext", "withMessage", "catch", "then", "notify"}:
            continue
        claim = _claim(link.name, actual, link.args or (), scope, is_negated=is_negated)
        if any(word.name == "deep" for word in links[:at]) and link.name in {"include", "property"}:
            claim = claim._replace(strength=Strength.PARTLY)
        if best is None or claim.strength > best.strength:
            best = claim
    if best is None:
        return _made(whole, written(bare(actual)), Strength.NOTHING)
    if is_rejected and best.error is None:
        best = best._replace(error="Error")
    return _made(whole, *best)


def _claim(name: str, actual: SgNode, args: tuple[SgNode, ...], scope: Scope, *, is_negated: bool) -> Claim:
    about = _about(actual)
    strength = STRENGTHS.get(name, Strength.PARTLY)
    first = args[0] if args else None
    if name in RAISING:
        return _raising(name, about, args, is_negated=is_negated)
    if name in NEAR and args:
        return Claim(about, Strength.PARTLY, written(args[0]), tolerance=_tolerance(name, args))
    expected = written(bare(first)) if first is not None else SAYS.get(name)
    says = _truth_asked(name, first)
    if says is not None:
        claim = compared(actual, is_true=says is not is_negated, is_exact=strength == Strength.EXACTLY)
        if claim is not None:
            return claim
    if _is_certain(name, actual, first, about, expected, scope, is_negated=is_negated):
        return Claim(about, Strength.NOTHING, expected)
    if strength == Strength.EXACTLY and is_negated:
        strength = Strength.SOMETHING
    elif strength == Strength.EXACTLY:
        strength = _weight(name, actual, first, strength)
    elif name == "toMatchObject" and expected == "{}":
        strength = Strength.SOMETHING
    return Claim(about, strength, expected)


def _truth_asked(name: str, expected: SgNode | None) -> bool | None:
    """Whether a matcher asks for true, or for false, and nothing else."""
    if expected is not None and expected.kind() in {"true", "false"} and STRENGTHS.get(name) == Strength.EXACTLY:
        return expected.kind() == "true"
    if name in FALSE:
        return False
    return True if name in TRUE else None


def _weight(name: str, actual: SgNode, expected: SgNode | None, strength: Strength) -> Strength:
    """What equality with this value, of this value, rules out."""
    if bare(actual).kind() == "unary_expression" and bare(actual).text().startswith("typeof"):
        return Strength.SOMETHING
    if is_about_size(actual):
        return Strength.PARTLY
    if expected is None:
        return Strength.SOMETHING if name == "toMatchInlineSnapshot" else strength
    if expected.kind() == "call_expression" and expected.text().startswith("expect."):
        text = expected.text()
        return Strength.SOMETHING if text.startswith(("expect.any(", "expect.anything(")) else Strength.PARTLY
    return strength


def _is_certain(
    name: str,
    actual: SgNode,
    first: SgNode | None,
    about: str,
    expected: str | None,
    scope: Scope,
    *,
    is_negated: bool,
) -> bool:
    """Whether it holds whatever the code does."""
    if name in STRENGTHS and is_constant(actual, scope.fixed) and (first is None or is_constant(first, scope.fixed)):
        return True
    if expected is not None and expected in scope.rigged.get(about.partition("(")[0], ()) and "(" in about:
        return not is_negated
    if first is not None and not is_negated and expected == about and STRENGTHS.get(name) == Strength.EXACTLY:
        return True
    if name in {"toBeGreaterThanOrEqual", "least", "gte", "isAtLeast"} and expected == "0" and is_about_size(actual):
        return not is_negated
    return (
        name in {"toMatch", "match", "toContain", "toContainText", "regex"} and expected in _ALWAYS and not is_negated
    )


def _raising(name: str, about: str, args: tuple[SgNode, ...], *, is_negated: bool) -> Claim:
    if is_negated:
        return Claim(about, Strength.SOMETHING)
    if "Snapshot" in name:
        return Claim(about, Strength.EXACTLY, written(args[0]) if args else None, error="Error")
    error = "Error"
    expected: str | None = None
    for at, argument in enumerate(args):
        kind = argument.kind()
        if kind in {"identifier", "member_expression"} and (at == 0 or argument.text()[:1].isupper()):
            error = argument.text()
        elif kind == "new_expression" and (made := argument.field("constructor")):
            error = made.text()
            expected = expected or written(argument)
        elif expected is None and not (
            at == len(args) - 1 > 0 and error == "Error" and name in {"throws", "rejects"} and kind == "string"
        ):
            expected = written(argument)
    exact = (error not in _BROAD_ERRORS and error[:1].isupper()) or (expected is not None and expected not in _ALWAYS)
    exact = exact or not error[:1].isupper()
    return Claim(about, Strength.EXACTLY if exact else Strength.PARTLY, expected, error=error)


def _tolerance(name: str, args: tuple[SgNode, ...]) -> float | None:
    if name == "toBeCloseTo":
        digits = number_of(args[1]) if len(args) > 1 else 2
        return 10**-digits / 2 if digits is not None and abs(digits) < len("0123456789") * 10 else None
    return number_of(args[1]) if len(args) > 1 else None


def _asserting(links: list[Link], whole: SgNode, scope: Scope) -> list[Found] | None:
    """`assert(x)`, `assert.equal(a, b)`, `t.is(a, b)`, `sinon.assert.called(spy)`, `assertEquals(a, b)`; None if none."""
    names = [link.name for link in links]
    last = next((link for link in links if link.args is not None), None)
    if last is None or not last.args:
        return [] if last is not None and names[0] in scope.givers and last.name == "pass" else None
    at = links.index(last)
    before = names[:at]
    if at == 0:
        name = {"assert": "ok", "ok": "ok"}.get(last.name)
        if name is None and last.name in _BARE and len(last.args) > 1:
            name = last.name
        if name is None and last.name.startswith("assert") and len(last.args) > 1:
            short = last.name.removeprefix("assert").lstrip("_")
            name = _known(short[:1].lower() + short[1:])
        if name is None:
            return None
    else:
        asserts = before[-1] in {"assert", "strict"} or before[0] in {"assert", "tap"} or before[0] in scope.givers
        if not asserts or last.name not in ASSERTS or len(before) > len(("chai", "assert", "strict")):
            return None
        name = last.name
    if before[:1] == ["sinon"] or (before[-1:] == ["assert"] and name.startswith("called")):
        return [
            Found(_made(whole, *_claim(name, last.args[0], last.args[1:], scope, is_negated=name.startswith("not"))))
        ]
    return [Found(_made(whole, *_claim(name, last.args[0], last.args[1:], scope, is_negated=False)))]


def _known(name: str) -> str | None:
    return {"equals": "equal", "rejects": "rejects"}.get(name, name if name in ASSERTS else None)


def _answered(links: list[Link], link: Link) -> Assertion:
    """supertest: `.expect(200)`, `.expect("Content-Type", /json/)`, `.expect(response => ...)`."""
    args = [argument for argument in link.args or () if argument.kind() != "identifier" or argument.text() != "done"]
    about = next((one.node for one in links if one.name == "expect"), link.node)
    object_ = about.field("function")
    below = object_.field("object") if object_ is not None else None
    looks_at = written(below) if below is not None else written(about)
    text = f".expect({', '.join(written(argument) for argument in args)})"
    line = link.node.range().end.line + 1
    if not args or args[0].kind() in FUNCTIONS or args[0].kind() == "identifier":
        return Assertion(text, looks_at, Strength.PARTLY, line)
    if len(args) > 1 and args[0].kind() == "string":
        looks_at = f"{looks_at}[{written(args[0])}]"
        args = args[1:]
    return Assertion(text, looks_at, Strength.EXACTLY, line, expected=", ".join(written(one) for one in args))


def _saying(links: list[Link], whole: SgNode, scope: Scope) -> list[Found]:
    """Statements that fail by themselves: helpers by their names, queries of what must be on the screen."""
    calls = [link for link in links if link.args is not None]
    if not calls:
        return []
    last = calls[-1]
    if any(_QUERY.fullmatch(link.name) for link in links[:2]) or (links[0].name == "cy" and last.name == "contains"):
        return [Found(_made(whole, written(whole), Strength.SOMETHING))]
    if last.name in {"check", "uncheck"} and len(links) > 1:
        return []
    if last.name in {"waitForElementToBeRemoved", "done"}:
        return []
    if calls[0].name in scope.helpers or any(_HELPER.search(link.name) for link in calls):
        about = written(last.args[0]) if last.args else written(whole)
        return [Found(_made(whole, about, Strength.PARTLY))]
    return []


def _about(actual: SgNode) -> str:
    """What is looked at; of a function that is called for its error, what it does."""
    actual = bare(actual)
    if actual.kind() in FUNCTIONS:
        inside = statements(actual.field("body"))
        if len(inside) == 1:
            return written(inside[0]).removeprefix("return ").removeprefix("await ")
    return written(actual)


def _made(
    whole: SgNode,
    about: str,
    strength: Strength,
    expected: str | None = None,
    tolerance: float | None = None,
    error: str | None = None,
) -> Assertion:
    return Assertion(written(whole), about, strength, whole.range().start.line + 1, expected, tolerance, error)
