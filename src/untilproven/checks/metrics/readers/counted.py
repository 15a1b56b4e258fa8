"""What every reader of a coverage report gives: how many lines and branches there are, and how many were reached."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from untilproven.checks.reports.results import Unreadable


class Share(NamedTuple):
    covered: int
    valid: int

    @property
    def percent(self) -> float:
        return round(100 * self.covered / self.valid, 2)


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    tool: str
    lines: Share
    branches: Share | None
    """None if the report says nothing of branches."""
    files: Mapping[str, Share]
    """Lines of each file, by the name that the report has for it."""
    sources: tuple[str, ...] = ()
    """Directories from which names may begin, if the report says so."""


def share(covered: int, valid: int) -> Share:
    if not 0 <= covered <= valid:
        raise Unreadable(f"the report contradicts itself: {covered} of {valid} are covered")
    return Share(covered, valid)


def total(shares: Iterable[Share]) -> Share:
    pairs = list(shares)
    return Share(sum(pair.covered for pair in pairs), sum(pair.valid for pair in pairs))


def reached(hits: Iterable[int]) -> Share:
    """One number for each line or branch: how often it was run."""
    numbers = list(hits)
    if min(numbers, default=0) < 0:
        raise Unreadable("the report contradicts itself: something was run less than zero times")
    return Share(sum(number > 0 for number in numbers), len(numbers))
