"""What is inside a test."""

import re
from collections.abc import Iterable

import msgspec
from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Declaration, Running, Strength, Test
from untilproven.guard.languages.java import cases, mocks, running, words
from untilproven.guard.languages.java.annotated import Annotation, annotations
from untilproven.guard.languages.java.members import Member, Scope, providers
from untilproven.guard.languages.java.syntax import (
    Call,
    body_of,
    calls_in,
    code_in,
    flat,
    name_of,
    statements,
    type_named,
)
from untilproven.guard.languages.java.walking import walk
from untilproven.guard.languages.syntax import Claim

_TIMED = frozenset({"assertTimeout", "assertTimeoutPreemptively", "runTest", "shouldCompleteWithin", "failAfter"})
_MOST_NESTED = 5
_MOST_HELPED = 30
_ABOUT_EQUALITY = re.compile(r"equal|hash|reflexiv|identity|compar", re.IGNORECASE)


def test(declaration: Declaration) -> Test:
    scope = declaration.scope if isinstance(declaration, Member) else None
    node = declaration.node
    marks = [*annotations(node), *_of_parameters(node)]
    body = body_of(node) or node
    return inside(body, marks, scope, name_of(node))


def _of_parameters(node: SgNode) -> Iterable[Annotation]:
    """`@TestParameter({"a", "b"}) String name`"""
    given = node.field("parameters")
    return [mark for one in (code_in(given) if given else ()) for mark in annotations(one)]


def inside(body: SgNode, marks: list[Annotation], scope: Scope | None, name: str) -> Test:
    around = list(scope.around()) if scope else []
    walked = walk(body, lambda called: next((found for each in around if (found := helped(each, called))), ()))
    ways = [(walked.running, walked.reason)]
    helpers = [one.node for each in around for one in each.functions]
    ways.append(running.running([*marks, *(mark for each in around for mark in each.marks)], helpers))
    for setup in (one for each in around for one in each.setups):
        before = walk(body_of(setup) or setup)
        ways.append((before.running, before.reason))
    if walked.assertions:
        ways += [(Running.NEVER, mark.text) for mark in marks if _takes_failure_for_success(mark)]
    runs, reason = min(ways, key=lambda way: way[0])
    text, calls = body.text(), calls_in(body)
    replaced = [*mocks.mocks(calls), *(one for each in around for one in mocks.of_fields(each.fields, text))]
    assertions = mocks.without_echoes([*_expected(marks, body), *walked.assertions], mocks.configured(calls))
    if _ABOUT_EQUALITY.search(name):
        assertions = tuple(_of_itself(one) for one in assertions)
    return Test(
        running=runs,
        reason=reason if runs < Running.ALWAYS else None,
        assertions=assertions,
        cases=tuple(_cases(body, calls, marks, around, name)),
        mocks=tuple(dict.fromkeys(replaced)),
        unreached=walked.unreached,
        leaves=walked.leaves,
        retries=running.retries([*marks, *(mark for each in around for mark in annotations(each.node))]),
        timeout=_timeout(marks, calls),
    )


def _takes_failure_for_success(mark: Annotation) -> bool:
    """`@Test(expected = Throwable.class)`: so is an assertion that fails."""
    given = mark.option("expected", "expectedExceptions") if mark.name == "Test" else None
    return given is not None and type_named(given).rpartition(".")[2] in words.CATCHES_FAIL


def _of_itself(one: Assertion) -> Assertion:
    """That a thing equals itself is something to say of `equals`."""
    if one.strength > Strength.NOTHING or one.about != one.expected:
        return one
    return msgspec.structs.replace(one, strength=Strength.SOMETHING)


def _cases(
    body: SgNode, calls: list[Call], marks: list[Annotation], around: Iterable[Scope], name: str
) -> Iterable[str]:
    yield from cases.of_annotations(marks)
    named = cases.sources(marks, name)
    for scope in around:
        for provider in providers(scope, named):
            yield from cases.of_provider(provider)
    yield from cases.in_body(body, calls)


def helped(scope: Scope, name: str, nested: int = 0) -> tuple[Assertion, ...]:
    """What a function of the class asserts, itself or by others of the class."""
    if name not in scope.by_name or nested > _MOST_NESTED:
        return ()
    if name not in scope.asserting:
        scope.asserting[name] = ()
        bodies = [body for one in scope.by_name[name] if (body := body_of(one.node))]
        walks = [walk(body, lambda called: helped(scope, called, nested + 1)) for body in bodies]
        scope.asserting[name] = tuple(one for walked in walks for one in walked.assertions)[:_MOST_HELPED]
    return scope.asserting[name]


def _timeout(marks: list[Annotation], calls: list[Call]) -> float | None:
    annotated = running.timeout(marks)
    if annotated is not None:
        return annotated
    for call in calls:
        if call.name in _TIMED and call.values:
            given = call.option("timeout") or call.values[0]
            if (seconds := running.duration(flat(given))) is not None:
                return seconds
    return None


def _expected(marks: list[Annotation], body: SgNode) -> Iterable[Assertion]:
    """`@Test(expected = X.class)`"""
    done = statements(body)
    about = flat(done[-1]).rstrip(";") if done else ""
    for mark in marks:
        given = mark.option("expected", "expectedExceptions") if mark.name == "Test" else None
        if given is None or type_named(given) in {"None", "Test.None", "org.junit.Test.None"}:
            continue
        errors = [type_named(one) for one in (code_in(given) if "initializer" in given.kind() else [given])]
        message = mark.option("expectedExceptionsMessageRegExp")
        wide = any(error.rpartition(".")[2] in words.BROAD for error in errors)
        strength = Strength.PARTLY if wide and message is None else Strength.EXACTLY
        claim = Claim(about, strength, flat(message) if message else None, error=" | ".join(errors))
        yield claim.asserted(given, mark.text)
