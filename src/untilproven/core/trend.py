"""Where a series of scores is going."""

from collections.abc import Sequence
from itertools import pairwise

from untilproven.model.analytics import Trajectory

_FEWEST = 3
_DEAD_BAND = 2.0
"""Points that are no difference."""
_MAJORITY = 0.67
_LOW = 0.05
_IN_A_ROW = 2


def trajectory(scores: Sequence[float]) -> Trajectory:
    """The way most steps go; with fewer than three scores nobody can say."""
    if len(scores) < _FEWEST:
        return Trajectory.INSUFFICIENT_DATA
    steps = [after - before for before, after in pairwise(scores)]
    ways = {
        Trajectory.IMPROVING: sum(step > _DEAD_BAND for step in steps),
        Trajectory.DECLINING: sum(step < -_DEAD_BAND for step in steps),
        Trajectory.STABLE: sum(abs(step) <= _DEAD_BAND for step in steps),
    }
    most = max(ways, key=lambda way: ways[way])
    return most if ways[most] / len(steps) >= _MAJORITY else Trajectory.FLUCTUATING


def diminishing(scores: Sequence[float]) -> int | None:
    """The place of the score at which two steps in a row have changed next to nothing; None if there is none."""
    in_a_row = 0
    for place, (before, after) in enumerate(pairwise(scores), start=1):
        in_a_row = in_a_row + 1 if abs(after - before) < before * _LOW or before == after else 0
        if in_a_row == _IN_A_ROW:
            return place
    return None
