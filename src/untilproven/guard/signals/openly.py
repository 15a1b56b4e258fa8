"""Whether tests were told that something is refused no longer: a behaviour that was changed openly."""

import re

from untilproven.guard.comparison import Comparison
from untilproven.guard.pairing import Placed

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


def _rows(text: str) -> list[tuple[str, ...]]:
    words = _WORD.findall(text)
    return list(zip(*(words[at:] for at in range(_IN_A_ROW)), strict=False))
