"""The median, without the module `statistics`, which takes longer to load than a decision takes."""

from collections.abc import Iterable


def median(numbers: Iterable[float]) -> float:
    """The middle one, or halfway between the two in the middle."""
    ordered = sorted(numbers)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
