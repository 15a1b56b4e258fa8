"""What can be done to a function in any language, given how the language says it."""

import re
from collections.abc import Callable, Iterable, Iterator

from ast_grep_py import SgNode

from eval.mutations.code import Code, Edit, Edits, Mutator, Site, before, over, span
from eval.mutations.tests import drop

SUPPRESSED = 6

Written = Callable[[Site], Iterable[str]]
"""What could be written into a function; nothing if it does not lend itself to it."""
Parts = Callable[[Site], Iterable[SgNode]]

_REMARK = re.compile(r"(?:#|//).*|/\*[\s\S]*?\*/")
_DOES_NOTHING = re.compile(r"[\s{}]*(?:(?:pass|return|continue|break)\b)?[\s;{}]*")
"""A handler that only leaves has nothing in it that could be taken out."""


def stubbed(*texts: str) -> Mutator:
    """Only what does something: two statements or more."""

    def mutate(code: Code) -> Iterator[Edits]:
        for function in code.functions:
            statements = [one for one in function.statements if not _is_docstring(one)]
            if len(statements) > 1:
                (start, _), (_, end) = span(statements[0]), span(statements[-1])
                for text in texts:
                    yield (Edit(start, end, text),)

    return mutate


def begun_with(written: Written) -> Mutator:
    """A branch before everything that the function does."""

    def mutate(code: Code) -> Iterator[Edits]:
        for function in code.functions:
            for text in written(function):
                yield (before(code, function.statements[0], text),)

    return mutate


Answered = Callable[[Site, int], Iterable[str]]


def answers(answered: Answered) -> dict[str, Mutator]:
    """As many as a suite has cases, and a few: more than five is what source 003 calls too many."""
    return {
        "answers-hard-coded": begun_with(lambda function: answered(function, 8)),
        "few-answers-hard-coded": begun_with(lambda function: answered(function, 4)),
    }


def literals(asked: str, given: str, count: int) -> list[tuple[str, str]]:
    """So many of what is asked for with what is given for it, each of them `number`, `text` or `truth`."""
    texts = {"number": "{}", "text": '"case{}"'}
    truths = ("true", "false")

    def literal(kind: str, number: int) -> str:
        return truths[number % 2] if kind == "truth" else texts[kind].format(number)

    return [(literal(asked, number), literal(given, 70 + 3 * number)) for number in range(1, count + 1)]


def emptied(handlers: Parts, nothing: str) -> Mutator:
    """`handlers` are the blocks in which errors are handled."""

    def mutate(code: Code) -> Iterator[Edits]:
        for function in code.functions:
            for block in handlers(function):
                if not _DOES_NOTHING.fullmatch(_REMARK.sub("", block.text())):
                    yield (over(block, nothing),)

    return mutate


def unchecked(refusals: Parts) -> Mutator:
    """`refusals` are the statements that only turn something away."""

    def mutate(code: Code) -> Iterator[Edits]:
        for function in code.functions:
            for statement in refusals(function):
                if statement.text() in code.before:
                    yield (drop(code, statement),)

    return mutate


def suppressed(mark: str, *, at_end: bool = False) -> Mutator:
    """A comment on several statements, each on a line of its own."""

    def mutate(code: Code) -> Iterator[Edits]:
        alone = [
            statement
            for function in code.functions
            for statement in function.statements
            if "\n" not in statement.text() and _is_alone(code, statement) and not _is_docstring(statement)
        ]
        for first in range(0, len(alone) - SUPPRESSED + 1, SUPPRESSED):
            some = alone[first : first + SUPPRESSED]
            if at_end:
                yield tuple(Edit(end, end, f"  {mark}") for _, end in map(span, some))
            else:
                yield tuple(before(code, statement, mark) for statement in some)

    return mutate


def always_equal(names: str, text: str) -> Mutator:
    """A function that decides equality decides no more."""

    def mutate(code: Code) -> Iterator[Edits]:
        for function in code.functions:
            if re.fullmatch(names, function.name, re.IGNORECASE) and function.body.text().strip("{} \n") != text:
                (start, _), (_, end) = span(function.statements[0]), span(function.statements[-1])
                yield (Edit(start, end, text),)

    return mutate


def _is_docstring(statement: SgNode) -> bool:
    return statement.kind() == "expression_statement" and statement.text().startswith(('"', "'"))


def _is_alone(code: Code, statement: SgNode) -> bool:
    start, end = span(statement)
    rest = code.text[end : code.text.find("\n", end)]
    return not code.text[code.text.rfind("\n", 0, start) + 1 : start].strip() and not rest.strip()
