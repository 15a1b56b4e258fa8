"""Tests that go through a part of their cases: by a slice or a filter that was not there, in the test, or in what
gives it its cases."""

import re
from collections.abc import Iterator

from untilproven.guard.comparison import Comparison
from untilproven.guard.finding import Signal
from untilproven.guard.lines import lines_of
from untilproven.guard.pairing import Became, Placed, Tests, functions_of, signal_of

_GOES_THROUGH = re.compile(r"\b(?:each|forEach|parametrize|for|range|return|of|subTest|entries|values)\b|\bcases\b|=>")
_CUT = re.compile(
    r"\[\s*0?\s*:\s*-?\d+\s*\]|\[\s*\.\.=?\s*\d+\s*\]|\.slice\(\s*(?:0\s*,\s*)?-?\d+\s*\)|(?:\.iter\(\))?\.take\(\s*\d+\s*\)"
    r"|\.limit\(\s*\d+\s*\)|(?<!else)\s+if .+(?=\][)\s]*$)"
)
_FILTER = re.compile(r"\.(?:filter|reject)\(")


def shortened(comparison: Comparison, tests: Tests) -> Iterator[Signal]:
    changed = [one for one in tests.kept if one.how != "hidden" and one.differs]
    for was, now in functions_of(comparison):
        if was is not None and (now.pair.is_test or now.pair.kind == "configuration"):
            changed.append(Became(was, now, "same"))
    for one in changed:
        if cut := _cut(one.before, one.after):
            yield signal_of("cases-cut", one, now=cut)


def _cut(before: Placed, after: Placed) -> str | None:
    """What a line of it takes out of what it went through as a whole before."""
    went, came = lines_of(before.text) - lines_of(after.text), lines_of(after.text) - lines_of(before.text)
    known = {_bare(line) for line in went}
    for line in came:
        if _GOES_THROUGH.search(line) and (cut := next((cut for cut in _cuts(line) if cut[1] in known), None)):
            return cut[0]
    return None


def _cuts(line: str) -> Iterator[tuple[str, str]]:
    """Each that a line may have, and the line without it."""
    for found in _CUT.finditer(line):
        yield found[0].strip(), _bare(line[: found.start()] + line[found.end() :])
    for found in _FILTER.finditer(line):
        end = _closed(line, found.end())
        yield line[found.start() : end], _bare(line[: found.start()] + line[end:])


def _closed(line: str, at: int) -> int:
    """Behind the bracket that closes what is open there."""
    depth = 1
    while at < len(line) and depth:
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        at += 1
    return at


def _bare(line: str) -> str:
    return "".join(line.split())
