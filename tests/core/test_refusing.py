"""Play-books of dishonest work: what is refused, what is held back, who decides, and what the agent is told."""

from typing import Any

import pytest

from core.test_decide import AT, Play, command
from untilproven.core import telling
from untilproven.core.decide import Wish
from untilproven.model import commands, events
from untilproven.model.fields import Decision, PauseReason, Severity
from untilproven.model.iteration import Fate, Finding
from untilproven.model.persistence import BaselineMetrics, Reinforcement
from untilproven.model.status import Status


def finding(pattern: str = "LP-016", severity: Severity = Severity.HIGH, **details: Any) -> Finding:
    blocking = severity in {Severity.HIGH, Severity.CRITICAL}
    details = {"id": f"{pattern}-1", "category": "workaround", **details}
    return Finding(
        pattern_id=pattern,
        pattern_name=pattern,
        severity=severity,
        blocking=blocking,
        message=f"{pattern} was seen",
        details=details,
    )


DELETED = finding("LP-001", Severity.CRITICAL, category="test_deletion", regression="test_deletion")


def refused(number: int, *found: Finding, play: Play) -> Play:
    play.observed(number, tree=f"t{number}").judged(number, *(found or (finding(),)))
    command(play.goes_on(), commands.RollBack)
    return play


def held_back(**more: Any) -> Play:
    play = Play(**more).ready().observed(1).judged(1, DELETED)
    command(play.goes_on(), commands.Park)
    return play


def test_what_an_agent_changed_is_judged_before_it_is_checked_and_what_comes_next_is_known() -> None:
    play = Play().ready().observed(1)
    judge = command(play.next(), commands.Judge)
    assert judge.iteration == 1
    assert command(play.judged(1).next(), commands.RunChecks).checks == judge.checks != ()


def test_no_check_comes_next_for_somebody_who_cannot_wait() -> None:
    assert command(Play().ready().observed(1).next(Wish(do="pause", now=True)), commands.Judge).checks == ()


def test_an_iteration_that_changed_nothing_is_not_judged() -> None:
    command(Play().ready().observed(1, tree="t0").next(), commands.RunChecks)


def test_what_only_warns_is_kept() -> None:
    play = Play().ready().observed(1).judged(1, finding(severity=Severity.MEDIUM))
    command(play.checked(1, passed=False).goes_on(), commands.Keep)


def test_what_blocks_is_taken_back_without_a_check_and_the_agent_is_told() -> None:
    play = refused(1, play=Play().ready())
    move = play.goes_on()
    assert command(move, commands.RunAgent).iteration == 2
    assert [event.to_level for event in move.events if isinstance(event, events.ReinforcementChanged)] == [
        Reinforcement.AGGRESSIVE
    ]
    told = telling.briefing(play.state, play.course, task="do it", index={})
    assert "LP-016 was seen" in told.notes[0]
    assert "Remove the special case" in told.notes[1]
    assert len(told.reminders) > 1


def test_the_same_again_although_the_agent_was_told_asks_a_human() -> None:
    play = refused(1, play=Play().ready())
    play.goes_on()
    move = refused(2, play=play).goes_on()
    assert command(move, commands.Pause).reason is PauseReason.GATE
    (gate,) = (event for event in move.events if isinstance(event, events.GateOpened))
    assert gate.kind == events.RECOVERY


def test_what_nobody_can_say_the_cause_of_asks_a_human_at_once() -> None:
    move = refused(1, finding("XY-001", category="of_a_plugin"), play=Play().ready()).goes_on()
    assert command(move, commands.Pause).reason is PauseReason.GATE
    (gate,) = (event for event in move.events if isinstance(event, events.GateOpened))
    assert gate.kind == events.RECOVERY
    assert "cannot be told" in gate.message


def test_three_different_refusals_in_a_row_ask_a_human() -> None:
    play = Play().ready()
    for number in (1, 2):
        refused(number, finding(f"LP-00{number}5"), play=play)
        command(play.goes_on(), commands.RunAgent)
    command(refused(3, finding("LP-007"), play=play).goes_on(), commands.Pause)


def test_an_honest_iteration_between_them_starts_the_count_again() -> None:
    play = refused(1, play=Play().ready())
    play.goes_on()
    play.iterated(2, tree="t2")
    command(refused(3, play=play).next(), commands.RunAgent)


def test_a_deleted_test_asks_a_human_at_once() -> None:
    move = held_back().goes_on()
    assert command(move, commands.Pause).reason is PauseReason.GATE
    assert [event.kind for event in move.events if isinstance(event, events.GateOpened)] == [events.DESTRUCTIVE]


def decided(play: Play, decision: Decision) -> Play:
    play.goes_on()
    assert play.state.status is Status.PAUSED
    play.happens(events.GateDecided(gate_id="destructive-1", decision=decision, by="human"))
    return play.happens(events.StatusChanged(to=Status.RUNNING))


