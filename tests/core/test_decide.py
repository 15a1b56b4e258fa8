"""The loop as a play-book: when this has happened, that is what comes next."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.core import projection
from untilproven.core.beginning import new_state
from untilproven.core.course import Course, fold
from untilproven.core.decide import LIMITED, Wish, decide
from untilproven.model import commands, events, wire
from untilproven.model.commands import Move
from untilproven.model.fields import PauseReason
from untilproven.model.iteration import (
    Blocked,
    Complete,
    Continue,
    Failed,
    Fate,
    FileChange,
    Finding,
    IterationResult,
    Usage,
)
from untilproven.model.persistence import TestResults
from untilproven.model.plan import Allowance, Plan, PlannedCheck
from untilproven.model.state import LoopState, ProcessIdentity
from untilproven.model.status import Status

AT = datetime(2026, 2, 2, 21, 0, tzinfo=UTC)
LOOP = "ralph-play-0123abcd"
PROCESS = ProcessIdentity(pid=1, start="1", boot_id="b")
CHECK = "make check"
SUITE = "pytest"


class Play:
    """A loop of which only the journal exists."""

    def __init__(self, *checks: str, auto: str = "", task: str = "do it", iterations: int = 5, **more: Any) -> None:
        allowance = {key: more.pop(key) for key in ("seconds", "cost_usd", "tokens", "unknown_cost") if key in more}
        planned = [PlannedCheck(line=line) for line in checks or (CHECK,)]
        if auto:
            planned.append(PlannedCheck(line=auto, role="auto_test"))
        more = {"measure": False, **more}
        plan = Plan(agent="command", task_hash="x", checks=tuple(planned), promise="DONE", **more)
        state = new_state(
            LOOP,
            task=task,
            plan=plan,
            allowance=Allowance(iterations=iterations, **allowance),
            owner="me",
            working_directory="/tmp",
            process=PROCESS,
            at=AT,
        )
        self.course = Course(plan=plan)
        self.state: LoopState
        self._state: LoopState | None = None
        self._seq = 0
        self.happens(events.LoopStarted(state=wire.to_builtins(state), started_with="", vouch=""))

    def happens(self, *happened: events.Event) -> "Play":
        for event in happened:
            self._seq += 1
            header = events.Header(v=1, ts=AT, loop_id=LOOP, seq=self._seq, type=str(type(event).__struct_config__.tag))
            self._state = self.state = projection.apply(self._state, events.Entry(header, event))
            self.course = fold(self.course, event)
        return self

    def next(self, wish: Wish = Wish()) -> Move:  # noqa: B008  immutable
        return decide(self.state, self.course, wish)

    def goes_on(self, wish: Wish = Wish()) -> Move:  # noqa: B008  immutable
        """Decide, and record what the decision records."""
        move = self.next(wish)
        self.happens(*move.events)
        if isinstance(move.command, commands.Pause):
            self.happens(events.StatusChanged(to=Status.PAUSED, pause_reason=move.command.reason))
        return move

    def checked(self, iteration: int, passed: bool, check: str = CHECK, **more: Any) -> "Play":
        return self.happens(
            events.CheckFinished(iteration=iteration, check=check, kind="command", passed=passed, **more)
        )

    def ready(self) -> "Play":
        """Every check ran once, and was red."""
        return self.checked(0, passed=False)

    def worked(
        self, number: int = 1, *, tree: str = "t1", result: IterationResult | None = None, **more: Any
    ) -> "Play":
        """Nothing was found in it."""
        self.observed(number, tree=tree, result=result, **more)
        return self.judged(number) if tree != "t0" else self

    def observed(
        self, number: int = 1, *, tree: str = "t1", result: IterationResult | None = None, **more: Any
    ) -> "Play":
        delta = (FileChange(path="a", change="modified"),) if tree != "t0" else ()
        return self.happens(
            events.IterationStarted(iteration=number, tree="t0"),
            events.IterationObserved(
                iteration=number, delta=delta, tree=tree, result=result or Continue(reason="exit 0"), **more
            ),
        )

    def judged(self, number: int, *found: Finding) -> "Play":
        findings = [events.GuardFinding(iteration=number, finding=one) for one in found]
        return self.happens(*findings, events.GuardFinished(iteration=number, files=1, duration_seconds=0.01))

    def iterated(self, number: int = 1, *, passed: bool = False, tree: str = "t1", **more: Any) -> "Play":
        self.worked(number, tree=tree, **more).checked(number, passed=passed)
        self.goes_on()
        return self


def command(move: Move, kind: type[Any]) -> Any:
    assert isinstance(move.command, kind), move.command
    return move.command


def test_first_every_check_runs_once_whatever_the_others_say() -> None:
    play = Play("a", "b", auto=SUITE)
    assert command(play.next(), commands.RunChecks) == commands.RunChecks(iteration=0, checks=("a", "b", SUITE))


def test_after_the_control_the_agent_works() -> None:
    assert command(Play().ready().next(), commands.RunAgent).iteration == 1


def test_after_the_agent_the_checks_run_and_then_its_work_is_kept_and_counted() -> None:
    play = Play().ready().worked()
    assert command(play.next(), commands.RunChecks) == commands.RunChecks(iteration=1, checks=(CHECK,))
    move = play.checked(1, passed=False).goes_on()
    assert command(move, commands.Keep).iteration == 1
    (finished,) = move.events
    assert isinstance(finished, events.IterationFinished)
    assert (finished.fate, finished.counted) == (Fate.KEPT, True)
    assert command(play.next(), commands.RunAgent).iteration == 2


def test_a_check_that_turns_green_completes_the_loop_without_any_claim() -> None:
    move = Play().ready().iterated(passed=True).next()
    command(move, commands.Deliver)
    assert [event.to for event in move.events if isinstance(event, events.StatusChanged)] == [Status.COMPLETING]


def test_completing_delivers_again_after_a_kill() -> None:
    play = Play().ready().iterated(passed=True)
    play.goes_on()
    play.happens(events.LoopAdopted(process=PROCESS, vouch=""))
    command(play.next(), commands.Deliver)


def test_abort_while_completing_ends_as_failed() -> None:
    play = Play().ready().iterated(passed=True)
    play.goes_on()
    assert command(play.next(Wish(do="abort", now=True)), commands.Finish).status is Status.FAILED


@pytest.mark.parametrize("claim", ["<promise>DONE</promise>", UNSET])
def test_a_claim_without_a_green_check_is_not_believed(claim: Any) -> None:
    play = Play().ready().iterated(claim=claim, result=Complete() if claim is UNSET else None)
    command(play.next(), commands.RunAgent)


def test_a_claim_on_checks_that_were_green_all_along_needs_a_change() -> None:
    play = Play().checked(0, passed=True)
    command(play.iterated(passed=True, tree="t0", claim="DONE").next(), commands.RunAgent)
    command(play.iterated(2, passed=True, tree="t1", claim="DONE").next(), commands.Deliver)


def test_checks_that_were_green_all_along_need_a_claim() -> None:
    command(Play().checked(0, passed=True).iterated(passed=True).next(), commands.RunAgent)


def test_require_proof_ends_in_failure_where_only_a_claim_could_end_it() -> None:
    play = Play(require_proof=True).checked(0, passed=True).iterated(passed=True, claim="DONE")
    assert command(play.next(), commands.Finish).exit_code == 1


def test_a_trusted_promise_ends_a_loop_without_checks() -> None:
    play = Play(trust_promise=True)
    play.course = replace(play.course, plan=replace(play.course.plan, checks=()))
    command(play.next(), commands.RunAgent)
    play.worked(claim="<promise>DONE</promise>").goes_on()
    command(play.next(), commands.Deliver)


def test_work_that_is_proven_on_the_last_allowed_iteration_is_a_success() -> None:
    command(Play(iterations=1).ready().iterated(passed=True).next(), commands.Deliver)


def test_a_limit_ends_the_loop_with_its_evidence() -> None:
    move = Play(iterations=1).ready().iterated().next()
    assert command(move, commands.Finish).exit_code == 4
    assert [event.limit for event in move.events if isinstance(event, events.LimitReached)] == ["iterations"]


def test_time_counts_over_all_attempts_and_checks() -> None:
    play = Play(seconds=10.0)
    play.checked(0, passed=False, duration_seconds=4.0).worked(duration_seconds=3.0)
    play.checked(1, passed=False, duration_seconds=2.9).goes_on()
    command(play.next(), commands.RunAgent)
    play.worked(2, duration_seconds=0.2, interrupted="pause").goes_on()
    assert command(play.next(), commands.Finish).exit_code == 4


def test_a_money_limit_that_cannot_be_watched_ends_the_loop_only_if_the_user_set_it() -> None:
    for unknown_cost, kind in (("stop", commands.Finish), ("warn", commands.RunAgent)):
        play = Play(cost_usd=5.0, unknown_cost=unknown_cost).ready().iterated()
        command(play.next(), kind)


def test_an_iteration_that_cannot_be_paid_is_not_begun() -> None:
    play = Play(cost_usd=1.0).ready().iterated(usage=Usage(cost_usd=0.6))
    move = play.next()
    assert command(move, commands.Finish).exit_code == 4
    assert "about $0.60" in command(move, commands.Finish).reason


@pytest.mark.parametrize(
    ("result", "more", "fate", "counted", "checked"),
    [
        (Continue(reason=""), {}, Fate.KEPT, True, True),
        (Complete(), {}, Fate.KEPT, True, True),
        (Failed(error="exited with 1"), {}, Fate.DISCARDED, True, False),
        (Failed(error="exited with 1"), {"cut": "wall"}, Fate.KEPT, True, True),
        (Continue(reason=""), {"cut": "idle"}, Fate.KEPT, True, True),
        (Continue(reason=""), {"cut": "cost"}, Fate.KEPT, True, True),
        (Continue(reason=""), {"usage_limit": True}, Fate.KEPT, False, True),
        (Blocked(blocker="no key"), {}, Fate.KEPT, True, False),
        (Continue(reason=""), {"interrupted": "pause"}, Fate.DISCARDED, False, False),
        (Failed(error="x"), {"interrupted": "abort"}, Fate.DISCARDED, False, False),
    ],
)
def test_the_table_of_endings(
    result: IterationResult, more: dict[str, Any], fate: Fate, *, counted: bool, checked: bool
) -> None:
    play = Play().ready().worked(result=result, **more)
    move = play.next()
    assert isinstance(move.command, commands.RunChecks) is checked
    if checked:
        move = play.checked(1, passed=False).next()
    (finished,) = move.events
    assert isinstance(finished, events.IterationFinished)
    assert (finished.fate, finished.counted) == (fate, counted)
    assert isinstance(move.command, commands.Keep if fate is Fate.KEPT else commands.RollBack)


def test_a_blocked_agent_pauses_the_loop_and_after_resume_it_goes_on() -> None:
    play = Play().ready().worked(result=Blocked(blocker="no key"))
    play.goes_on()
    pause = command(play.goes_on(), commands.Pause)
    assert (pause.reason, pause.words) == (PauseReason.BLOCKED, "no key")
    assert command(play.next(), commands.Leave).exit_code == 8
    play.happens(events.StatusChanged(to=Status.RUNNING))
    command(play.next(), commands.RunAgent)


def test_a_usage_limit_sleeps_until_it_has_passed_and_tries_the_same_iteration_again() -> None:
    later = datetime(2026, 2, 2, 22, 0, tzinfo=UTC)
    play = Play().ready().iterated(usage_limit=True, resume_at=later)
    move = play.next()
    assert command(move, commands.Pause).resume_at == later
    play.happens(events.StatusChanged(to=Status.PAUSED, pause_reason=PauseReason.USAGE_LIMIT, resume_at=later))
    assert command(play.next(), commands.SleepUntil).at == later
    assert command(play.next(Wish(do="pause")), commands.Leave).exit_code == 8
    play.happens(events.StatusChanged(to=Status.RUNNING))
    assert command(play.next(), commands.RunAgent).iteration == 1


def test_a_limit_of_which_nobody_says_how_long_it_lasts_is_waited_for_too_until_a_human_is_asked() -> None:
    play = Play(iterations=20).ready()
    for _ in range(LIMITED - 1):
        play.iterated(usage_limit=True)
        pause = command(play.next(), commands.Pause)
        assert (pause.reason, pause.again) == (PauseReason.USAGE_LIMIT, True)
        play.happens(events.StatusChanged(to=Status.PAUSED), events.StatusChanged(to=Status.RUNNING))
    play.iterated(usage_limit=True)
    assert not command(play.next(), commands.Pause).again


def test_an_agent_that_cannot_be_started_ends_the_loop_at_once() -> None:
    play = Play().ready().worked(result=Failed(error="no such file"), not_started="nope: not found")
    play.goes_on()
    assert command(play.next(), commands.Finish).exit_code == 6


def test_an_agent_that_fails_three_times_in_a_row_is_called_failing() -> None:
    play = Play(iterations=20).ready()
    for number in (1, 2):
        play.worked(number, result=Failed(error="exited with 1")).goes_on()
    play.iterated(3)
    for number in (4, 5):
        play.worked(number, result=Failed(error="exited with 1")).goes_on()
        command(play.next(), commands.RunAgent)
    play.worked(6, result=Failed(error="exited with 1")).goes_on()
    finish = command(play.next(), commands.Finish)
    assert (finish.exit_code, finish.status) == (6, Status.FAILED)
    assert "exited with 1" in finish.error


def test_a_check_that_cannot_be_run_pauses_before_any_iteration_and_is_tried_again_after_resume() -> None:
    play = Play().checked(0, passed=False, broken=True, output="cannot be run: make is missing\nmore")
    pause = command(play.goes_on(), commands.Pause)
    assert pause.reason is PauseReason.BROKEN_CHECK
    assert pause.words == f"{CHECK}: cannot be run: make is missing"
    play.happens(events.StatusChanged(to=Status.RUNNING))
    assert command(play.next(), commands.RunChecks) == commands.RunChecks(iteration=0, checks=(CHECK,))


def test_a_check_script_that_the_task_is_to_create_may_be_missing_at_the_start() -> None:
    missing: dict[str, Any] = {"passed": False, "broken": True, "missing": "./verify.sh"}
    for task, kind in (("write verify.sh", commands.RunAgent), ("fix it", commands.Pause)):
        play = Play("./verify.sh", task=task).checked(0, check="./verify.sh", **missing)
        command(play.next(), kind)


def test_a_check_script_that_is_to_be_created_may_take_more_than_one_iteration() -> None:
    missing: dict[str, Any] = {"passed": False, "broken": True, "missing": "./verify.sh"}
    play = Play("./verify.sh", task="write verify.sh").checked(0, check="./verify.sh", **missing).worked()
    play.checked(1, check="./verify.sh", **missing).goes_on()
    assert command(play.next(), commands.RunAgent).iteration == 2


def test_a_check_that_breaks_later_pauses_and_is_made_up_for_before_the_next_iteration() -> None:
    play = Play().ready().worked().checked(1, passed=False, broken=True, output="cannot be run: gone")
    move = play.goes_on()
    command(move, commands.Keep)
    assert command(play.goes_on(), commands.Pause).reason is PauseReason.BROKEN_CHECK
    play.happens(events.StatusChanged(to=Status.RUNNING))
    assert command(play.next(), commands.RunChecks) == commands.RunChecks(iteration=1, checks=(CHECK,))
    play.checked(1, passed=True)
    command(play.next(), commands.Deliver)


def test_a_check_script_that_the_agent_removed_is_not_yet_rather_than_broken() -> None:
    play = Play("./check").checked(0, passed=False, check="./check").worked()
    play.checked(1, passed=False, check="./check", broken=True, missing="./check").goes_on()
    command(play.next(), commands.RunAgent)


def test_the_projects_tests_run_only_once_the_users_checks_are_green() -> None:
    play = Play(auto=SUITE).ready().checked(0, passed=True, check=SUITE).worked()
    assert command(play.next(), commands.RunChecks).checks == (CHECK,)
    play.checked(1, passed=True)
    assert command(play.next(), commands.RunChecks).checks == (SUITE,)


@pytest.mark.parametrize(
    ("before", "now", "done"),
    [
        ({"passed": True}, {"passed": True}, True),
        ({"passed": True}, {"passed": False}, False),
        ({"passed": False}, {"passed": False}, True),
        ({"passed": False}, {"passed": False, "lost": "tests that passed before fail: a"}, False),
        ({"passed": False, "broken": True}, {"passed": False}, True),
    ],
)
def test_tests_that_were_green_at_the_start_must_stay_green_whatever_until_says(
    before: dict[str, Any], now: dict[str, Any], *, done: bool
) -> None:
    play = Play(auto=SUITE).ready().checked(0, check=SUITE, **before).worked()
    play.checked(1, passed=True).checked(1, check=SUITE, **now).goes_on()
    command(play.next(), commands.Deliver if done else commands.RunAgent)


def test_pause_waits_for_the_end_of_the_iteration_and_completion_comes_first() -> None:
    pause = Wish(do="pause")
    play = Play().ready().worked()
    command(play.next(pause), commands.RunChecks)
    play.checked(1, passed=False).goes_on(pause)
    assert command(play.next(pause), commands.Pause).reason is PauseReason.USER
    command(Play().ready().iterated(passed=True).next(pause), commands.Deliver)


def test_pause_now_throws_an_unchecked_iteration_away() -> None:
    now = Wish(do="pause", now=True)
    move = Play().ready().worked().next(now)
    command(move, commands.RollBack)
    (finished,) = move.events
    assert isinstance(finished, events.IterationFinished)
    assert not finished.counted


def test_abort_between_iterations_ends_the_loop() -> None:
    finish = command(Play().ready().next(Wish(do="abort", now=True)), commands.Finish)
    assert (finish.status, finish.reason) == (Status.ABORTED, "aborted_by_user")


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_killed_runner_discards_what_was_unfinished_and_begins_it_again(steps: int) -> None:
    play = Play().ready().iterated()
    happened: Sequence[events.Event] = (
        events.IterationStarted(iteration=2, tree="t1"),
        events.IterationObserved(iteration=2, delta=(), tree="t2", result=Continue(reason="")),
        events.CheckFinished(iteration=2, check=CHECK, kind="command", passed=True),
    )
    play.happens(*happened[: steps + 1], events.LoopAdopted(process=PROCESS, vouch="", discarded_iteration=2))
    assert command(play.next(), commands.RunAgent).iteration == 2
    assert play.state.iteration == 1


def test_progress_is_more_tests_passing_or_a_change_where_nobody_counts_them() -> None:
    play = Play().checked(0, passed=False, tests=TestResults(total=5, passed=2))
    for number, (passed, progressed) in enumerate([(2, False), (3, True), (1, False), (2, True)], start=1):
        play.worked(number).checked(number, passed=False, tests=TestResults(total=5, passed=passed))
        (finished,) = play.goes_on().events
        assert isinstance(finished, events.IterationFinished)
        assert finished.progressed is progressed
    assert play.state.metrics
    assert play.state.metrics.successful_iterations == 2


CONFLICT = events.GateOpened(gate_id="conflict-1", kind=events.CONFLICT, message="you changed a", iteration=1)


def test_where_the_user_changed_the_same_file_the_loop_waits_however_green_its_checks_were() -> None:
    play = Play().ready().iterated(passed=True).happens(CONFLICT)
    pause = command(play.goes_on(), commands.Pause)
    assert (pause.reason, pause.words) == (PauseReason.GATE, "you changed a")


def test_a_runner_that_was_killed_at_a_gate_waits_at_it_again() -> None:
    play = Play().ready().iterated(passed=True).happens(CONFLICT, events.LoopAdopted(process=PROCESS, vouch=""))
    assert command(play.next(), commands.Pause).reason is PauseReason.GATE


@pytest.mark.parametrize("passed", [True, False])
def test_after_a_conflict_the_tree_that_is_there_now_is_checked_before_anything_else(*, passed: bool) -> None:
    play = Play().ready().iterated(passed=True).happens(CONFLICT)
    play.goes_on()
    play.happens(events.StatusChanged(to=Status.RUNNING))
    assert command(play.next(), commands.RunChecks) == commands.RunChecks(iteration=1, checks=(CHECK,))
    command(play.checked(1, passed=passed).next(), commands.Deliver if passed else commands.RunAgent)


def test_a_tree_that_was_changed_after_its_checks_is_checked_again_and_then_delivered() -> None:
    play = Play().ready().iterated(passed=True).happens(events.TreeChanged(iteration=1, tree="t2"))
    assert command(play.next(), commands.RunChecks).iteration == 1
    command(play.checked(1, passed=True).next(), commands.Deliver)
    assert play.course.moved


def test_a_tree_that_was_changed_and_is_red_now_goes_back_to_the_agent() -> None:
    play = Play().ready().iterated(passed=True).happens(events.TreeChanged(iteration=1, tree="t2"))
    assert command(play.checked(1, passed=False).next(), commands.RunAgent).iteration == 2
    assert not play.iterated(2, passed=True).course.moved


def insisting(play: Play, number: int) -> Play:
    play.worked(number, tree=f"t{number}").checked(number, passed=False, only_with=("tests/test_a.py",))
    play.goes_on()
    return play


def test_work_that_needs_other_tests_is_told_once_and_then_a_human_is_asked() -> None:
    play = insisting(Play().ready(), 1)
    command(play.next(), commands.RunAgent)
    move = insisting(play, 2).goes_on()
    assert command(move, commands.Pause).reason is PauseReason.GATE
    assert [event.kind for event in move.events if isinstance(event, events.GateOpened)] == ["permission"]
    assert "tests/test_a.py" in command(move, commands.Pause).words


def test_after_a_resume_work_that_needed_other_tests_is_checked_again_and_gets_two_more_tries() -> None:
    play = insisting(insisting(Play().ready(), 1), 2)
    play.goes_on()
    play.happens(events.StatusChanged(to=Status.RUNNING))
    assert command(play.next(), commands.RunChecks).iteration == 2
    command(play.checked(2, passed=False, only_with=("tests/test_a.py",)).next(), commands.RunAgent)
    command(insisting(play, 3).next(), commands.RunAgent)
    command(insisting(play, 4).next(), commands.Pause)


def test_work_that_needed_other_tests_is_done_once_they_are_allowed() -> None:
    play = insisting(insisting(Play().ready(), 1), 2)
    play.goes_on()
    play.happens(events.StatusChanged(to=Status.RUNNING))
    command(play.checked(2, passed=True).next(), commands.Deliver)
