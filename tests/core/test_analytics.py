"""What a journal amounts to: scores and where they go, money and tokens as far as known, what a guard costs."""

import msgspec
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from core.history import LOOP, USED, History, finding, scored
from support import MOMENT
from untilproven.core import across
from untilproven.core.analytics import analytics
from untilproven.core.incidents import incidents
from untilproven.core.trend import diminishing, trajectory
from untilproven.model import events, wire
from untilproven.model.analytics import Analytics, CommonTask
from untilproven.model.fields import Decision, Severity
from untilproven.model.iteration import Fate, Usage
from untilproven.model.persistence import AttemptOutcome, RecoveryAttempt
from untilproven.model.state import ProcessIdentity
from untilproven.model.status import Status


def of(history: History, **marks: str) -> Analytics:
    return analytics(LOOP, history.entries, {name.replace("_", "-"): verdict for name, verdict in marks.items()})


def test_the_published_example() -> None:
    found = of(scored(60, 85, 83))
    assert [row.quality_delta for row in found.iterations] == [0, 25, -2]
    assert (found.optimal_iteration, found.final_iteration, found.selected_iteration) == (2, 3, 2)
    assert found.selection_reason == "Highest (85%)"
    assert found.quality_trajectory == "fluctuating"
    assert found.diminishing_returns_detected is False
    assert found.diminishing_returns_iteration is UNSET
    assert found.quality_improvement == 25


@pytest.mark.parametrize(
    ("scores", "way"),
    [
        ([50, 90], "insufficient_data"),
        ([50, 60, 70], "improving"),
        ([70, 60, 50], "declining"),
        ([70, 72, 70], "stable"),
        ([70, 72.1, 74.2, 74.2], "fluctuating"),
        ([70, 73, 76, 76, 79], "improving"),
        ([50, 90, 50], "fluctuating"),
    ],
)
def test_a_trajectory_is_the_way_that_two_thirds_of_the_steps_go(scores: list[float], way: str) -> None:
    assert trajectory(scores) == way


@pytest.mark.parametrize(
    ("scores", "place"),
    [
        ([50, 52, 54], 2),
        ([50, 52.5, 55], None),
        ([50, 52, 60, 61, 62], 4),
        ([50, 49, 48], 2),
        ([0, 0, 0], 2),
        ([0, 1, 1], None),
        ([50, 51], None),
    ],
)
def test_returns_diminish_when_two_steps_in_a_row_are_under_a_twentieth(scores: list[float], place: int | None) -> None:
    assert diminishing(scores) == place


def test_where_returns_diminish_is_named_by_its_iteration() -> None:
    history = History().iteration(1, 50).iteration(2, fate=Fate.DISCARDED).iteration(3, 51).iteration(4, 51)
    found = of(history)
    assert (found.diminishing_returns_detected, found.diminishing_returns_iteration) == (True, 4)


def test_of_equal_scores_the_earlier_is_the_best() -> None:
    assert of(scored(70, 85, 85)).optimal_iteration == 2


def test_what_was_proven_is_selected_before_what_scored_higher() -> None:
    history = scored(60, 85, 83)
    history.add(events.StatusChanged(to=Status.COMPLETING), events.StatusChanged(to=Status.COMPLETED, reason="green"))
    found = of(history)
    assert (found.optimal_iteration, found.selected_iteration, found.selection_reason) == (2, 3, "green")
    assert found.quality_improvement == 23


def test_what_is_in_place_is_the_last_that_was_kept_or_brought_back() -> None:
    history = scored(60, 85).iteration(3, fate=Fate.DISCARDED)
    assert of(history).delivered_iteration == 2
    history.add(events.TreeRestored(iteration=1, tree="a" * 40))
    assert of(history).delivered_iteration == 1
    history.add(events.LoopFinished(status=Status.FAILED, exit_code=4, iterations=3, undelivered=True))
    assert of(history).delivered_iteration is UNSET


def test_held_back_work_that_a_human_let_through_counts_as_kept() -> None:
    history = History().iteration(1, found={Severity.CRITICAL: 1}, fate=Fate.PARKED)
    assert of(history).iterations[0].fate is Fate.PARKED
    history.add(events.TreeRestored(iteration=1, tree="a" * 40)).check(1, passed=True)
    (row,) = of(history).iterations
    assert (row.fate, row.verification_status) == (Fate.KEPT, "passed")


