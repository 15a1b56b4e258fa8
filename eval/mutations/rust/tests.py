"""What can be done to a Rust test."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from eval.mutations import tests
from eval.mutations.code import Code, Edit, Edits, Mutator, over, span
from eval.mutations.rust.sites import macro, operands

_ASSERTS = re.compile(r"assert|eqnice|unwrap|expect|panic|\?;|[cC]heck|[vV]erify")
_ERROR = re.compile(r"matches!\(\s*(.+?),\s*Err\(.+\)\s*\)", re.DOTALL)
_SHOULD_PANIC = re.compile(r"#\[should_panic\(expected = .*\)\]")
_TEST = re.compile(r"#\[(?:\w+::)*test(?:\(.*\))?\]\n?[ \t]*")
_WITHIN = re.compile(r"(<=?\s*)(?:[\w:]*EPSILON|\d+(?:\.\d+)?(?:e-?\d+)?)(?=\s*[,)])")


def _attribute(pattern: re.Pattern[str], text: str) -> Mutator:
    """Something before a test, replaced."""

    def mutate(code: Code) -> Iterator[Edits]:
        for test in code.tests:
            start, end = test.whole[0], span(test.node)[0]
            if found := pattern.search(code.text, start, end):
                yield (Edit(*found.span(), text),)

    return mutate


def _expected_to_fail(code: Code) -> Iterator[Edits]:
    for edits in tests.marked("#[should_panic]")(code):
        if not code.text.startswith("#[should_panic", code.text.find("#[", edits[0].end + 1)):
            yield edits


def _trivial(code: Code) -> Iterator[Edits]:
    for test in code.tests:
        for assertion in test.asserts:
            found = macro(assertion)
            semicolon = ";" if assertion.text().endswith(";") else ""
            if found and found[2] and "assert!(true" not in assertion.text():
                yield (over(assertion, f"assert!(true){semicolon}"),)
                if found[0] == "assert" and len(found[2]) == 1:
                    yield (over(found[1], f"({code.text[slice(*found[2][0])]} || true)"),)


def _raises_broadened(code: Code) -> Iterator[Edits]:
    yield from _attribute(_SHOULD_PANIC, "#[should_panic]")(code)
    for test in code.tests:
        for assertion in test.asserts:
            if found := _ERROR.search(assertion.text()):
                start, _ = span(assertion)
                yield (Edit(start + found.start(), start + found.end(), f"{found[1]}.is_err()"),)


def _tolerance_widened(code: Code) -> Iterator[Edits]:
    for test in code.tests:
        for assertion in test.asserts:
            found = _WITHIN.search(assertion.text()) if ".abs()" in assertion.text() else None
            if found:
                start, _ = span(assertion)
                yield (Edit(start + found.start(), start + found.end(), f"{found[1]}1000000.0"),)


def _cases_removed(code: Code) -> Iterator[Edits]:
    """Of an array, or of a vector that a macro makes, that the test goes through: other data are no cases."""
    for test in code.tests:
        for array in test.body.find_all(kind="array_expression"):
            rows = [one for one in array.named_children() if one.kind() == "tuple_expression"]
            if len(rows) > 2 and _is_looped(array):
                yield from tests.cases_removed(code, rows)
        for call in test.body.find_all(kind="macro_invocation"):
            found = macro(call) if call.text().startswith("vec![(") and _is_looped(call) else None
            if found and len(found[2]) > 2:
                yield (Edit(found[2][0][1], found[2][-1][1], ""),)


def _is_looped(table: SgNode) -> bool:
    """Right where it stands, or by its name."""
    for above in table.ancestors():
        if above.kind() == "for_expression":
            return True
        if above.kind() == "let_declaration":
            name, block = above.field("pattern"), above.parent()
            looped = rf"\bfor [^{{]+ in &?{name.text()}\b" if name else "(?!)"
            return block is not None and re.search(looped, block.text()) is not None
        if above.kind() == "block":
            return False
    return False


_NO_ASSERTIONS = tests.assertions_removed(lambda left: _ASSERTS.search(left) is not None)

TESTS: dict[str, Mutator] = {
    "test-deleted": tests.deleted,
    "test-commented-out": tests.commented_out("//"),
    "test-skipped": tests.marked("#[ignore]", '#[ignore = "flaky"]'),
    "test-skipped-if-true": tests.marked("#[cfg_attr(all(), ignore)]", "#[cfg(any())]"),
    "test-expected-to-fail": _expected_to_fail,
    "test-not-collected": _attribute(_TEST, ""),
    "test-swapped-for-dummy": tests.swapped(lambda _: "#[test]\nfn everything_works() {\n    assert!(true);\n}"),
    "test-returns-early": tests.inserted_first("return;"),
    "test-exits": tests.inserted_first("std::process::exit(0);"),
    "assertion-removed": tests.assertion_removed,
    "assertions-removed": _NO_ASSERTIONS,
    "hidden-from-sight": tests.hidden("//", _NO_ASSERTIONS),
    "assertion-trivial": _trivial,
    "assertion-weakened": tests.weakened(operands, ("assert_eq!", 'assert!(!format!("{:?}", {actual}).is_empty());')),
    "assertion-compares-with-itself": tests.compared_with_itself(operands),
    "assertions-swallowed": tests.wrapped("let _ = std::panic::catch_unwind(|| {", "});"),
    "raises-broadened": _raises_broadened,
    "tolerance-widened": _tolerance_widened,
    "expected-changed": tests.expected_changed(operands),
    "cases-removed": _cases_removed,
}
