"""From a loop's journal and receipt to the lines that the queue keeps of it."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import UNSET, UnsetType

from untilproven.core.text import cut, text
from untilproven.model import events
from untilproven.model.iteration import Blocked, Complete, Continue, Failed, IterationResult
from untilproven.model.learning import LISTED_FILES, ExecutionBlocked, IterationDone, TaskCompleted
from untilproven.model.receipt import Receipt
from untilproven.model.task import Task

_LONGEST = 500


def completed(
    task: Task,
    receipt: Receipt,
    *,
    success: bool,
    lessons: Sequence[str] = (),
    lines_changed: int | UnsetType = UNSET,
) -> TaskCompleted:
    """What is learnt from a loop that has ended; `success` says whether its task is done."""
    paths = sorted({text(change.path) for change in receipt.changed})
    more = receipt.left_out.get("changed", 0) if receipt.left_out else 0
    cost = receipt.spent.cost_usd if receipt.spent and not receipt.unknown_cost_iterations else UNSET
    return TaskCompleted(
        task_id=task.id,
        loop_id=receipt.loop_id,
        estimate=task.estimate,
        actual=receipt.iterations,
        iterations=receipt.iterations,
        task_type=task.type,
        complexity=task.complexity,
        files_changed=tuple(paths[:LISTED_FILES]),
        files_changed_count=len(paths) + more,
        lines_changed=lines_changed,
        success=success,
        proof=receipt.proof.value if receipt.proof else UNSET,
        blockers=(cut(receipt.reason, _LONGEST),) if receipt.reason and not success else (),
        blocked_by=task.blocked_by or (),
        duration_seconds=receipt.worked_seconds,
        cost_usd=cost,
        lessons=tuple(lessons),
        timestamp=receipt.finished_at,
    )


def iterations(task_id: str, loop_id: str, entries: Iterable[events.Entry]) -> tuple[IterationDone, ...]:
    """One line for each iteration of a loop, as its last attempt left it, with what all attempts at it cost."""
    last: dict[int, tuple[events.Entry, IterationResult]] = {}
    costs: dict[int, float | UnsetType] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, events.IterationFinished):
            last[event.iteration] = entry, event.result
            cost = event.usage.cost_usd if event.usage else UNSET
            costs[event.iteration] = _sum(costs.get(event.iteration, 0.0), cost)
    lines: list[IterationDone] = []
    so_far: float | UnsetType = 0.0
    for number in sorted(last):
        entry, result = last[number]
        so_far = _sum(so_far, costs[number])
        lines.append(
            IterationDone(
                task_id=task_id,
                loop_id=loop_id,
                iteration=number,
                result=_short(result),
                cost=costs[number],
                task_cost_so_far=so_far,
                timestamp=entry.header.ts,
            )
        )
    return tuple(lines)


def blocked(
    task_id: str, loop_id: str, reason: str, entries: Iterable[events.Entry], now: datetime
) -> ExecutionBlocked:
    """Why work on a task could not go on, with the limit if it was one."""
    limits = [entry.event.limit for entry in entries if isinstance(entry.event, events.LimitReached)]
    limit = limits[-1] if limits else UNSET
    return ExecutionBlocked(task_id=task_id, loop_id=loop_id or UNSET, reason=short(reason), limit=limit, timestamp=now)


def short(reason: str) -> str:
    return cut(reason, _LONGEST)


def _sum(one: float | UnsetType, other: float | UnsetType) -> float | UnsetType:
    """With something unknown in it, it is not known."""
    return UNSET if one is UNSET or other is UNSET else round(one + other, 6)


def _short(result: IterationResult) -> IterationResult:
    match result:
        case Continue():
            return Continue(reason=cut(result.reason, _LONGEST))
        case Complete():
            return Complete(artifacts=result.artifacts[:LISTED_FILES])
        case Blocked():
            return Blocked(blocker=cut(result.blocker, _LONGEST))
        case Failed():
            return Failed(error=cut(result.error, _LONGEST))
