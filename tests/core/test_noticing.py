"""What is told to somebody, what is written down, and which of two lines are the same."""

from typing import Any

import pytest

from core.ended import NOW, ended
from untilproven.core.noticing import anomalies, anomaly_of, identity, noticed
from untilproven.core.pattern import Pattern
from untilproven.model.hooks import Anomaly
from untilproven.model.iteration import Continue
from untilproven.model.learning import (
    Activity,
    AnomalyDetected,
    ExecutionBlocked,
    IterationDone,
    Lesson,
    PatternDetected,
    StatusChange,
)
from untilproven.model.task import TaskStatus

LOOP = "ralph-x-0000000a"


def found(kind: str, confidence: float) -> Pattern:
    return Pattern(
        kind=kind,
        subject="s",
        samples=5,
        strength=1,
        confidence=confidence,
        evidence=("RALPH-001",),
        message="it is so",
    )


@pytest.mark.parametrize(
    ("kind", "confidence", "severity"),
    [
        ("failure_mode", 0.9, "high"),
        ("iteration_anomaly", 0.8999, "medium"),
        ("iteration_anomaly", 0.7, "medium"),
        ("failure_mode", 0.6999, None),
        ("churn", 1.0, None),
    ],
)
def test_how_sure_a_pattern_is_says_how_severe_an_anomaly(kind: str, confidence: float, severity: str | None) -> None:
    told = anomalies([found(kind, confidence)])
    assert [one.details["severity"] for one in told if one.details] == ([severity] if severity else [])
    for one in told:
        assert (one.kind, one.message, one.iteration) == (kind, "it is so", 0)
        assert one.details == {
            "severity": severity,
            "subject": "s",
            "confidence": confidence,
            "evidence": ["RALPH-001"],
        }


def test_sure_patterns_anomalies_and_notes_are_worth_writing_down() -> None:
    records = [ended(place, success=False, blockers=("the agent is gone",)) for place in range(2)]
    pattern, alarm, lesson = noticed(records, NOW)
    assert isinstance(pattern, PatternDetected)
    assert (pattern.pattern, pattern.confidence, pattern.evidence) == ("failure_mode", 1.0, ("RALPH-000", "RALPH-001"))
    assert isinstance(alarm, AnomalyDetected)
    assert (alarm.anomaly, alarm.severity, alarm.context["subject"]) == ("failure_mode", "high", "the agent is gone")
    assert isinstance(lesson, Lesson)
    assert "the agent is gone" in lesson.text
    told = anomaly_of(alarm)
    assert told == Anomaly(kind="failure_mode", message=pattern.data["message"], details=told.details)
    assert told.details == {
        "severity": "high",
        "subject": "the agent is gone",
        "confidence": 1.0,
        "evidence": ["RALPH-000", "RALPH-001"],
    }
    assert noticed([], NOW) == ()


def test_an_anomaly_is_told_again_when_another_task_shows_it_but_a_pattern_is_written_once() -> None:
    records = [ended(place, success=False, blockers=("gone",)) for place in range(3)]
    before, after = noticed(records[:2], NOW), noticed(records, NOW)
    same = {identity(one) for one in before} & {identity(one) for one in after}
    assert same == {identity(after[0]), identity(after[2])}
    assert isinstance(after[1], AnomalyDetected)


def change(**fields: Any) -> StatusChange:
    given = {"task_id": "RALPH-001", "from_": TaskStatus.PENDING, "to": TaskStatus.IN_PROGRESS, "reason": "picked"}
    return StatusChange(**(given | {"timestamp": NOW} | fields))


def test_a_loop_says_each_thing_once_whenever_it_says_it() -> None:
    later: dict[str, Any] = {"timestamp": NOW.replace(year=2027)}
    assert identity(ended(1)) == identity(ended(1, success=False, **later))
    assert identity(ended(1)) != identity(ended(1, loop_id=LOOP))
    done: dict[str, Any] = {"task_id": "RALPH-001", "loop_id": LOOP, "result": Continue(reason="")}
    assert identity(IterationDone(iteration=1, timestamp=NOW, **done)) == identity(
        IterationDone(iteration=1, **later, **done)
    )
    assert identity(IterationDone(iteration=1, timestamp=NOW, **done)) != identity(
        IterationDone(iteration=2, timestamp=NOW, **done)
    )
    assert identity(change(loop_id=LOOP)) == identity(change(loop_id=LOOP, **later))
    assert identity(change(loop_id=LOOP)) != identity(change(loop_id=LOOP, to=TaskStatus.BLOCKED))
    blocked = ExecutionBlocked(task_id="RALPH-001", reason="x", timestamp=NOW, loop_id=LOOP)
    assert identity(blocked) is not None


def test_what_no_loop_says_is_never_the_same() -> None:
    assert identity(change()) is None
    assert identity(ExecutionBlocked(task_id="RALPH-001", reason="x", timestamp=NOW)) is None
    assert identity(Activity(message="hello", timestamp=NOW)) is None


def test_an_anomaly_of_another_program_can_be_compared_whatever_it_holds() -> None:
    odd = AnomalyDetected(anomaly="x", severity="low", context={"evidence": {"a": []}, "subject": [1]}, timestamp=NOW)
    assert hash(identity(odd)) == hash(identity(odd))
