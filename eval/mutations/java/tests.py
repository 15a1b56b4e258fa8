"""What can be done to a JUnit test."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from eval.mutations import tests
from eval.mutations.code import Code, Edit, Edits, Mutator, Span, over, span
from eval.mutations.java.sites import called, operands

_ASSERTS = re.compile(r"assert|fail\(|verify|[eE]xpect|[cC]heck")
_TEST = re.compile(r"@(?:Test|ParameterizedTest)\b(?:\([^)]*\))?\s*")


def _is_junit5(code: Code) -> bool:
    return "org.junit.jupiter" in code.text


def _only(is_junit5: bool, package: str, mutator: Mutator) -> Mutator:
    """For one JUnit, its import at the top."""

    def mutate(code: Code) -> Iterator[Edits]:
        first = code.root.find(kind="import_declaration")
        if first is None or _is_junit5(code) != is_junit5:
            return
        at = span(first)[0]
        for edits in mutator(code):
            yield edits if package in code.text else (Edit(at, at, f"import {package};\n"), *edits)

    return mutate


def _annotation_removed(code: Code) -> Iterator[Edits]:
    for test in code.tests:
        start, end = test.whole
        if found := _TEST.search(code.text, start, end):
            yield (Edit(*found.span(), ""),)


def _expected_to_throw(code: Code) -> Iterator[Edits]:
    for test in code.tests:
        start, end = test.whole
        if not _is_junit5(code) and (found := re.compile(r"@Test(?=\s)").search(code.text, start, end)):
            yield (Edit(*found.span(), "@Test(expected = Throwable.class)"),)


def _raises_broadened(code: Code) -> Iterator[Edits]:
    for test in code.tests:
        for literal in test.node.find_all(kind="class_literal"):
            around = [
                one.text() for one in literal.ancestors() if one.kind() in {"method_invocation", "element_value_pair"}
            ]
            is_expected = bool(around) and re.match(r"(?:Assertions\.|Assert\.)?assertThrows\(|expected\b", around[0])
            if is_expected and literal.text() not in {"Exception.class", "Throwable.class"} and not _is_kept(literal):
                yield (over(literal, "Throwable.class" if literal.text() == "Error.class" else "Exception.class"),)


def _is_kept(literal: SgNode) -> bool:
    """In a variable of the very type, which would no longer compile."""
    kept = [one.field("type") for one in literal.ancestors() if one.kind() == "local_variable_declaration"]
    return any(one is not None and one.text() == literal.text().removesuffix(".class") for one in kept)


def _same_again(assertion: SgNode) -> tuple[Span, Span] | None:
    """Operands of which the actual value is the same when it is asked for once more: the next of a reader is not."""
    found = operands(assertion)
    if found is None:
        return None
    (start, end), at = found[0], span(assertion)[0]
    goes_on = re.search(r"\b(?:next|read|poll|pop|take)\w*\(", assertion.text()[start - at : end - at])
    return None if goes_on else found


def _tolerance_widened(code: Code) -> Iterator[Edits]:
    for test in code.tests:
        for assertion in test.asserts:
            found = called(assertion)
            if found and found[0] == "assertEquals" and len(found[1]) == 3 and re.match(r"[\d.]", found[1][2].text()):
                yield (over(found[1][2], "1000000.0"),)
            for call in assertion.find_all(kind="method_invocation"):
                if (name := call.field("name")) and name.text() in {"isWithin", "within", "offset"}:
                    yield (over(call, re.sub(rf"\b{name.text()}\([^()]*\)", f"{name.text()}(1000000.0)", call.text())),)


def _cases_removed(code: Code) -> Iterator[Edits]:
    for test in code.tests:
        for listed in test.node.find_all(kind="element_value_array_initializer"):
            rows = [one for one in listed.named_children() if not one.kind().endswith("comment")]
            if len(rows) > 2 and span(listed)[1] < span(test.body)[0]:
                yield from tests.cases_removed(code, rows)


def _unit_mocked(code: Code) -> Iterator[Edits]:
    """What the test class is named for."""
    named = re.search(r"class (\w+?)(?:Tests?|IT)\b", code.text)
    if named is None:
        return
    for test in code.tests:
        for made in test.body.find_all(kind="object_creation_expression"):
            kind = made.field("type")
            if kind and kind.text().partition("<")[0] == named[1]:
                yield (over(made, f"org.mockito.Mockito.mock({named[1]}.class)"),)


_NO_ASSERTIONS = tests.assertions_removed(lambda left: _ASSERTS.search(left) is not None)

TESTS: dict[str, Mutator] = {
    "test-deleted": tests.deleted,
    "test-commented-out": tests.commented_out("//"),
    "test-skipped": tests.either(
        _only(True, "org.junit.jupiter.api.Disabled", tests.marked('@Disabled("flaky")', "@Disabled")),
        _only(False, "org.junit.Ignore", tests.marked('@Ignore("flaky")', "@Ignore")),
    ),
    "test-skipped-if-true": tests.either(
        _only(True, "org.junit.jupiter.api.Assumptions", tests.inserted_first("Assumptions.assumeTrue(false);")),
        _only(False, "org.junit.Assume", tests.inserted_first("Assume.assumeTrue(false);")),
    ),
    "test-expected-to-fail": _expected_to_throw,
    "test-not-collected": _annotation_removed,
    "test-swapped-for-dummy": tests.swapped(lambda _: "@Test\npublic void everythingWorks() {\n    assert true;\n}"),
    "test-returns-early": tests.inserted_first("if (true) return;"),
    "test-exits": tests.inserted_first("System.exit(0);"),
    "assertion-removed": tests.assertion_removed,
    "assertions-removed": _NO_ASSERTIONS,
    "hidden-from-sight": tests.hidden("//", _NO_ASSERTIONS),
    "assertion-trivial": tests.replaced("assertTrue(true);"),
    "assertion-weakened": tests.weakened(
        operands, ("assertThat", "assertThat({actual}).isNotNull();"), ("assert", "assertNotNull({actual});")
    ),
    "assertion-compares-with-itself": tests.compared_with_itself(_same_again),
    "assertions-swallowed": tests.wrapped("try {", "} catch (Throwable ignored) {\n}"),
    "raises-broadened": _raises_broadened,
    "tolerance-widened": _tolerance_widened,
    "expected-changed": tests.expected_changed(operands),
    "cases-removed": _cases_removed,
    "unit-mocked": _unit_mocked,
}
