"""From journal to state: each event, applied in order, gives the state that stands in state.json."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.core import detection, persistence
from untilproven.core.folding import completion_check
from untilproven.core.text import cut
from untilproven.core.transition import move
from untilproven.errors import Damaged, IllegalTransition
from untilproven.model import events, wire
from untilproven.model.iteration import FALSE_POSITIVE, Failed, Usage
from untilproven.model.persistence import DetectedPattern, RecoveryOutcome
from untilproven.model.state import ErrorContext, LoopMetrics, LoopState, ProgressTracking, Totals
from untilproven.model.status import TERMINAL, Status

OUTPUT_BYTES = 4096
"""How much of a check's output stays in state.json."""

FIXED = frozenset(
    {"version", "loop_id", "status", "journal_seq", "totals", "vouch", "started_with", "process", "pid", "plan"}
)
"""Fields that `state.updated` may not set: they have their own events."""

AFTER_THE_END = (
    events.LoopFinished,
    events.LoopContinued,
    events.CheckpointWritten,
    events.JournalRepaired,
    events.GateDecided,
    events.RecoveryStep,
)
"""All that may still happen to a loop in a terminal state."""


def apply(state: LoopState | None, entry: events.Entry) -> LoopState:
    """The next state. Raises when the event cannot follow: then nothing has changed."""
    header, event = entry.header, entry.event
    if state is None:
        if not isinstance(event, events.LoopStarted):
            raise Damaged(f"the journal begins with {header.type}, not with loop.started")
        state = _started(event, header)
    elif event is not None:
        if state.status in TERMINAL and not isinstance(event, AFTER_THE_END):
            raise IllegalTransition(f"{header.type} cannot follow: the loop is {state.status}")
        state = _HANDLERS[type(event)](state, event, header)
    return replace(state, last_updated=header.ts, journal_seq=header.seq)


def _started(event: events.LoopStarted, header: events.Header) -> LoopState:
    try:
        state = wire.from_builtins(LoopState, event.state)
    except wire.UNREADABLE as error:
        raise Damaged(f"the first state in the journal is not valid: {error}") from error
    if state.loop_id != header.loop_id:
        raise Damaged(f"the journal of {header.loop_id} begins with the state of {state.loop_id}")
    return replace(state, started_with=event.started_with, vouch=event.vouch)


def _adopted(state: LoopState, event: events.LoopAdopted, _: events.Header) -> LoopState:
    """What a killed iteration used counts as far as its agent had said, its time up to the last sign of life."""
    metrics = state.metrics or LoopMetrics()
    if event.discarded_iteration:
        metrics = _spent(metrics, event.usage or Usage())
    if event.last_seen and state.last_updated and state.status is Status.RUNNING:
        metrics = _active(metrics, max((event.last_seen - state.last_updated).total_seconds(), 0.0))
    return replace(
        state,
        metrics=metrics,
        process=event.process,
        pid=event.process.pid,
        vouch=event.vouch,
        iteration_in_progress=UNSET,
    )


def _active(metrics: LoopMetrics, seconds: float) -> LoopMetrics:
    return replace(metrics, active_seconds=round((metrics.active_seconds or 0.0) + seconds, 6))


def _baseline(state: LoopState, event: events.BaselineCaptured, header: events.Header) -> LoopState:
    return persistence.on_loop_start(state, event.baseline, header.ts)


def _iteration_started(state: LoopState, event: events.IterationStarted, _: events.Header) -> LoopState:
    return replace(state, iteration_in_progress=event.iteration, start_tree=state.start_tree or event.tree)


def _observed(state: LoopState, event: events.IterationObserved, _: events.Header) -> LoopState:
    return replace(state, touched=True) if event.delta and not state.touched else state


def _finding(state: LoopState, event: events.GuardFinding, header: events.Header) -> LoopState:
    pattern = DetectedPattern(
        pattern_id=event.finding.pattern_id,
        pattern_name=event.finding.pattern_name,
        iteration=event.iteration,
        timestamp=header.ts,
        severity=event.finding.severity,
        false_positive=FALSE_POSITIVE in (event.finding.explanations or ()),
    )
    state = persistence.appended(state, "detected_patterns", pattern)
    if event.regression:
        state = persistence.on_regression_detected(state, event.regression)
    return state


