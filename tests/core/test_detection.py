"""What state.json says of the guard while a loop goes is what its journal amounts to."""

from msgspec import UNSET
from msgspec.structs import replace

from core.history import LOOP, History, finding
from support import MOMENT
from untilproven.core.analytics import analytics
from untilproven.core.beginning import new_state
from untilproven.core.persistence import KEPT_ENTRIES
from untilproven.core.projection import apply
from untilproven.model import events
from untilproven.model.fields import Severity
from untilproven.model.iteration import FALSE_POSITIVE
from untilproven.model.state import LoopState


def folded(history: History) -> LoopState:
    state = new_state(LOOP, task="fix", owner="me", working_directory="/p", process=UNSET, at=MOMENT)
    for entry in history.entries:
        state = apply(state, entry)
    return state


def test_times_and_overhead_are_those_of_the_report() -> None:
    history = History()
    for number in range(1, 101):
        history.iteration(number, found={}, guard_seconds=number / 1000, seconds=1)
    metrics = folded(history).persistence_metrics
    assert metrics == analytics(LOOP, history.entries).persistence_metrics
    assert metrics
    assert (metrics.detection_latency_p95_ms, metrics.detection_latency_p99_ms) == (95, 99)
    assert metrics.integration_overhead_percentage == 5.05


def test_what_is_kept_does_not_grow_and_what_is_counted_does() -> None:
    history = History()
    for number in range(1, KEPT_ENTRIES + 101):
        history.iteration(number, found={}, guard_seconds=1.0 if number <= 100 else 0.01, seconds=2)
    state = folded(history)
    assert state.detection_time
    assert state.persistence_metrics
    assert len(state.detection_time.newest_seconds) == KEPT_ENTRIES
    assert state.persistence_metrics.detection_latency_p99_ms == 10
    whole = analytics(LOOP, history.entries).persistence_metrics
    assert whole
    assert state.persistence_metrics.integration_overhead_percentage == whole.integration_overhead_percentage


def test_a_guard_that_never_looked_has_no_figures() -> None:
    history = History().iteration(1)
    history.add(events.GuardFinished(iteration=1, files=0, duration_seconds=0, skipped="no room"))
    assert folded(history.iteration(2)).persistence_metrics is UNSET


def test_what_a_person_said_by_then_is_counted() -> None:
    history = History().iteration(1, found={})
    history.add(
        events.GuardFinished(iteration=2, files=1, duration_seconds=0.1, confirmed=2, false_positives=1),
    )
    metrics = folded(history).persistence_metrics
    assert metrics
    assert (metrics.true_positive_count, metrics.false_positive_count) == (2, 1)
    assert metrics.false_positive_rate == 0.3333
    unmarked = folded(History().iteration(1, found={})).persistence_metrics
    assert unmarked
    assert unmarked.false_positive_rate is UNSET


def test_a_pattern_that_a_person_has_called_wrong_says_so() -> None:
    wrong = replace(finding(Severity.LOW), explanations=(FALSE_POSITIVE,))
    history = History().add(
        events.GuardFinding(iteration=1, finding=finding(Severity.HIGH)),
        events.GuardFinding(iteration=1, finding=wrong),
    )
    assert [one.false_positive for one in folded(history).detected_patterns or ()] == [False, True]
