from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from support import MOMENT
from untilproven.core import persistence
from untilproven.core.beginning import new_state
from untilproven.model.fields import Severity
from untilproven.model.persistence import (
    BaselineMetrics,
    RecoveryAttempt,
    RegressionEvent,
    RegressionType,
    Reinforcement,
)
from untilproven.model.state import LoopState

objects = st.dictionaries(st.text(max_size=5), st.recursive(st.integers() | st.none(), st.lists, max_leaves=5))
BASELINE = BaselineMetrics(captured_at=MOMENT, test_count=10, coverage_percentage=80)


def state() -> LoopState:
    return new_state(
        "ralph-fix-tests-a1b2c3d4", task="fix", owner="me", working_directory="/p", process=UNSET, at=MOMENT
    )


@given(objects, objects)
def test_the_extension_wins_whole_and_nothing_else_is_lost(
    base: dict[str, object], extension: dict[str, object]
) -> None:
    merged = persistence.shallow_merge(base, extension)
    assert merged.keys() == base.keys() | extension.keys()
    assert all(merged[key] == extension[key] for key in extension)
    assert all(merged[key] == base[key] for key in base.keys() - extension.keys())


@given(objects, objects)
def test_merging_twice_changes_nothing_more(base: dict[str, object], extension: dict[str, object]) -> None:
    once = persistence.shallow_merge(base, extension)
    assert persistence.shallow_merge(once, extension) == once


def test_a_nested_object_is_replaced_and_not_merged() -> None:
    merged = persistence.shallow_merge({"metrics": {"a": 1, "b": 2}}, {"metrics": {"a": 3}})
    assert merged == {"metrics": {"a": 3}}


def test_on_loop_start_sets_what_the_document_says() -> None:
    started = persistence.on_loop_start(state(), BASELINE, MOMENT)
    assert started.baseline_metrics == BASELINE
    assert started.detection_enabled is True
    assert started.iteration_history == ()
    assert started.regression_events == ()
    assert started.reinforcement_level is Reinforcement.MINIMAL
    (change,) = started.reinforcement_history or ()
    assert (change.from_level, change.to_level, change.reason) == ("OFF", "MINIMAL", "Loop initialization")


def test_the_same_level_again_is_not_a_change() -> None:
    started = persistence.on_loop_start(state(), BASELINE, MOMENT)
    again = persistence.reinforced(started, Reinforcement.MINIMAL, "once more", iteration=2, at=MOMENT)
    assert again == started


def test_every_regression_counts_as_a_recovery_attempt() -> None:
    event = RegressionEvent(
        timestamp=MOMENT, iteration=1, regression_type=RegressionType.TEST_DELETION, severity=Severity.CRITICAL
    )
    after = persistence.on_regression_detected(persistence.on_regression_detected(state(), event), event)
    assert after.recovery_attempts == 2
    assert after.regression_events == (event, event)


def test_detection_ends_with_the_loop_but_is_not_invented_where_it_never_began() -> None:
    assert persistence.on_loop_complete(state()).detection_enabled is UNSET
    assert persistence.on_loop_complete(replace(state(), detection_enabled=True)).detection_enabled is False


def test_lists_keep_the_newest_200_and_count_them_all() -> None:
    grown = state()
    for number in range(1, 251):
        attempt = RecoveryAttempt(timestamp=MOMENT, iteration=number, trigger="x")
        grown = persistence.appended(grown, "recovery_history", attempt)
    assert [attempt.iteration for attempt in grown.recovery_history or ()] == list(range(51, 251))
    assert grown.totals
    assert grown.totals.recovery_history == 250
