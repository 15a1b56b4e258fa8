"""What a test has besides its assertions: what it gives and makes ready."""

from untilproven.guard.names import NAME
from untilproven.guard.pairing import Placed


def besides_assertions(test: Placed) -> str:
    """What names something stands for itself; a mere value is of an assertion if it stands where that is."""
    asked, within = "\n".join(one.text for one in test.test.assertions), _lines_of_assertions(test)
    return "\n".join(
        line
        for at, line in enumerate(test.text.splitlines())
        if _code_on(line) not in asked or not (at in within or NAME.search(line))
    )


def _lines_of_assertions(test: Placed) -> frozenset[int]:
    """As counted in the text of the test."""
    lines, found = [_code_on(line) for line in test.text.splitlines()], set[int]()
    for one in test.test.assertions:
        at = one.line - test.line
        while 0 <= at < len(lines) and lines[at] and lines[at] in one.text:
            found.add(at)
            at += 1
    return frozenset(found)


def _code_on(line: str) -> str:
    return " ".join(line.split()).rstrip(";{ ")
