"""What can be done to a test in JavaScript or TypeScript."""

import re
from collections.abc import Iterator

from eval.mutations import tests
from eval.mutations.code import Code, Edit, Edits, Mutator, over, span
from eval.mutations.javascript.sites import arguments_of, method_of, operands

_ASSERTS = re.compile(r"expect|assert|should|throws|\bt\.\w+\(")


def _runner(code: Code) -> str:
    if "vitest" in code.text:
        return "vitest"
    return "jest" if "expect(" in code.text and "chai" not in code.text and "request(" not in code.text else "mocha"


def _called(form: str, *runners: str) -> Mutator:
    """The name under which a test is declared; `{was}` is what it was."""

    def mutate(code: Code) -> Iterator[Edits]:
        for test in code.tests:
            called = test.node.field("function")
            if called and called.kind() == "identifier" and (not runners or _runner(code) in runners):
                yield (over(called, form.replace("{was}", called.text())),)

    return mutate


def _not_collected(code: Code) -> Iterator[Edits]:
    for test in code.tests:
        start, end = test.whole
        indent = code.indent(start)
        yield (Edit(start, end, f"const later = () => {{\n{indent}  {code.text[start:end]}\n{indent}}};"),)


def _swapped(code: Code) -> Iterator[Edits]:
    trivial = "expect(true).toBe(true)" if _runner(code) != "mocha" else "if (false) throw new Error()"
    for test in code.tests:
        called = test.node.field("function")
        if called and called.kind() == "identifier":
            yield (Edit(*test.whole, f'{called.text()}("works as it should", () => {{ {trivial}; }});'),)


def _trivial(code: Code) -> Iterator[Edits]:
    for test in code.tests:
        for assertion in test.asserts:
            if assertion.text().startswith(("expect(", "await expect(")):
                yield (over(assertion, "expect(true).toBe(true);"),)
            elif assertion.text().startswith("assert"):
                yield (over(assertion, "assert(true);" if "assert(" in code.text else "assert.ok(true);"),)


def _raises_broadened(code: Code) -> Iterator[Edits]:
    """Not where it is denied: to throw nothing at all is more than not to throw this. Any message has an empty text
    in it."""
    for test in code.tests:
        for assertion in test.asserts:
            for call in assertion.find_all(kind="call_expression") if ".not." not in assertion.text() else ():
                arguments = arguments_of(call)
                said = [argument.text() for argument in arguments]
                if method_of(call) in {"toThrow", "toThrowError"} and arguments and said not in (["''"], ['""']):
                    yield (Edit(span(arguments[0])[0], span(arguments[-1])[1], ""),)
                if method_of(call) in {"throws", "rejects"} and len(arguments) > 1:
                    yield (Edit(span(arguments[0])[1], span(arguments[-1])[1], ""),)


def _tolerance_widened(code: Code) -> Iterator[Edits]:
    for test in code.tests:
        for call in test.body.find_all(kind="call_expression"):
            arguments, listed = arguments_of(call), call.field("arguments")
            if listed and method_of(call) == "toBeCloseTo" and arguments:
                yield (over(listed, f"({arguments[0].text()}, -3)"),)
            if listed and method_of(call) in {"closeTo", "approximately"} and len(arguments) > 1:
                yield (over(listed, f"({', '.join(one.text() for one in arguments[:-1])}, 1000)"),)


def _cases_removed(code: Code) -> Iterator[Edits]:
    for test in code.tests:
        called = test.node.field("function")
        for array in called.find_all(kind="array") if called and ".each(" in called.text() else ():
            parent = array.parent()
            rows = [one for one in array.named_children() if one.kind() != "comment"]
            if parent and parent.kind() == "arguments" and len(rows) > 2:
                yield from tests.cases_removed(code, rows)


def _unit_mocked(code: Code) -> Iterator[Edits]:
    """A module of the project that the test file loads, and that a test calls something of."""
    double = {"vitest": "vi", "jest": "jest"}.get(_runner(code))
    bodies = "\n".join(test.body.text() for test in code.tests)
    loads = re.findall(
        r"""^(?:import (.*) from |(?:const|let|var) (.*)= ?require\()["'](\.[^"']+)["']""", code.text, re.MULTILINE
    )
    modules = [
        module
        for one, other, module in loads
        if any(re.search(rf"(?<![\w.$]){name}(?:\.\w+)*\(", bodies) for name in re.findall(r"\w+", one or other))
    ]
    last = [one for one in code.root.children() if one.kind() == "import_statement" or "require(" in one.text()[:200]]
    if double and last and code.tests:
        for module in modules:
            at = span(last[-1])[1]
            yield (Edit(at, at, f'\n{double}.mock("{module}");'),)


def _run_subverted(code: Code) -> Iterator[Edits]:
    """Before the first test of the file."""
    if not code.tests:
        return
    at = min(_top(code, test.whole[0]) for test in code.tests)
    if re.search(r"""from ["']vitest["']""", code.text):
        skips = 'import { beforeEach as first } from "vitest";\nfirst((context) => context.skip());\n'
        yield (Edit(at, at, skips),)
    elif not re.search(r"""["'](?:node:test|@jest/globals|mocha)["']""", code.text):
        called = code.tests[0].node.field("function")
        name = "it" if called and called.text().startswith("it") else "test"
        yield (Edit(at, at, f"globalThis.{name} = globalThis.{name}.skip;\n"),)
        if _runner(code) == "mocha":
            yield (Edit(at, at, "beforeEach(function () { this.skip(); });\n"),)


def _top(code: Code, at: int) -> int:
    """Where the statement of the file begins in which that place is."""
    return max(span(one)[0] for one in code.root.children() if span(one)[0] <= at)


_NO_ASSERTIONS = tests.assertions_removed(lambda left: _ASSERTS.search(left) is not None)

TESTS: dict[str, Mutator] = {
    "test-deleted": tests.deleted,
    "test-commented-out": tests.commented_out("//"),
    "test-skipped": tests.either(_called("{was}.skip"), _called("x{was}", "jest", "mocha")),
    "test-skipped-if-true": tests.either(
        _called("const maybe = true ? {was}.skip : {was};\nmaybe"),
        _called("{was}.skipIf(true)", "vitest"),
        tests.inserted_first("if (true) return;"),
    ),
    "test-expected-to-fail": tests.either(
        _called("{was}.failing", "jest"), _called("{was}.fails", "vitest"), _called("{was}.todo", "vitest")
    ),
    "test-not-collected": _not_collected,
    "test-swapped-for-dummy": _swapped,
    "test-returns-early": tests.inserted_first("return;"),
    "test-exits": tests.inserted_first("process.exit(0);"),
    "assertion-removed": tests.assertion_removed,
    "assertions-removed": _NO_ASSERTIONS,
    "hidden-from-sight": tests.hidden("//", _NO_ASSERTIONS),
    "assertion-trivial": _trivial,
    "assertion-weakened": tests.weakened(
        operands, ("expect", "expect({actual}).toBeDefined();"), ("assert.", "assert.ok({actual} !== undefined);")
    ),
    "assertion-compares-with-itself": tests.compared_with_itself(operands),
    "assertions-swallowed": tests.wrapped("try {", "} catch (error) {}"),
    "raises-broadened": _raises_broadened,
    "tolerance-widened": _tolerance_widened,
    "expected-changed": tests.expected_changed(operands),
    "cases-removed": _cases_removed,
    "unit-mocked": _unit_mocked,
    "run-subverted": _run_subverted,
}
