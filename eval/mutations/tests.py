"""What can be done to a test in any language, given how the language says it."""

import re
from collections.abc import Callable, Iterator

from ast_grep_py import SgNode

from eval.mutations.code import Code, Edit, Edits, Mutator, Site, Span, before, cut, over, span

Operands = Callable[[SgNode], tuple[Span, Span] | None]
"""Of a statement that asserts equality: where the actual value stands, and where the expected one."""


def either(*mutators: Mutator) -> Mutator:
    def mutate(code: Code) -> Iterator[Edits]:
        for mutator in mutators:
            yield from mutator(code)

    return mutate


def deleted(code: Code) -> Iterator[Edits]:
    for test in code.tests:
        yield (cut(code.text, *test.whole),)


def commented_out(mark: str) -> Mutator:
    def mutate(code: Code) -> Iterator[Edits]:
        for test in code.tests:
            start, end = test.whole
            indent = code.indent(start)
            lines = code.text[start:end].splitlines()
            yield (Edit(start, end, f"\n{indent}".join(f"{mark} {line.removeprefix(indent)}" for line in lines)),)

    return mutate


def inserted_first(*texts: str) -> Mutator:
    """Before everything that the test does."""

    def mutate(code: Code) -> Iterator[Edits]:
        for test in code.tests:
            if test.asserts and not test.statements[0].text().startswith(("return", "if True", "if true", "t.Skip")):
                for text in texts:
                    yield (before(code, test.statements[0], text),)

    return mutate


def assertion_removed(code: Code) -> Iterator[Edits]:
    """One of several."""
    for test in code.tests:
        if len(test.asserts) > 1:
            for assertion in test.asserts:
                yield (drop(code, assertion),)


def assertions_removed(asserts: Callable[[str], bool]) -> Mutator:
    """All of them, leaving something to run: `asserts` says whether a text still looks as if it did."""

    def mutate(code: Code) -> Iterator[Edits]:
        for test in code.tests:
            outermost = [one for one in test.asserts if not any(_within(one, other) for other in test.asserts)]
            edits = tuple(drop(code, assertion) for assertion in outermost)
            if edits and len(outermost) < len(test.statements) and not asserts(_left(code, test, edits)):
                yield edits

    return mutate


def replaced(*texts: str) -> Mutator:
    """One assertion becomes one that can not fail."""

    def mutate(code: Code) -> Iterator[Edits]:
        for test in code.tests:
            for assertion in test.asserts:
                for text in texts:
                    if assertion.text() != text:
                        yield (over(assertion, text),)

    return mutate


def compared_with_itself(operands: Operands) -> Mutator:
    def mutate(code: Code) -> Iterator[Edits]:
        for actual, expected in _equalities(code, operands):
            if (same := code.text[slice(*actual)]) != code.text[slice(*expected)] and "\n" not in same:
                yield (Edit(*expected, same),)

    return mutate


def weakened(operands: Operands, *forms: tuple[str, str]) -> Mutator:
    """From equal to something to being there: how an assertion begins, and what it becomes; `{actual}` is what it was
    about."""

    def mutate(code: Code) -> Iterator[Edits]:
        for test in code.tests:
            for assertion in test.asserts:
                found = operands(assertion)
                form = next((text for begins, text in forms if assertion.text().startswith(begins)), None)
                if found and form:
                    yield (over(assertion, form.replace("{actual}", code.text[slice(*found[0])])),)

    return mutate


def expected_changed(operands: Operands) -> Mutator:
    """Only a literal: it is then certain that something else is expected."""

    def mutate(code: Code) -> Iterator[Edits]:
        for _, expected in _equalities(code, operands):
            text = code.text[slice(*expected)]
            if text.isdigit():
                yield (Edit(*expected, str(int(text) + 1)),)
            elif len(text) > 2 and text[0] == text[-1] and text[0] in "\"'" and text[1:-1].isalnum():
                yield (Edit(*expected, f"{text[:-1]}x{text[-1]}"),)

    return mutate


def swapped(dummy: Callable[[Site], str]) -> Mutator:
    """The test goes, one that tests nothing comes."""

    def mutate(code: Code) -> Iterator[Edits]:
        for test in code.tests:
            indent = code.indent(test.whole[0])
            yield (Edit(*test.whole, f"\n{indent}".join(dummy(test).splitlines())),)

    return mutate


def wrapped(opening: str, closing: str) -> Mutator:
    """The whole body put into something that hides how it ends."""

    def mutate(code: Code) -> Iterator[Edits]:
        for test in code.tests:
            (start, _), (_, end) = span(test.statements[0]), span(test.statements[-1])
            inside = code.text[start:end]
            if not test.asserts or '"""' in inside or "'''" in inside or "`" in inside:
                continue
            indent = code.indent(start)
            deeper = (f"    {line}" if line.strip() else line for line in inside.splitlines())
            ending = (f"{indent}{line}" for line in closing.splitlines())
            yield (Edit(start, end, "\n".join([opening, indent + "\n".join(deeper), *ending])),)

    return mutate


def marked(*marks: str) -> Mutator:
    """A decorator, an attribute or an annotation before the whole."""

    def mutate(code: Code) -> Iterator[Edits]:
        for test in code.tests:
            start, _ = test.whole
            indent = code.indent(start)
            for mark in marks:
                yield (Edit(start, start, "".join(f"{line}\n{indent}" for line in mark.splitlines())),)

    return mutate


def drop(code: Code, statement: SgNode) -> Edit:
    """In Python a suite can not be empty, in JavaScript somebody may wait for `done`."""
    parent = statement.parent()
    if code.grammar in {"javascript", "typescript", "tsx"} and re.search(r"\bdone\b", statement.text()):
        return over(statement, "done();")
    if code.grammar == "python" and parent and len([c for c in parent.named_children() if c.kind() != "comment"]) == 1:
        return over(statement, "pass")
    return cut(code.text, *span(statement))


def _equalities(code: Code, operands: Operands) -> Iterator[tuple[Span, Span]]:
    for test in code.tests:
        for assertion in test.asserts:
            if found := operands(assertion):
                yield found


def _within(node: SgNode, other: SgNode) -> bool:
    (start, end), (first, last) = span(node), span(other)
    return (first, last) != (start, end) and first <= start and end <= last


def _left(code: Code, test: Site, edits: Edits) -> str:
    """The test's text without what is cut from it."""
    start, end = test.whole
    left, at = [], start
    for edit in sorted(edits):
        left.append(code.text[at : edit.start])
        at = edit.end
    return "".join([*left, code.text[at:end]])