def test_unknown_is_left_out_and_never_zero() -> None:
    found = of(History().iteration(1, usage=Usage()))
    written = wire.to_builtins(found)
    assert set(written["iterations"][0]) == {
        *("iteration_number", "timestamp", "execution_time_ms", "verification_status", "fate", "counted"),
    }
    assert written["totals"] == {
        "iterations": 1,
        "execution_time_ms": 2000,
        "unknown_token_iterations": 1,
        "unknown_cost_iterations": 1,
    }
    assert set(written) == {
        *("version", "loop_id", "iterations", "totals", "diminishing_returns_detected", "quality_trajectory"),
        *("final_iteration", "delivered_iteration"),
    }


def test_a_loop_in_which_nothing_has_happened() -> None:
    found = of(History())
    assert (found.iterations, found.totals.iterations, found.quality_trajectory) == ((), 0, "insufficient_data")
    assert wire.decode(Analytics, wire.encode_pretty(found)) == found


def test_the_guard_finding_nothing_is_not_the_guard_not_looking() -> None:
    rows = of(History().iteration(1, found={}).iteration(2, found={Severity.LOW: 2}).iteration(3)).iterations
    assert [row.findings for row in rows] == [{}, {Severity.LOW: 2}, UNSET]


def test_sums_are_of_what_is_known_and_say_of_how_many_it_is_not() -> None:
    history = scored(50, 60).iteration(3, 70, usage=Usage(input_tokens=10, output_tokens=5))
    found = of(history)
    assert (found.totals.tokens, found.totals.cost_usd) == (2015, 1.0)
    assert (found.totals.unknown_token_iterations, found.totals.unknown_cost_iterations) == (UNSET, 1)
    assert found.quality_per_1k_tokens == round(70 * 1000 / 2015, 4)
    assert found.cost_per_point_usd is UNSET


def test_money_per_point_gained() -> None:
    assert of(scored(50, 70)).cost_per_point_usd == 0.05
    assert of(scored(70, 50)).cost_per_point_usd is UNSET
    assert of(scored(70)).cost_per_point_usd is UNSET


def test_what_does_not_count_is_paid_for() -> None:
    history = History().iteration(1, counted=False).iteration(1, 50)
    found = of(history)
    assert [(row.iteration_number, row.counted) for row in found.iterations] == [(1, False), (1, True)]
    assert (found.totals.iterations, found.totals.cost_usd) == (1, 1.0)


def test_an_iteration_whose_runner_was_killed_is_paid_for_and_has_no_row() -> None:
    history = History().add(events.IterationStarted(iteration=1)).check(1, passed=True)
    process = ProcessIdentity(pid=1, start="1", boot_id="b")
    history.add(events.LoopAdopted(process=process, vouch="", discarded_iteration=1, usage=USED))
    found = of(history.iteration(1))
    assert [row.verification_status for row in found.iterations] == ["skipped"]
    assert (found.totals.iterations, found.totals.tokens) == (1, 2000)


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"passed": True}, "passed"),
        ({"passed": False}, "failed"),
        ({"passed": True, "lost": "test_x no longer passes"}, "failed"),
        ({"passed": False, "broken": True}, "skipped"),
    ],
)
def test_an_iteration_is_verified_when_every_check_passed_and_nothing_was_lost(
    more: dict[str, object], status: str
) -> None:
    (row,) = of(History().iteration(1).check(1, **more)).iterations  # type: ignore[arg-type]
    assert row.verification_status == status


@pytest.mark.parametrize(("could_run_before", "status"), [(True, "failed"), (False, "passed")])
def test_a_check_that_can_no_longer_run_is_no_verification_beside_one_that_passed(
    could_run_before: bool, status: str
) -> None:
    """One that could not be run before the work either says nothing."""
    lint = events.CheckFinished(iteration=0, check="lint", kind="command", passed=False, broken=not could_run_before)
    history = History().add(lint).iteration(1).check(1, passed=True)
    history.add(replace(lint, iteration=1, broken=True))
    assert of(history).iterations[0].verification_status == status


