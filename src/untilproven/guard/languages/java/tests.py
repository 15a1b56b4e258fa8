"""What is inside a test."""

import re
from collections.abc import Iterable

import msgspec
from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Declaration, Running, Strength, Test
from untilproven.guard.languages.java import cases, mocks, running, words
from untilproven.guard.languages.java.annotated import Annotation, annotations
from untilproven.guard.languages.java.given import is_given
from untilproven.guard.languages.java.members import MAY_SKIP, Member, Scope, providers
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
_CAUGHT = re.compile(r"(\w+)(?:\s*:\s*\w+\??)?\s*=\s*(?:\w+\.)?catch(?:Throwable|Exception)(?:OfType)?\b")
_SOFT = re.compile(r"(?m)^\s*(?:final\s+)?[\w.]+\s+(\w+)\s*=\s*new (?:\w+\.)*(?:\w*SoftAssertions|SoftAssert)\(\)")
_ABOUT_EQUALITY = re.compile(r"equal|hash|reflexiv|identity|compar", re.IGNORECASE)


def test(declaration: Declaration) -> Test:
    scope = declaration.scope if isinstance(declaration, Member) else None
    node = declaration.node
    marks = [*annotations(node), *_of_parameters(node)]
    body = body_of(node) or node
    found = inside(body, marks, scope, name_of(node))
    around = list(scope.around()) if scope else []
    if not is_given(node, marks, around):
        return found
    is_written = any(not case.startswith("@") for case in _outside(marks, around, name_of(node)))
    return found if is_written else msgspec.structs.replace(found, is_given=True)


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
    text, calls = body.text(), calls_in(body)
    for other in (*(one for each in around for one in each.setups), *_skipping(calls, around)):
        before = walk(body_of(other) or other)
        ways.append((before.running, before.reason))
    if walked.assertions:
        ways += [(Running.NEVER, mark.text) for mark in marks if _takes_failure_for_success(mark)]
    runs, reason = min(ways, key=lambda way: way[0])
    replaced = [*mocks.mocks(calls), *(one for each in around for one in mocks.of_fields(each.fields, text))]
    told = mocks.configured(calls)
    told = set() if told and mocks.is_of_mocks(body) else told
    heard = _heard(walked.assertions, text)
    assertions = mocks.without_echoes([*_expected(marks, body), *heard], told)
    if caught := _CAUGHT.findall(text):
        assertions = tuple(_of_caught(one) if one.about in caught else one for one in assertions)
    if _ABOUT_EQUALITY.search(name):
        assertions = tuple(_of_itself(one) for one in assertions)
    return Test(
        running=runs,
        reason=reason if runs < Running.ALWAYS else None,
        assertions=assertions,
        cases=tuple(_cases(body, calls, marks, around, name)),
        mocks=tuple(dict.fromkeys(replaced)),
        unreached=walked.unreached + len(walked.assertions) - len(heard),
        leaves=walked.leaves,
        retries=running.retries([*marks, *(mark for each in around for mark in annotations(each.node))]),
        timeout=_timeout(marks, calls),
    )


def _heard(asked: list[Assertion], text: str) -> list[Assertion]:
    """Without those that are collected, and told of to nobody: `softly.assertAll()` is missing."""
    soft = [
        name for name in _SOFT.findall(text) if not re.search(rf"\b{name}\s*\.\s*assertAll\b|\b{name}\s*[,)]", text)
    ]
    return [one for one in asked if not one.text.startswith(tuple(f"{name}." for name in soft))] if soft else asked


def _takes_failure_for_success(mark: Annotation) -> bool:
    """`@Test(expected = Throwable.class)`: so is an assertion that fails."""
    given = mark.option("expected", "expectedExceptions") if mark.name == "Test" else None
    return given is not None and type_named(given).rpartition(".")[2] in words.CATCHES_FAIL


def _of_caught(one: Assertion) -> Assertion:
    """`assertThat(thrown).isInstanceOf(X.class)`, of an error that was caught to be looked at: it is to be this one."""
    if one.expected is None or not re.search(r"\.is(?:Exactly)?InstanceOf\(", one.text):
        return one
    error = re.sub(r"(?:::class(?:\.java)?|\.class)$", "", one.expected)
    strength = Strength.PARTLY if error.rpartition(".")[2] in words.BROAD else Strength.EXACTLY
    return msgspec.structs.replace(one, strength=strength, expected=None, error=error)


def _of_itself(one: Assertion) -> Assertion:
    """That a thing equals itself is something to say of `equals`."""
    if one.strength > Strength.NOTHING or one.about != one.expected:
        return one
    return msgspec.structs.replace(one, strength=Strength.SOMETHING)


def _cases(
    body: SgNode, calls: list[Call], marks: list[Annotation], around: Iterable[Scope], name: str
) -> Iterable[str]:
    yield from _outside(marks, around, name)
    yield from cases.in_body(body, calls)


def _outside(marks: list[Annotation], around: Iterable[Scope], name: str) -> Iterable[str]:
    """Cases that it is run with."""
    yield from cases.of_annotations(marks)
    for scope in around:
        yield from cases.of_annotations(scope.given)
        for provider in providers(scope, cases.sources([*marks, *scope.given], name)):
            yield from cases.of_provider(provider)


def _skipping(calls: list[Call], around: Iterable[Scope]) -> Iterable[SgNode]:
    """Functions of its class that it calls, and that may skip it."""
    named = {call.name for call in calls if call.receiver is None}
    found = (one.node for each in around for name in named & each.by_name.keys() for one in each.by_name[name])
    return (node for node in found if MAY_SKIP.search(node.text()))


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
