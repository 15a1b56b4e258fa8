"""Is the loop getting anywhere? Each answer is a verdict of its own, so that each can be met differently."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

REPEATS = 3
"""How often the same thing must happen in a row before it counts."""


class Verdict(StrEnum):
    NO_PROGRESS = "no-progress"
    """The last iterations changed nothing."""
    OSCILLATING = "oscillating"
    """The tree is back where it was before, after having been elsewhere."""
    SAME_ERROR = "same-error"
    """The same failure again and again."""


class Step(msgspec.Struct, frozen=True):
    """What one iteration left behind: the tree's hash, and a fingerprint of how it failed, if it did."""

    tree: str
    error: str = ""


def verdict(start: str, steps: Sequence[Step]) -> Verdict | None:
    """What the trees and errors so far say, beginning from the tree at the start; the gravest first."""
    if len(steps) < REPEATS:
        return None
    last = steps[-REPEATS:]
    if last[0].error and all(step.error == last[0].error for step in last):
        return Verdict.SAME_ERROR
    trees = [start, *(step.tree for step in steps)]
    if len(set(trees[-REPEATS - 1 :])) == 1:
        return Verdict.NO_PROGRESS
    # Back at an earlier tree, and not for the first time: going back once may be a sound decision.
    returns = sum(_returned(trees[: place + 1]) for place in range(1, len(trees)))
    return Verdict.OSCILLATING if returns >= REPEATS - 1 and _returned(trees) else None


def _returned(trees: Sequence[str]) -> bool:
    """Whether the last tree was seen before, with another one in between."""
    *earlier, last = trees
    return last in earlier and earlier[-1] != last