def _guarded(state: LoopState, event: events.GuardFinished, _: events.Header) -> LoopState:
    return detection.on_guard_finished(state, event)


def _check(state: LoopState, event: events.CheckFinished, header: events.Header) -> LoopState:
    check = completion_check(event, header.ts)
    if check.output:
        check = replace(check, output=cut(check.output, OUTPUT_BYTES))
    if event.iteration == 0:
        state = replace(state, metrics=_active(state.metrics or LoopMetrics(), event.duration_seconds or 0.0))
    progress = state.progress or ProgressTracking()
    checks = (*(progress.completion_checks or ()), check)
    totals = state.totals or Totals()
    return replace(
        state,
        progress=replace(
            progress,
            completion_checks=checks[-persistence.KEPT_ENTRIES :],
            last_completion_check=check,
        ),
        totals=replace(totals, completion_checks=max(totals.completion_checks, len(checks) - 1) + 1),
    )


def _iteration_finished(state: LoopState, event: events.IterationFinished, _: events.Header) -> LoopState:
    metrics = _active(state.metrics or LoopMetrics(), event.duration_seconds)
    state = replace(state, iteration_in_progress=UNSET, metrics=_spent(metrics, event.usage or Usage()))
    if state.progress:
        when = event.estimated_completion.isoformat() if event.estimated_completion else UNSET
        state = replace(state, progress=replace(state.progress, estimated_completion=when))
    if not event.counted:
        return state
    state = replace(state, iteration=state.iteration + 1, metrics=_counted(state.metrics or LoopMetrics(), event))
    return detection.on_iteration_complete(persistence.on_iteration_complete(state, event.entry, event.best))


def _spent(metrics: LoopMetrics, usage: Usage) -> LoopMetrics:
    """Money and tokens are spent whether or not the iteration counts; what nobody reported is counted as unknown."""
    tokens = usage.total_tokens
    if tokens is UNSET and (usage.input_tokens is not UNSET or usage.output_tokens is not UNSET):
        tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    if tokens is UNSET:
        metrics = replace(metrics, unknown_token_iterations=(metrics.unknown_token_iterations or 0) + 1)
    else:
        metrics = replace(metrics, total_tokens=(metrics.total_tokens or 0) + tokens)
    if usage.cost_usd is UNSET:
        return replace(metrics, unknown_cost_iterations=(metrics.unknown_cost_iterations or 0) + 1)
    return replace(metrics, total_cost_usd=round((metrics.total_cost_usd or 0.0) + usage.cost_usd, 9))


def _counted(metrics: LoopMetrics, event: events.IterationFinished) -> LoopMetrics:
    before = metrics.total_iterations or 0
    # The sum is rounded to whole seconds in the record; the average carries it exactly.
    duration = (metrics.average_iteration_time_seconds or 0.0) * before + event.duration_seconds
    failed = isinstance(event.result, Failed)
    return replace(
        metrics,
        successful_iterations=(metrics.successful_iterations or 0) + event.progressed,
        failed_iterations=(metrics.failed_iterations or 0) + failed,
        total_duration_seconds=round(duration),
        average_iteration_time_seconds=duration / (before + 1),
    )


def _checkpoint(state: LoopState, event: events.CheckpointWritten, _: events.Header) -> LoopState:
    return replace(state, last_checkpoint=event.path)


def _recovery(state: LoopState, event: events.RecoveryStep, _: events.Header) -> LoopState:
    history = state.recovery_history or ()
    known = event.attempt.recovery_id
    if known and any(attempt.recovery_id == known for attempt in history):
        changed = tuple(event.attempt if attempt.recovery_id == known else attempt for attempt in history)
        return replace(state, recovery_history=changed)
    return persistence.appended(state, "recovery_history", event.attempt)


