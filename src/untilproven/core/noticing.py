"""What is worth writing down, or telling somebody, when a task has ended."""

from collections.abc import Hashable, Iterable
from datetime import datetime
from typing import Any

from untilproven.core.lessons import SURE, from_patterns
from untilproven.core.pattern import Pattern
from untilproven.core.patterns import patterns
from untilproven.model.hooks import Anomaly
from untilproven.model.learning import (
    AnomalyDetected,
    ExecutionBlocked,
    ImprovementProposed,
    IterationDone,
    Learnt,
    Lesson,
    PatternDetected,
    Progress,
    StatusChange,
    TaskCompleted,
    TrackerConflict,
)

_HIGH, _MEDIUM = 0.9, 0.7
_ALARMING = frozenset({"iteration_anomaly", "failure_mode"})


def anomalies(found: Iterable[Pattern]) -> tuple[Anomaly, ...]:
    """The patterns that somebody should hear of."""
    return tuple(
        Anomaly(
            kind=one.kind,
            message=one.message,
            details={
                "severity": "high" if one.confidence >= _HIGH else "medium",
                "subject": one.subject,
                "confidence": one.confidence,
                "evidence": list(one.evidence),
            },
        )
        for one in found
        if one.kind in _ALARMING and one.confidence >= _MEDIUM
    )


def noticed(records: Iterable[Learnt], now: datetime) -> tuple[Learnt, ...]:
    """The patterns, anomalies and notes that the records amount to; `identity` tells those that are there already."""
    found = patterns(records, now)
    sure = [_detected(one, now) for one in found if one.confidence > SURE]
    alarms = [_alarm(one, now) for one in anomalies(found)]
    return (*sure, *alarms, *from_patterns(found, now))


def anomaly_of(record: AnomalyDetected) -> Anomaly:
    """As it is told to a hook."""
    details = {**record.context, "severity": record.severity}
    return Anomaly(kind=record.anomaly, message=str(details.pop("message", record.anomaly)), details=details)


def identity(record: Learnt | Progress) -> Hashable | None:
    """What makes a line the same as one that is there already; None if it never is."""
    match record:
        case TaskCompleted():
            return record.loop_id
        case Lesson() | ImprovementProposed():
            return type(record), record.id
        case PatternDetected():
            return type(record), record.pattern, _subject(record.data)
        case AnomalyDetected():
            evidence = record.context.get("evidence")
            told = tuple(map(str, evidence)) if isinstance(evidence, list | tuple) else ()
            return type(record), record.anomaly, _subject(record.context), told
        case TrackerConflict():
            return type(record), record.task_id, record.field, record.ours, record.theirs
        case IterationDone():
            return record.loop_id, record.iteration
        case StatusChange() if record.loop_id:
            return record.loop_id, record.task_id, record.from_, record.to
        case ExecutionBlocked() if record.loop_id:
            return record.loop_id, record.task_id, record.reason
    return None


def _subject(data: dict[str, Any]) -> str:
    return str(data.get("subject", ""))


def _detected(one: Pattern, now: datetime) -> PatternDetected:
    data = {"subject": one.subject, "samples": one.samples, "strength": one.strength, "message": one.message}
    return PatternDetected(pattern=one.kind, confidence=one.confidence, data=data, evidence=one.evidence, timestamp=now)


def _alarm(one: Anomaly, now: datetime) -> AnomalyDetected:
    details = one.details or {}
    context = {name: value for name, value in details.items() if name != "severity"} | {"message": one.message}
    return AnomalyDetected(anomaly=one.kind, severity=details["severity"], context=context, timestamp=now)