def test_what_a_human_approves_becomes_part_of_the_tree_and_is_checked_there() -> None:
    play = decided(held_back(), Decision.APPROVE)
    assert command(play.next(), commands.BringBack).iteration == 1
    play.happens(events.TreeRestored(iteration=1, tree="t1"))
    assert command(play.next(), commands.RunChecks) == commands.RunChecks(iteration=1, checks=("make check",))
    command(play.checked(1, passed=True).next(), commands.Deliver)


def test_what_a_human_approved_blocks_no_more() -> None:
    play = decided(held_back(), Decision.APPROVE)
    play.happens(events.TreeRestored(iteration=1, tree="t1")).checked(1, passed=False)
    play.observed(2, tree="t2").judged(2, DELETED)
    command(play.checked(2, passed=False).goes_on(), commands.Keep)


def test_what_a_human_rejects_is_dropped_and_the_loop_goes_on_more_firmly() -> None:
    play = decided(held_back(), Decision.REJECT)
    move = play.goes_on()
    assert command(move, commands.RunAgent).iteration == 2
    assert play.state.reinforcement_level is Reinforcement.AGGRESSIVE


def test_nobody_answers_and_the_loop_stays_where_it_is() -> None:
    play = held_back()
    play.goes_on()
    assert command(play.next(), commands.Leave).exit_code == 8


def test_a_policy_of_rejecting_goes_on_by_itself_and_says_that_no_human_decided() -> None:
    play = Play(on_gate="reject").ready().observed(1).judged(1, DELETED)
    move = play.goes_on()
    command(move, commands.RollBack)
    assert play.course.last
    assert play.course.last.finished
    assert play.course.last.finished.fate is Fate.DISCARDED
    move = play.goes_on()
    command(move, commands.RunAgent)
    (said,) = (event for event in move.events if isinstance(event, events.GateDecided))
    assert (said.by, said.decision) == ("policy", Decision.REJECT)


def test_a_policy_of_rejecting_ends_where_an_agent_does_not_stop_cheating() -> None:
    play = Play(on_gate="reject").ready()
    for number in (1, 2):
        refused(number, DELETED, play=play)
        command(play.goes_on(), commands.RunAgent)
    move = refused(3, DELETED, play=play).goes_on()
    assert command(move, commands.Finish).exit_code == 5


@pytest.mark.parametrize("number", [1, 4, 5, 6])
def test_reminders_grow_firmer_from_the_fifth_iteration_on(number: int) -> None:
    play = Play(iterations=9).ready()
    for before in range(1, number):
        play.goes_on()
        play.worked(before, tree=f"t{before}").checked(before, passed=False, output="another failure" * before)
        play.goes_on()
    play.goes_on()
    wanted = Reinforcement.STANDARD if number >= 5 else Reinforcement.MINIMAL
    assert play.state.reinforcement_level is wanted


@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.parametrize("level", ["off", "minimal", "standard", "aggressive"])
def test_a_level_that_is_set_stays_whatever_happens(level: str, measured: bool) -> None:
    play = Play(iterations=9, reinforcement=level, on_gate="reject", measure=measured).ready()
    if measured:
        baseline = BaselineMetrics(captured_at=AT, test_count=3, coverage_percentage=0)
        play.happens(events.BaselineCaptured(baseline=baseline))
    for number in range(1, 7):
        play.goes_on()
        assert (play.state.reinforcement_level or Reinforcement.OFF) is Reinforcement(level.upper())
        found = [finding(f"LP-{number:03d}")] if number % 2 else []
        play.observed(number, tree=f"t{number}").judged(number, *found)
        if not found:
            play.checked(number, passed=False, output="a failure" * number)
            if measured:
                play.happens(events.TreeMeasured(iteration=number))
        play.goes_on()
    history = play.state.reinforcement_history or ()
    assert [(one.from_level, one.to_level, one.reason) for one in history] == (
        [] if level == "off" else [("OFF", level.upper(), "Loop initialization")]
    )


def test_how_things_are_is_measured_before_the_work_and_after_each_iteration() -> None:
    play = Play(measure=True).ready()
    assert command(play.next(), commands.Measure).iteration == 0
    play.happens(events.BaselineCaptured(baseline=BaselineMetrics(captured_at=AT, test_count=3, coverage_percentage=0)))
    assert command(play.next(), commands.RunAgent).iteration == 1
    play.worked(1).checked(1, passed=False)
    assert command(play.next(), commands.Measure).iteration == 1
    command(play.happens(events.TreeMeasured(iteration=1)).next(), commands.Keep)


def test_what_a_measurement_shows_can_be_refused_too() -> None:
    play = Play(measure=True).ready()
    play.happens(events.BaselineCaptured(baseline=BaselineMetrics(captured_at=AT, test_count=3, coverage_percentage=0)))
    play.worked(1).checked(1, passed=True)
    fallen = finding("LP-010", category="coverage_regression", regression="coverage_regression")
    play.happens(events.GuardFinding(iteration=1, finding=fallen), events.TreeMeasured(iteration=1))
    command(play.next(), commands.RollBack)
