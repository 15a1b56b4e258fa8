"""What happened to the work, in order, and once."""

import pytest
from msgspec.structs import replace

from core.history import History, finding
from support import MOMENT
from untilproven.core import recovery
from untilproven.model import events
from untilproven.model.fields import Decision, Severity
from untilproven.model.iteration import Fate
from untilproven.model.persistence import RecoveryAttempt, Reinforcement
from untilproven.watch.chronicle import chronicle
from watch.scenes import HOSTILE

FOUND = "guard: high LP-001 tests/test_x.py: test_x was deleted (blocks)"
BEGUN = (
    "recovery: what the agent did cannot be told from an honest change with certainty;"
    " told: Make the change smaller, and leave out what the task does not ask for."
)


def told(history: History) -> list[tuple[int, str]]:
    return [(chapter.iteration, chapter.text) for chapter in chronicle(history.entries)]


def begun(number: int) -> RecoveryAttempt:
    return recovery.begun(number, [finding(Severity.HIGH)], MOMENT)


def test_nothing_special_is_no_story() -> None:
    history = History().add(events.GuardFinished(iteration=1, files=1, duration_seconds=0.1))
    assert told(history.iteration(1, found={}).iteration(2, fate=Fate.DISCARDED)) == []


def test_it_is_told_in_the_order_in_which_it_happened() -> None:
    history = History().iteration(1, 60.0).iteration(2, found={Severity.HIGH: 1}, fate=Fate.DISCARDED)
    history.add(events.RecoveryStep(attempt=begun(2)))
    history.add(events.ReinforcementChanged(iteration=3, to_level=Reinforcement.AGGRESSIVE, reason="Regression"))
    history.iteration(3, 50.0, found={})
    history.add(events.RecoveryStep(attempt=recovery.retried(begun(2), 3, MOMENT, helped=True)))
    assert told(history.iteration(4, 80.0)) == [
        (1, "the best so far, score 60"),
        (2, FOUND),
        (2, "taken back"),
        (2, BEGUN),
        (3, "reminders: AGGRESSIVE (Regression)"),
        (3, "recovery from iteration 2: telling the agent helped"),
        (4, "the best so far, score 80"),
    ]


@pytest.mark.parametrize(
    ("by", "decision", "said"),
    [
        ("human", Decision.REJECT, "gate: rejected by a human (no)"),
        ("human", Decision.APPROVE, "gate: approved by a human (no)"),
        ("policy", Decision.REJECT, "gate: rejected by policy (no)"),
        ("timeout", Decision.REJECT, "gate: rejected by its deadline (no)"),
    ],
)
def test_a_gate_is_told_when_it_opens_and_when_somebody_decides(by: str, decision: Decision, said: str) -> None:
    history = History().iteration(1, found={Severity.HIGH: 1}, fate=Fate.PARKED)
    history.add(events.RecoveryStep(attempt=begun(1)))
    gate = events.GateOpened(gate_id="recovery-1", kind="recovery", message="held back: test_x", iteration=1)
    history.add(gate, events.RecoveryStep(attempt=recovery.escalated(begun(1), "held back", MOMENT)))
    opened = [
        (1, FOUND),
        (1, "held back until somebody decides"),
        (1, BEGUN),
        (1, "gate opened: recovery"),
    ]
    assert told(history) == opened
    history.add(events.GateDecided(gate_id="recovery-1", decision=decision, by=by, why="no"))  # type: ignore[arg-type]
    assert told(history) == [*opened, (1, said)]


def test_other_gates_say_why_they_are_there() -> None:
    gate = events.GateOpened(gate_id="conflict-1", kind="conflict", message="you changed a.py", iteration=1)
    assert told(History().iteration(1).add(gate)) == [(1, "gate opened: you changed a.py")]


def test_many_findings_of_an_iteration_are_counted() -> None:
    history = History().iteration(1, found={Severity.MEDIUM: 5})
    warning = FOUND.replace("high", "medium").removesuffix(" (blocks)")
    assert told(history) == [(1, warning)] * 3 + [(1, "guard: 2 more findings")]


def test_what_was_thrown_away_unfinished_is_no_part_of_it() -> None:
    seen = events.GuardFinding(iteration=1, finding=finding(Severity.HIGH))
    history = History().add(events.IterationStarted(iteration=1), seen)
    assert told(history) == [(1, FOUND)]
    assert told(history.iteration(1)) == []


def test_hostile_text_is_one_harmless_line() -> None:
    hostile = replace(finding(Severity.HIGH, message=HOSTILE), path=HOSTILE)
    history = History().add(
        events.IterationStarted(iteration=1),
        events.GuardFinding(iteration=1, finding=hostile),
        events.GateOpened(gate_id="x-1", kind="conflict", message=HOSTILE, iteration=1),
        events.GateDecided(gate_id="x-1", decision=Decision.REJECT, by="human", why=HOSTILE),
        events.ReinforcementChanged(iteration=2, to_level=Reinforcement.OFF, reason=HOSTILE),
    )
    lines = told(history)
    assert len(lines) == 4
    assert all(text.isprintable() and "owned" not in text for _, text in lines)
