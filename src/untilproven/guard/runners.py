"""Whether a project turned from one test runner to another: its tests are then put into other words, all at once."""

import re
from collections.abc import Iterator

from untilproven.guard.comparison import Comparison
from untilproven.guard.lines import lines_changed

_RUNNERS = re.compile(
    r"(?<![\w@/-])(jest|vitest|mocha|ava|tap|tape|jasmine(?:-core)?|uvu|qunit|lab|karma|node(?= --test)|bun(?= test)"
    r"|egg-bin|pytest|nose2?|testtools|junit|junit-jupiter|testng|spek|kotest|testify|ginkgo)(?![\w-])"
)


def is_another(comparison: Comparison) -> bool:
    """One went from what the project needs or runs, and one came that was not there."""
    went, came = (set(_named(comparison, side)) for side in (0, 1))
    there = {name for pair in comparison.of_kind("mixed") if pair.after for name in _RUNNERS.findall(pair.after.text)}
    return bool(went - there) and bool(came - went)


def _named(comparison: Comparison, side: int) -> Iterator[str]:
    for pair in comparison.of_kind("mixed"):
        if pair.before is not None and pair.after is not None and not _LOCKED.search(pair.path):
            yield from (name for line in lines_changed(pair)[side] for name in _RUNNERS.findall(line))


_LOCKED = re.compile(r"lock(?:\.json|\.yaml|b)?$|npm-shrinkwrap\.json$|go\.sum$")
"""Files that list everything that anything needs."""
