"""What ended tasks have in common. Nothing is said of too few of them, and the order of the lines does not matter."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from statistics import fmean, median, pstdev
from typing import NamedTuple

from untilproven.core.pattern import Pattern, finished, pattern, shown
from untilproven.core.places import FAILED_TOGETHER, churn, failing_areas, hot_spots
from untilproven.model.learning import Learnt, TaskCompleted

DRIFTED, OUTLYING, CHAINED = 5, 5, 3
_AS_ESTIMATED = (0.7, 1.5)
_SIGMAS, _CERTAIN_SIGMAS = 2, 3
_BELIEVED = 1_000_000
"""Estimates and iterations beyond this are no numbers of ours."""
_NAMED_CHAIN = 8


class _Row(NamedTuple):
    """The longest row of tasks that ends with one: the task before it, how many they are, and the first."""

    before: str
    length: int
    root: str


def patterns(records: Iterable[Learnt], now: datetime) -> tuple[Pattern, ...]:
    """All there are in the last 90 days, the surest first."""
    ended = finished(records, now)
    found = [
        *_drift(ended),
        *hot_spots(ended),
        *churn(ended),
        *_outliers(ended),
        *_failure_modes(ended),
        *failing_areas(ended),
        *_chains(ended),
    ]
    return tuple(sorted(found, key=lambda one: (-one.confidence, one.kind, one.subject)))


def failure_kind(record: TaskCompleted) -> str:
    """Why it failed, without what differs from time to time: numbers, and what stands in quotes."""
    first = shown(record.blockers[0]) if record.blockers else ""
    return re.sub(r"""(["`]).*?\1""", "...", re.sub(r"\d+(?:[.,:]\d+)*", "N", first)).lower()


def _drift(ended: Sequence[TaskCompleted]) -> Iterator[Pattern]:
    ratios = {
        record.task_id: min(record.actual, _BELIEVED) / record.estimate
        for record in ended
        if record.success and record.estimate and 1 / _BELIEVED <= record.estimate <= _BELIEVED
    }
    if len(ratios) < DRIFTED:
        return
    low, high = _AS_ESTIMATED
    middle = median(ratios.values())
    if low <= middle <= high:
        return
    off = [ratio > high if middle > high else ratio < low for ratio in ratios.values()]
    yield pattern(
        "estimate_drift",
        "above the estimates" if middle > high else "below the estimates",
        ratios,
        f"the median of {len(ratios)} tasks took {middle:.2g} times as many iterations as estimated",
        threshold=DRIFTED,
        strength=sum(off) / len(off),
    )


def _outliers(ended: Sequence[TaskCompleted]) -> Iterator[Pattern]:
    """Loops that took far more iterations than the others."""
    counts = [min(record.iterations, _BELIEVED) for record in ended]
    compared = len({record.task_id for record in ended})
    if compared < OUTLYING:
        return
    mean, sigma = fmean(counts), pstdev(counts)
    worst: dict[str, int] = {}
    for record, count in zip(ended, counts, strict=True):
        if count - mean > _SIGMAS * sigma:
            worst[record.task_id] = max(count, worst.get(record.task_id, 0))
    for task, count in worst.items():
        yield pattern(
            "iteration_anomaly",
            task,
            [task],
            f"{shown(task)} took {count} iterations; the mean of {len(counts)} is {mean:.1f}",
            samples=compared,
            threshold=OUTLYING,
            strength=(count - mean) / sigma / _CERTAIN_SIGMAS,
        )


def _failure_modes(ended: Sequence[TaskCompleted]) -> Iterator[Pattern]:
    """Tasks that failed for the same reason."""
    kinds: dict[str, set[str]] = defaultdict(set)
    failed = {record.task_id for record in ended if not record.success}
    for record in ended:
        if not record.success and (kind := failure_kind(record)):
            kinds[kind].add(record.task_id)
    for kind, tasks in kinds.items():
        if len(tasks) >= FAILED_TOGETHER:
            yield pattern(
                "failure_mode",
                kind,
                tasks,
                f'{len(tasks)} of {len(failed)} tasks that failed ended with "{kind}"',
                threshold=FAILED_TOGETHER,
                strength=len(tasks) / len(failed),
            )


def _chains(ended: Sequence[TaskCompleted]) -> Iterator[Pattern]:
    """Tasks that each had to wait for the one before: the longest such row from each task that waited for none."""
    known = {record.task_id for record in ended}
    waited = {record.task_id: known.intersection(record.blocked_by) - {record.task_id} for record in ended}
    followers: dict[str, list[str]] = defaultdict(list)
    for task, blockers in waited.items():
        for blocker in blockers:
            followers[blocker].append(task)
    rows: dict[str, _Row] = {}
    left = {task: len(blockers) for task, blockers in waited.items()}
    ready = [task for task, count in left.items() if not count]
    while ready:  # tasks that wait for each other in a circle are never reached
        task = ready.pop()
        last = max(waited[task], key=lambda one: (rows[one].length, one), default="")
        rows[task] = _Row(last, rows[last].length + 1, rows[last].root) if last else _Row("", 1, task)
        for follower in followers[task]:
            left[follower] -= 1
            if not left[follower]:
                ready.append(follower)
    longest: dict[str, str] = {}
    for task in sorted(rows, key=lambda one: (-rows[one].length, one)):
        longest.setdefault(rows[task].root, task)
    for root, end in longest.items():
        if rows[end].length < CHAINED:
            continue
        chain = [end]
        while rows[chain[-1]].before:
            chain.append(rows[chain[-1]].before)
        names = [shown(task) for task in reversed(chain)]
        told = ", ".join(names[:_NAMED_CHAIN]) + (", ..." if len(names) > _NAMED_CHAIN else "")
        yield pattern(
            "blocking_chain",
            root,
            chain,
            f"{len(chain)} of {len(waited)} tasks had to wait for one another: {told}",
            threshold=CHAINED,
            strength=len(chain) / len(waited),
        )
