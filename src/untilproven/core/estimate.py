"""When the work may be done, from the trend of checks and tests; nothing is said where nothing can be known.

The trend is taken over iterations, not over the clock: a pause for the night does not flatten it. An iteration is
then taken to last as long as the median one.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import combinations, pairwise
from math import ceil

import msgspec

from untilproven.core.middle import median
from untilproven.model.events import CheckFinished

WINDOW = 10
"""How many iterations back the trend is taken from: older ones say little, and the work stays bounded."""
FEWEST = 3
"""Two points are always on a line."""
AGREEMENT = 0.75
"""How many of all pairs of iterations must show the later one ahead. With less, the noise is as large as the trend:
a coin gives a half, and three points in a row that do not all rise already give no more than two thirds."""
REACH = 10
"""A trend is not carried on further than so many times the distance over which it was seen."""

_ROUNDING = 1e-6


class Point(msgspec.Struct, frozen=True):
    """How far an iteration came: of so many tests, or checks where tests are not counted, so many pass."""

    iteration: int
    at: datetime
    passed: int
    total: int

    @property
    def share(self) -> float:
        return self.passed / self.total


def point(iteration: int, at: datetime, checks: Iterable[CheckFinished]) -> Point | None:
    """What the checks of an iteration come to; None if none was run. A check without tests counts as one."""
    passed = total = 0
    for check in checks:
        tests = check.tests
        if tests and tests.total:
            total += max(tests.total - (tests.skipped or 0), 0)
            passed += tests.passed or 0
        else:
            total += 1
            passed += check.passed
    return Point(iteration, at, min(passed, total), total) if total else None


def estimated_completion(
    points: Sequence[Point],
    now: datetime,
    *,
    iterations_left: int | None = None,
    latest: datetime | None = None,
) -> datetime | None:
    """When everything will pass if it goes on like this, by Theil and Sen's trend; None if that cannot be told.

    It cannot with fewer than three points, without progress (over all of them, or over the last three), when it goes
    up and down, and when the limits, `iterations_left` or the time limit at `latest`, end the loop before.
    """
    window = _usable(points)
    if len(window) < FEWEST or not _improves(window):
        return None
    slopes = [
        (later.share - earlier.share) / (later.iteration - earlier.iteration)
        for earlier, later in combinations(window, 2)
    ]
    if sum(slope > 0 for slope in slopes) < AGREEMENT * len(slopes):
        return None
    needed = max(ceil((1 - window[-1].share) / median(slopes) - _ROUNDING), 1)
    span = window[-1].iteration - window[0].iteration
    if needed > REACH * span or (iterations_left is not None and needed > iterations_left):
        return None
    done = _after(now, needed * _seconds_each(window))
    return None if done is None or (latest is not None and done > latest) else done


def _usable(points: Sequence[Point]) -> list[Point]:
    """The last points that say something, one for each iteration."""
    newest = {point.iteration: point for point in points[-WINDOW:] if 0 <= point.passed <= point.total > 0}
    return [newest[iteration] for iteration in sorted(newest)]


def _improves(window: Sequence[Point]) -> bool:
    """A larger share passes and less is missing: new tests that pass, or tests that are not found, are no progress."""
    first, last, recent = window[0], window[-1], window[-FEWEST]
    if last.passed == last.total:
        return False
    missing, missing_at_first = last.total - last.passed, first.total - first.passed
    return last.share > first.share and last.share > recent.share and missing < missing_at_first


def _seconds_each(window: Sequence[Point]) -> float:
    return median(
        (later.at - earlier.at).total_seconds() / (later.iteration - earlier.iteration)
        for earlier, later in pairwise(window)
    )


def _after(now: datetime, seconds: float) -> datetime | None:
    if seconds <= 0:
        return None
    try:
        return now + timedelta(seconds=seconds)
    except OverflowError:
        return None
