"""Whether a note helps: tasks that had it in their prompts beside tasks of the same types that had not."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Literal

import msgspec

from untilproven.core.pattern import finished
from untilproven.model.learning import Learnt, Lesson, TaskCompleted

FEWEST = 5
ENOUGH_USES = 10
_BY_CHANCE = 1.64
"""Standard errors: a difference of success rates that is larger comes about by chance once in ten."""
_FEWER = 0.2

Verdict = Literal["better", "worse", "no difference", "unknown"]


class Group(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    tasks: int
    success_rate: float
    median_iterations: float


class Effect(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    with_: Group = msgspec.field(name="with")
    without: Group
    """Weighted so that it has as much of each type of task as the others have."""
    verdict: Verdict


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """`expired` notes are no longer put into prompts; `why` says so, or what a human should know of their own."""

    uses: int
    effect: Effect
    expired: bool
    why: str = ""


def effect(lesson: Lesson, records: Iterable[Learnt]) -> Effect:
    """Success decides; where that is alike, the number of iterations."""
    return _effect(lesson, finished(records))


def _effect(lesson: Lesson, ended: Sequence[TaskCompleted]) -> Effect:
    had = [record for record in ended if lesson.id in record.lessons]
    had_not = [record for record in ended if lesson.id not in record.lessons]
    types = {record.task_type for record in had} & {record.task_type for record in had_not}
    had = [record for record in had if record.task_type in types]
    had_not = [record for record in had_not if record.task_type in types]
    of_type, others = (Counter(record.task_type for record in group) for group in (had, had_not))
    weights = [of_type[record.task_type] / others[record.task_type] for record in had_not]
    ours, theirs = _group(had, [1.0] * len(had)), _group(had_not, weights)
    enough = min(ours.tasks, theirs.tasks) >= FEWEST
    return Effect(with_=ours, without=theirs, verdict=_verdict(ours, theirs) if enough else "unknown")


def standing(lesson: Lesson, records: Iterable[Learnt]) -> Standing:
    """What a note has come to, after it was used."""
    ended = finished(records)
    uses = sum(lesson.id in record.lessons for record in ended)
    found = _effect(lesson, ended)
    useless = uses >= ENOUGH_USES and found.verdict in {"worse", "no difference"}
    if not useless:
        return Standing(uses=uses, effect=found, expired=False)
    told = "went worse with it" if found.verdict == "worse" else "went no better with it"
    expired = lesson.source == "pattern"
    then = "no longer used" if expired else "yours, so it is still used"
    return Standing(uses=uses, effect=found, expired=expired, why=f"{uses} tasks {told}: {then}")


def _group(records: Sequence[TaskCompleted], weights: Sequence[float]) -> Group:
    total = sum(weights)
    if not total:
        return Group(tasks=0, success_rate=0.0, median_iterations=0.0)
    succeeded = sum(weight for record, weight in zip(records, weights, strict=True) if record.success)
    counted = sorted((record.iterations, weight) for record, weight in zip(records, weights, strict=True))
    return Group(
        tasks=len(records),
        success_rate=round(succeeded / total, 4),
        median_iterations=_median(counted, total / 2),
    )


def _median(counted: Sequence[tuple[int, float]], half: float) -> float:
    """The value with half of the weight on either side; between two, their mean."""
    before = 0.0
    for place, (value, weight) in enumerate(counted):
        before += weight
        if before > half + 1e-9:
            return float(value)
        if before > half - 1e-9 and place + 1 < len(counted):
            return (value + counted[place + 1][0]) / 2
    return float(counted[-1][0])


def _verdict(ours: Group, theirs: Group) -> Verdict:
    gain = ours.success_rate - theirs.success_rate
    both = (ours.success_rate * ours.tasks + theirs.success_rate * theirs.tasks) / (ours.tasks + theirs.tasks)
    error = sqrt(both * (1 - both) * (1 / ours.tasks + 1 / theirs.tasks))
    if abs(gain) > _BY_CHANCE * error:
        return "better" if gain > 0 else "worse"
    saved = theirs.median_iterations - ours.median_iterations
    if abs(saved) >= max(1.0, _FEWER * theirs.median_iterations):
        return "better" if saved > 0 else "worse"
    return "no difference"
