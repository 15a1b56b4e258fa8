"""Follows a recovery from step to step, from what has just happened."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from untilproven.core import recovery
from untilproven.core.course import Course
from untilproven.model import events
from untilproven.model.fields import Decision
from untilproven.model.persistence import AttemptOutcome, RecoveryAttempt
from untilproven.model.state import LoopState


def steps(
    state: LoopState, course: Course, happened: Sequence[events.Event], at: datetime
) -> tuple[events.RecoveryStep, ...]:
    """The steps that follow from these events, which are recorded and folded already."""
    found: list[RecoveryAttempt] = []
    for event in happened:
        match event:
            case events.IterationFinished(counted=True):
                found += _after_iteration(state, course, event.iteration, at)
            case events.GateOpened(kind=events.DESTRUCTIVE | events.RECOVERY):
                found += [recovery.escalated(one, event.message, at) for one in _of(state, event.iteration)]
            case events.GateDecided():
                found += after_decision(state, event, at)
    return tuple(events.RecoveryStep(attempt=one) for one in found)


def after_decision(state: LoopState, event: events.GateDecided, at: datetime) -> list[RecoveryAttempt]:
    """A decision of a human's is part of the record of the recovery that asked for it."""
    kind, _, iteration = event.gate_id.rpartition("-")
    if kind not in {events.DESTRUCTIVE, events.RECOVERY}:
        return []
    decided = f"{event.decision.value} - {event.why}" if event.why else event.decision.value
    words = decided if event.by == "human" else ""
    reason = f"decided by {event.by}"
    found = [recovery.escalated(one, _reason(one) or reason, at, words) for one in _of(state, int(iteration))]
    if event.decision is Decision.ABORT:
        return [replace(one, outcome=AttemptOutcome.ABORTED) for one in found]
    return found


def _reason(attempt: RecoveryAttempt) -> str:
    steps = attempt.protocol_steps
    return (steps.escalate.reason or "") if steps and steps.escalate else ""


def _after_iteration(state: LoopState, course: Course, number: int, at: datetime) -> list[RecoveryAttempt]:
    """The recovery under way is shown to have helped or not, and another begins if there is something to refuse."""
    blocking = course.last is not None and any(finding.blocking for finding in course.last.findings)
    found = [recovery.retried(one, number, at, helped=not blocking) for one in _open(state, number)]
    if blocking and course.last:
        found.append(recovery.begun(number, course.last.findings, at))
    return found


def _open(state: LoopState, number: int) -> list[RecoveryAttempt]:
    """Without an outcome; one that a human has rejected is tried again, too, and keeps its outcome."""
    return [one for one in state.recovery_history or () if not one.outcome and one.iteration != number]


def _of(state: LoopState, iteration: int) -> list[RecoveryAttempt]:
    known = [one for one in state.recovery_history or () if one.iteration == iteration]
    return [one for one in known if one.outcome is not AttemptOutcome.ABORTED][-1:]
