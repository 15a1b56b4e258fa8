"""What all loops of a project amount to."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from untilproven.core.text import cut, printable
from untilproven.model.analytics import ANALYTICS_VERSION, Analytics, CommonTask, CrossLoopSummary
from untilproven.model.status import Status

_COMMON = 5
_TASK_BYTES = 400


class Run(msgspec.Struct, frozen=True):
    """One loop, as the summary sees it."""

    task: str
    status: Status
    analytics: Analytics


def summary(runs: Sequence[Run], at: datetime) -> CrossLoopSummary:
    """An average is over the loops of which the number is known; with none of these it is left out."""
    totals = [run.analytics.totals for run in runs]
    priced = [one.cost_usd for one in totals if one.cost_usd is not UNSET and not one.unknown_cost_iterations]
    gains = [run.analytics.quality_improvement for run in runs if run.analytics.quality_improvement is not UNSET]
    unpriced = sum(bool(one.unknown_cost_iterations) for one in totals)
    return CrossLoopSummary(
        version=ANALYTICS_VERSION,
        generated_at=at,
        total_loops_run=len(runs),
        loops_by_status=dict(sorted(Counter(run.status.value for run in runs).items())),
        average_iterations_per_loop=_average([one.iterations for one in totals]),
        average_quality_improvement=_average(gains),
        average_cost_per_loop=_average(priced),
        loops_of_unknown_cost=unpriced or UNSET,
        most_common_tasks=_common(run.task for run in runs),
    )


def _average(values: Sequence[float]) -> float | UnsetType:
    return round(sum(values) / len(values), 4) if values else UNSET


def _common(tasks: Iterable[str]) -> tuple[CommonTask, ...]:
    """By their first lines."""
    named = Counter(" ".join(printable(task.strip().partition("\n")[0]).split()) for task in tasks)
    return tuple(
        CommonTask(task=cut(task, _TASK_BYTES), loops=count) for task, count in named.most_common(_COMMON) if task
    )
