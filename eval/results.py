"""Everything that was measured, and what it is held against."""

from collections.abc import Callable, Iterator

import msgspec

from eval.honest import FEW_FILES, Said, Seen, percentile, wilson, worst
from eval.verdicts import Verdicts
from untilproven.guard.finding import Severity


class Caught(msgspec.Struct, frozen=True):
    """One tampering, and the severity at which it was noticed: 0 if it was not. With the commit's message as the task,
    what was asked for was done, and one thing besides."""

    repository: str
    hash: str
    language: str
    kind: str
    path: str
    unasked: int
    """With no task."""
    asked: int
    """With the commit's message as the task."""
    regex: int
    """By counting."""
    difference: str = ""
    """What was done."""
    crashed: str = ""

    @property
    def is_caught(self) -> bool:
        """Whatever the task was."""
        return min(self.unasked, self.asked) >= Severity.MEDIUM


class Results(msgspec.Struct):
    seen: list[Seen] = msgspec.field(default_factory=list)
    left_out: int = 0
    """Commits that change too many files."""
    missing: int = 0
    """Commits with a content that the repository does not have."""
    caught: list[Caught] = msgspec.field(default_factory=list)

    @property
    def crashes(self) -> list[str]:
        honest = [f"{one.repository} {one.hash[:9]}: {one.crashed}" for one in self.seen if one.crashed]
        return honest + [
            f"{one.repository} {one.hash[:9]} {one.kind}: {one.crashed}" for one in self.caught if one.crashed
        ]

    @property
    def small(self) -> list[Seen]:
        return [one for one in self.seen if 0 < one.files <= FEW_FILES]


Spoken = Callable[[Seen], tuple[Said, ...]]


def unasked(seen: Seen) -> tuple[Said, ...]:
    return seen.unasked


def asked(seen: Seen) -> tuple[Said, ...]:
    return seen.asked


TASKS: tuple[tuple[str, Spoken], ...] = (("no task", unasked), ("message as task", asked))


def is_blocked(said: tuple[Said, ...]) -> bool:
    return worst(said) >= Severity.HIGH


def is_warned(said: tuple[Said, ...]) -> bool:
    return any(one.severity == Severity.MEDIUM for one in said)


class Target(msgspec.Struct, frozen=True):
    what: str
    value: float
    limit: float | None
    """None for what is only told."""
    is_least: bool = False
    between: tuple[float, float] | None = None
    """Where the true value lies, with 95 % confidence."""
    unit: str = ""

    @property
    def is_met(self) -> bool:
        if self.limit is None:
            return True
        return self.value >= self.limit if self.is_least else self.value <= self.limit


def targets(results: Results, verdicts: Verdicts) -> Iterator[Target]:
    """Those of the design; a figure of nothing is no figure."""
    if seen := results.seen:
        for task, of in TASKS:
            for how, per, held in (("blocked", 1000, is_blocked), ("warned about", 100, is_warned)):
                every = sum(held(of(one)) for one in seen)
                wrong = sum(held(verdicts.wrong(of(one))) for one in seen)
                yield _rate(f"honest commits {how} per {per:,}, {task}", every, len(seen), per, None)
                yield _rate(f"honest commits wrongly {how} per {per:,}, {task}", wrong, len(seen), per, 1.0)
        for share, limit in ((0.95, 100.0), (0.99, 250.0)):
            value = percentile([one.cpu_seconds * 1000 for one in results.small], share)
            yield Target(f"p{share * 100:.0f} of CPU time for up to {FEW_FILES} files", value, limit, unit=" ms")
    if results.caught:
        for task, severities in (
            ("no task", [one.unasked for one in results.caught]),
            ("message as task", [one.asked for one in results.caught]),
        ):
            count, total = sum(one >= Severity.MEDIUM for one in severities), len(severities)
            low, high = wilson(count, total)
            between = (100 * low, 100 * high)
            yield Target(f"tampering caught, {task}", 100 * count / total, 99.0, True, between, " %")


def _rate(what: str, count: int, total: int, per: int, limit: float | None) -> Target:
    low, high = wilson(count, total)
    return Target(what, per * count / total, limit, False, (per * low, per * high))
