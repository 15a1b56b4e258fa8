"""Tests that are run again until they pass, all of them."""

import re
from collections.abc import Iterator

from untilproven.guard.comparison import Comparison, Side
from untilproven.guard.finding import Signal
from untilproven.guard.signals.documents import line_of

_CALLED = re.compile(r"\bjest\.retryTimes\(\s*(\d+)")


def retried(path: str, line: int, was: float | None, now: float | None) -> Iterator[Signal]:
    if (now or 0) > (was or 0):
        yield Signal("retries-raised", path, line, "every test", was=f"{was or 0:g}", now=f"{now:g}")


def retries(comparison: Comparison) -> Iterator[Signal]:
    """What a file of tests, or one that makes them ready, says of all."""
    for pair in comparison.of_kind("test", "configuration"):
        if pair.after is not None and "retryTimes" in pair.after.text:
            line = line_of(pair.after.text, "retryTimes")
            yield from retried(pair.path, line, _times(pair.before), _times(pair.after))


def _times(side: Side | None) -> float:
    return max(map(float, _CALLED.findall(side.text)), default=0) if side else 0