def test_the_guards_latency_and_overhead() -> None:
    history = History()
    for number in range(1, 101):
        history.iteration(number, found={}, guard_seconds=number / 1000, seconds=1)
    metrics = of(history).persistence_metrics
    assert metrics
    assert (metrics.detection_latency_p95_ms, metrics.detection_latency_p99_ms) == (95, 99)
    assert metrics.integration_overhead_percentage == 5.05
    assert (metrics.false_positive_rate, metrics.true_positive_count, metrics.false_positive_count) == (UNSET,) * 3


def test_a_percentile_is_no_less_than_that_share_of_the_values() -> None:
    history = History()
    for number in range(1, 11):
        history.iteration(number, found={}, guard_seconds=number / 1000)
    metrics = of(history).persistence_metrics
    assert metrics
    assert metrics.detection_latency_p95_ms == 10


def test_a_guard_that_could_not_look_has_no_latency() -> None:
    history = History().iteration(1)
    history.add(events.GuardFinished(iteration=1, files=0, duration_seconds=0, skipped="no room"))
    assert of(history).persistence_metrics is UNSET


def test_the_rate_of_false_positives_is_of_the_findings_somebody_marked() -> None:
    history = History().iteration(1, found={})
    for name in ("LP-001", "LP-002", "LP-003", "LP-004"):
        history.add(events.GuardFinding(iteration=1, finding=finding(Severity.HIGH, name)))
    marks = {"LP_001": "false_positive", "LP_002": "confirmed", "LP_003": "confirmed", "LP_999": "false_positive"}
    metrics = of(history, **marks).persistence_metrics
    assert metrics
    assert (metrics.false_positive_count, metrics.true_positive_count) == (1, 2)
    assert metrics.false_positive_rate == 0.3333


def test_incidents_are_what_blocked_and_who_decided_and_what_was_made_of_it() -> None:
    history = History().iteration(1, found={Severity.CRITICAL: 2, Severity.LOW: 1}, fate=Fate.PARKED)
    gate = events.GateOpened(gate_id="destructive-1", kind="destructive", message="held back", iteration=1)
    decided = events.GateDecided(gate_id="destructive-1", decision=Decision.REJECT, by="human", why="no")
    begun = RecoveryAttempt(timestamp=MOMENT, iteration=1, trigger="regression", recovery_id="rec-001")
    ended = msgspec.structs.replace(begun, outcome=AttemptOutcome.ESCALATED)
    history.add(gate, events.RecoveryStep(attempt=begun), decided, events.RecoveryStep(attempt=ended))
    found = incidents(history.entries)
    assert [(one.iteration, len(one.findings)) for one in found.refusals] == [(1, 2)]
    assert [(one.opened, one.decided) for one in found.gates] == [(gate, decided)]
    assert found.recoveries == (ended,)


def test_what_an_interrupted_attempt_was_refused_for_is_looked_at_again() -> None:
    history = History().iteration(1, found={Severity.HIGH: 1}, counted=False).iteration(1, found={})
    assert incidents(history.entries).refusals == ()


def test_of_many_incidents_the_newest_are_kept_and_the_others_counted() -> None:
    history = History()
    for number in range(1, 251):
        history.iteration(number, found={Severity.HIGH: 1})
    found = incidents(history.entries)
    assert [found.refusals[0].iteration, found.refusals[-1].iteration] == [51, 250]
    assert found.left_out == {"refusals": 50}


def test_averages_across_loops_are_over_those_of_which_the_number_is_known() -> None:
    runs = [
        across.Run("fix it\nin detail", Status.COMPLETED, of(scored(50, 70))),
        across.Run("fix  it", Status.FAILED, of(scored(50, 60, 80))),
        across.Run("\x1b[2Jdo it", Status.FAILED, of(History().iteration(1, usage=Usage()))),
        across.Run("", Status.FAILED, of(History().iteration(1).iteration(2, usage=Usage()))),
    ]
    found = across.summary(runs, MOMENT)
    assert found.total_loops_run == 4
    assert found.loops_by_status == {"completed": 1, "failed": 3}
    assert found.average_iterations_per_loop == 2
    assert found.average_quality_improvement == 25
    assert (found.average_cost_per_loop, found.loops_of_unknown_cost) == (1.25, 2)
    assert found.most_common_tasks == (CommonTask(task="fix it", loops=2), CommonTask(task="do it", loops=1))


def test_no_loops_have_no_averages() -> None:
    found = across.summary([], MOMENT)
    assert (found.total_loops_run, found.average_cost_per_loop, found.average_iterations_per_loop) == (0, UNSET, UNSET)
