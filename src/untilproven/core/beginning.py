"""A loop's first state: new, or carried over from one that ended."""

from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from untilproven.errors import IllegalTransition
from untilproven.model.plan import Allowance, Plan
from untilproven.model.state import (
    STATE_VERSION,
    LoopConfiguration,
    LoopMetrics,
    LoopState,
    ProcessIdentity,
    ProgressTracking,
)
from untilproven.model.status import CONTINUABLE, Status


def new_state(
    loop_id: str,
    *,
    task: str,
    completion_criteria: str | UnsetType = UNSET,
    configuration: LoopConfiguration | None = None,
    plan: Plan | UnsetType = UNSET,
    allowance: Allowance | UnsetType = UNSET,
    owner: str,
    working_directory: str,
    process: ProcessIdentity | UnsetType,
    at: datetime,
    extra: dict[str, Any] | UnsetType = UNSET,
) -> LoopState:
    return LoopState(
        version=STATE_VERSION,
        loop_id=loop_id,
        status=Status.RUNNING,
        iteration=0,
        task=task,
        completion_criteria=completion_criteria,
        started_at=at,
        last_updated=at,
        owner=owner,
        pid=process.pid if process else UNSET,
        process=process,
        working_directory=working_directory,
        configuration=configuration or LoopConfiguration(),
        progress=ProgressTracking(completion_checks=()),
        metrics=LoopMetrics(total_iterations=0, successful_iterations=0, failed_iterations=0),
        recovery_attempts=0,
        plan=plan,
        allowance=allowance,
        extra=extra,
    )


def continued_state(
    ended: LoopState,
    loop_id: str,
    *,
    process: ProcessIdentity,
    at: datetime,
    configuration: LoopConfiguration | None = None,
    allowance: Allowance | UnsetType = UNSET,
) -> LoopState:
    """The state of the loop that takes over: history, counts and spending stay, the ending goes."""
    if ended.status not in CONTINUABLE:
        raise IllegalTransition(
            f"{ended.loop_id} is {ended.status}; only a crashed, failed or aborted loop is continued by a new one",
            hint="a paused or running loop resumes in place" if ended.status is not Status.COMPLETED else "",
        )
    if ended.resumed_as:
        raise IllegalTransition(f"{ended.loop_id} was already continued", hint=f"it goes on as {ended.resumed_as}")
    return replace(
        ended,
        loop_id=loop_id,
        status=Status.RUNNING,
        started_at=at,
        last_updated=at,
        completed_at=UNSET,
        error_context=UNSET,
        reason=UNSET,
        pause_reason=UNSET,
        resume_at=UNSET,
        iteration_in_progress=UNSET,
        journal_seq=UNSET,
        vouch=UNSET,
        started_with=UNSET,
        pid=process.pid,
        process=process,
        resumed_from=ended.loop_id,
        resumed_as=UNSET,
        detection_enabled=True if ended.baseline_metrics else ended.detection_enabled,
        configuration=configuration or ended.configuration,
        allowance=allowance or ended.allowance,
    )
