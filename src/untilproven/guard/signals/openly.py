"""Whether tests were told what is refused, or refused no longer: a behaviour that was changed openly."""

import re

from untilproven.guard.comparison import Comparison
from untilproven.guard.pairing import Placed, Tests

_TEXT = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`")
_WORD = re.compile(r"[A-Za-z]\w*")
_IN_A_ROW = 3
"""So many words are not written twice by chance."""


def is_told_to_tests(before: Placed, after: Placed, comparison: Comparison) -> bool:
    """Some words of a message that went from the function went from a test, too."""
    went = set(_TEXT.findall(before.text)) - set(_TEXT.findall(after.text))
    rows = {row for message in went for row in _rows(message)}
    return bool(rows) and any(
        rows & (set(_rows(pair.before.text)) - set(_rows(pair.after.text if pair.after else "")))
        for pair in comparison.of_kind("test")
        if pair.before is not None
    )


def is_wanted(error: str, function: Placed, tests: Tests) -> bool:
    """A test that names the function expects this error more often than it did."""
    changed = [(one.before, one.after) for one in tests.kept if one.differs]
    for was, now in (*changed, *((None, one) for one in tests.added)):
        if function.short in now.words and _expected(error, now) > (_expected(error, was) if was else 0):
            return True
    return False


def _expected(error: str, test: Placed) -> int:
    return sum(one.error == error for one in test.test.assertions)


def _rows(text: str) -> list[tuple[str, ...]]:
    words = _WORD.findall(text)
    return list(zip(*(words[at:] for at in range(_IN_A_ROW)), strict=False))