def _gate_opened(state: LoopState, event: events.GateOpened, _: events.Header) -> LoopState:
    if event.kind not in {events.DESTRUCTIVE, events.RECOVERY}:
        return state
    return _regressed(state, event.iteration, human_gate_invoked=True, recovery_outcome=RecoveryOutcome.ESCALATED)


def _gate_decided(state: LoopState, event: events.GateDecided, _: events.Header) -> LoopState:
    """What a policy or a deadline decides is no decision of a human."""
    kind, _dash, iteration = event.gate_id.rpartition("-")
    if kind not in {events.DESTRUCTIVE, events.RECOVERY} or event.by != "human":
        return state
    return _regressed(state, int(iteration), human_decision=event.decision)


def _regressed(state: LoopState, iteration: int, **changes: Any) -> LoopState:
    """What is known of the regressions of an iteration by now."""
    known = state.regression_events or ()
    changed = tuple(replace(one, **changes) if one.iteration == iteration else one for one in known)
    return replace(state, regression_events=changed) if known else state


def _reinforcement(state: LoopState, event: events.ReinforcementChanged, header: events.Header) -> LoopState:
    return persistence.reinforced(state, event.to_level, event.reason, iteration=event.iteration, at=header.ts)


def _status(state: LoopState, event: events.StatusChanged, header: events.Header) -> LoopState:
    status = move(state.status, event.to)
    paused = status is Status.PAUSED
    state = replace(
        state,
        status=status,
        reason=event.reason,
        pause_reason=event.pause_reason if paused else UNSET,
        resume_at=event.resume_at if paused else UNSET,
    )
    if event.error:
        state = replace(
            state,
            error_context=ErrorContext(
                error_message=event.error,
                error_timestamp=header.ts,
                stack_trace=event.stack_trace,
                recovery_attempted=bool(state.recovery_attempts),
            ),
        )
    if status in TERMINAL:
        state = persistence.on_loop_complete(
            replace(state, completed_at=header.ts, pid=UNSET, iteration_in_progress=UNSET)
        )
    return state


def _continued(state: LoopState, event: events.LoopContinued, _: events.Header) -> LoopState:
    return replace(state, resumed_as=event.resumed_as)


def _updated(state: LoopState, event: events.StateUpdated, _: events.Header) -> LoopState:
    return updated(state, event.set)


def _unchanged(state: LoopState, _event: events.Event, _: events.Header) -> LoopState:
    return state


def updated(state: LoopState, changes: dict[str, Any]) -> LoopState:
    """Source 000's apply_updates: named fields replaced whole, the result checked."""
    fixed = FIXED & changes.keys()
    if fixed:
        raise IllegalTransition("these fields have events of their own: " + ", ".join(sorted(fixed)))
    merged = persistence.shallow_merge(wire.to_builtins(state), changes)
    try:
        return wire.from_builtins(LoopState, merged)
    except msgspec.ValidationError as error:
        raise IllegalTransition(f"the state would not be valid: {error}") from error


_HANDLERS: dict[type[Any], Callable[[LoopState, Any, events.Header], LoopState]] = {
    events.LoopStarted: _unchanged,
    events.LoopAdopted: _adopted,
    events.BaselineCaptured: _baseline,
    events.TreeMeasured: _unchanged,
    events.IterationStarted: _iteration_started,
    events.AgentEvent: _unchanged,
    events.IterationObserved: _observed,
    events.GuardFinding: _finding,
    events.GuardFinished: _guarded,
    events.TreeRestored: _unchanged,
    events.CheckFinished: _check,
    events.QualityScored: _unchanged,
    events.IterationFinished: _iteration_finished,
    events.CheckpointWritten: _checkpoint,
    events.GateOpened: _gate_opened,
    events.TreeChanged: _unchanged,
    events.WorkCommitted: _unchanged,
    events.GateDecided: _gate_decided,
    events.RecoveryStep: _recovery,
    events.ReinforcementChanged: _reinforcement,
    events.LimitReached: _unchanged,
    events.StatusChanged: _status,
    events.LoopContinued: _continued,
    events.StateUpdated: _updated,
    events.JournalRepaired: _unchanged,
    events.LoopFinished: _unchanged,
}
