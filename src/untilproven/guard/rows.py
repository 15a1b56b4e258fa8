"""Cases of a test that went: which of them are there all the same, put in another way."""

import re
from collections import Counter

from untilproven.guard.claims import strong
from untilproven.guard.pairing import Became

_NAMED = re.compile(r"^[A-Za-z_]\w*\s*[:=]\s*(?![:=])")
_EMPTY = frozenset({"nil", "null", "None", "undefined", "false", "False", "0", '""', "''", "``"})
"""What a column that is left out stands for."""
_MACRO = re.compile(r"\w+!\s*[({\[]")
_TELLING = 6
_HALF = 0.5


class Rows:
    """Those that went from a test, and those that came to it."""

    def __init__(self, one: Became, gone: list[str]) -> None:
        self._one, self._gone = one, gone
        self._come = [*(Counter(one.after.test.cases) - Counter(one.before.test.cases)).elements()]

    def missing(self) -> list[str]:
        """Without those that only got a column, or names for their columns, and without parts of the test that have no
        name of their own any more. One that stood there twice is one."""
        free = [_values(row) for row in self._come]
        rest = []
        for case in dict.fromkeys(self._gone):
            values = [value for value in _values(case) if value not in _EMPTY]
            wider = next((new for new in free if values and _is_within(values, new)), None)
            if wider is not None:
                free.remove(wider)
            elif not self._is_written_out(case):
                rest.append(case)
        return rest

    def _is_written_out(self, case: str) -> bool:
        """Of a part with a name, which is looked for by itself: the test asks as much."""
        if re.search(rf"(?i)\brun\(\s*{re.escape(case)}\s*,", self._one.before.text) is None:
            return False
        asked, left = (strong(side.test.assertions) for side in (self._one.before, self._one.after))
        return 0 < len(asked) <= len(left)

    def are_mostly_there(self, missing: list[str], others: str) -> bool:
        """At least half of them: within wider rows of the test, or with what is particular to them in rows that are new
        anywhere; or a macro made the test of them, and it is written out."""
        if is_written_out(self._one) and strong(self._one.after.test.assertions):
            return True
        left = " ".join(self._one.after.test.cases)
        new = " ".join((*self._come, others))
        rows = [_values(row) for row in self._one.after.test.cases]
        lost = [
            row
            for row in missing
            if not any(value in new and value not in left for value in _telling(row))
            and not any(len(wider) > len(_values(row)) and _is_within(_values(row), wider) for wider in rows)
        ]
        return len(lost) <= _HALF * len(self._gone)


def is_written_out(one: Became) -> bool:
    """A macro made the test, and makes it no longer."""
    was, now = (any(map(_MACRO.match, side.test.cases)) for side in (one.before, one.after))
    return was and not now


def _telling(row: str) -> list[str]:
    return [value for value in _values(row) if len(value) >= _TELLING]


def _is_within(values: list[str], row: list[str]) -> bool:
    """In this order."""
    rest = iter(row)
    return all(value in rest for value in values)


def _values(row: str) -> list[str]:
    """What stands between the commas of a row, without the names of columns."""
    inner = row[1:-1] if row[:1] in "{[(" else row
    found, depth, start = [], 0, 0
    for at, sign in enumerate(inner):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            found.append(inner[start:at])
            start = at + 1
    found.append(inner[start:])
    return [value for value in (_NAMED.sub("", one.strip()) for one in found) if value]
