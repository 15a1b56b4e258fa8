import os

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from support import SetClock, iteration_events, make_project, run_iteration
from untilproven.core.stale import Liveness
from untilproven.errors import Busy, IllegalTransition, NoSuchLoop, RalphError, StoreFailed
from untilproven.model import events, wire
from untilproven.model.fields import PauseReason
from untilproven.model.iteration import Continue, Failed, Fate, IterationRecord, Usage
from untilproven.model.state import LoopState
from untilproven.model.status import MOVES, TERMINAL, Status
from untilproven.store import reader
from untilproven.store.layout import Project
from untilproven.store.lifecycle import adopt_loop, create_state
from untilproven.store.registry import open_registry, read_registry
from untilproven.store.replay import replay_journal
from untilproven.store.writer import LoopWriter, open_loop


def on_disk(writer: LoopWriter) -> LoopState:
    return wire.decode(LoopState, writer.loop.state.read_bytes())


def registered(project: Project) -> dict[str, str]:
    return {entry.loop_id: entry.status for entry in read_registry(project.state).registry.active_loops}


def test_a_new_loop_is_on_disk_registered_and_vouched_for(project: Project) -> None:
    clock = SetClock()
    with create_state(project, "Fix the tests", completion_criteria="pytest", time=clock) as writer:
        state = on_disk(writer)
        assert state == writer.state
        assert (state.status, state.iteration, state.journal_seq) == (Status.RUNNING, 0, 1)
        assert state.loop_id.startswith("ralph-fix-the-tests-")
        assert state.started_at == clock()
        assert registered(project) == {state.loop_id: "running"}
        seen = reader.view(project.state, state.loop_id)
        assert not seen.foreign
        assert seen.damage == ()


def test_the_state_directory_keeps_itself_out_of_git_but_not_the_task_files(project: Project) -> None:
    create_state(project, "x").close()
    lines = (project.state.path / ".gitignore").read_text().splitlines()
    assert "*" in lines
    assert "!tasks.jsonl" in lines
    (project.state.path / ".gitignore").write_bytes(b"")
    create_state(project, "a kill had left it empty").close()
    assert (project.state.path / ".gitignore").read_text().splitlines() == lines


def test_an_iteration_is_counted_once_and_its_record_is_whole(project: Project) -> None:
    with create_state(project, "fix") as writer:
        run_iteration(writer, 1, output="2 failed")
        state = on_disk(writer)
        assert state.iteration == 1
        assert state.metrics
        assert state.metrics.total_iterations == 1
        assert state.metrics.total_tokens == 1000
        assert state.metrics.total_cost_usd == 0.01
        assert state.metrics.average_iteration_time_seconds == 1.5
        assert state.iteration_in_progress is UNSET
        record = wire.decode(IterationRecord, writer.loop.iteration(1).read_bytes())
        assert record.number == 1
        assert record.delta[0].path == "src/module_1.py"
        assert record.checks[0].output == "2 failed"
        assert record.result == Continue(reason="a check failed")
        assert record.tree_before == "a" * 40
        assert record.started_at


def test_an_iteration_that_does_not_count_still_costs(project: Project) -> None:
    with create_state(project, "fix") as writer:
        writer.record(events.IterationStarted(iteration=1))
        writer.record(
            events.IterationFinished(
                iteration=1,
                result=Continue(reason="usage limit"),
                fate=Fate.KEPT,
                counted=False,
                progressed=False,
                duration_seconds=9,
                usage=Usage(input_tokens=10, output_tokens=5, cost_usd=0.5),
            )
        )
        assert writer.state.iteration == 0
        assert writer.state.metrics
        assert writer.state.metrics.total_iterations == 0
        assert writer.state.metrics.total_tokens == 15
        assert writer.state.metrics.total_cost_usd == 0.5


def test_cost_that_nobody_reported_is_unknown_and_not_zero(project: Project) -> None:
    with create_state(project, "fix") as writer:
        writer.record(
            events.IterationFinished(
                iteration=1,
                result=Failed(error="died"),
                fate=Fate.DISCARDED,
                counted=True,
                progressed=False,
                duration_seconds=1,
            )
        )
        metrics = writer.state.metrics
        assert metrics
        assert metrics.total_cost_usd is UNSET
        assert metrics.total_tokens is UNSET
        assert metrics.unknown_cost_iterations == 1
        assert metrics.failed_iterations == 1


def test_check_output_in_the_state_is_cut_and_the_journal_keeps_more(project: Project) -> None:
    with create_state(project, "fix") as writer:
        writer.record_completion_check(passed=False, output="x" * 50_000 + "the end")
        assert writer.state.progress
        last = writer.state.progress.last_completion_check
        assert last
        assert last.output
        assert len(last.output.encode()) <= 4096
        assert last.output.endswith("the end")
        assert b"x" * 40_000 in writer.loop.journal.read_bytes()


def test_a_check_that_passes_moves_a_running_loop_to_completing_and_no_other(project: Project) -> None:
    with create_state(project, "fix") as writer:
        assert writer.record_completion_check(passed=False, output="red").status is Status.RUNNING
        assert writer.record_completion_check(passed=True, output="green").status is Status.COMPLETING
        assert writer.record_completion_check(passed=True, output="green").status is Status.COMPLETING
        assert registered(project) == {writer.state.loop_id: "completing"}
        assert writer.state.totals
        assert writer.state.totals.completion_checks == 3


def test_an_illegal_move_changes_nothing_at_all(project: Project) -> None:
    with create_state(project, "fix") as writer:
        before = (writer.loop.journal.read_bytes(), writer.loop.state.read_bytes(), project.state.registry.read_bytes())
        with pytest.raises(IllegalTransition):
            writer.transition_status(Status.COMPLETED)
        after = (writer.loop.journal.read_bytes(), writer.loop.state.read_bytes(), project.state.registry.read_bytes())
        assert after == before


@pytest.mark.parametrize("end", [Status.FAILED, Status.ABORTED])
def test_a_loop_that_ends_leaves_the_registry_in_the_same_step(project: Project, end: Status) -> None:
    with create_state(project, "fix") as writer:
        writer.transition_status(end, reason="enough", error="because")
        assert registered(project) == {}
        assert writer.state.completed_at
        assert writer.state.pid is UNSET
        assert writer.state.error_context
        assert writer.state.error_context.error_message == "because"


def test_a_loop_that_ended_takes_no_more_events(project: Project) -> None:
    with create_state(project, "fix") as writer:
        writer.transition_status(Status.ABORTED)
        before = writer.loop.journal.read_bytes()
        for event in iteration_events(1):
            with pytest.raises(IllegalTransition):
                writer.record(event)
        with pytest.raises(IllegalTransition):
            writer.update_state({"task": "other"})
        assert writer.loop.journal.read_bytes() == before
        writer.record(events.LoopFinished(status=Status.ABORTED, exit_code=1, iterations=0))


def test_a_crashed_loop_keeps_its_place_in_the_registry(project: Project) -> None:
    with create_state(project, "fix") as writer:
        writer.transition_status(Status.CRASHED)
        assert registered(project) == {writer.state.loop_id: "crashed"}


def test_a_paused_loop_says_why_and_writes_no_heartbeat(project: Project) -> None:
    clock = SetClock()
    with create_state(project, "fix", time=clock) as writer:
        until = clock.at
        writer.transition_status(Status.PAUSED, pause_reason=PauseReason.USAGE_LIMIT, resume_at=until)
        assert writer.state.pause_reason is PauseReason.USAGE_LIMIT
        before = project.state.registry.read_bytes()
        clock.move(seconds=60)
        writer.update_heartbeat()
        assert project.state.registry.read_bytes() == before
        again = writer.transition_status(Status.RUNNING)
        assert again.pause_reason is UNSET
        assert again.resume_at is UNSET


def test_update_state_replaces_named_fields_and_beats(project: Project) -> None:
    clock = SetClock()
    with create_state(project, "fix", time=clock) as writer:
        clock.move(seconds=30)
        writer.update_state({"task": "other words", "x-note": {"a": 1}})
        assert on_disk(writer).task == "other words"
        assert msgspec.json.decode(writer.loop.state.read_bytes())["x-note"] == {"a": 1}
        (entry,) = read_registry(project.state).registry.active_loops
        assert entry.last_active == clock()
        writer.update_state({"status": "paused", "task": "third"})
        assert (on_disk(writer).status, on_disk(writer).task) == (Status.PAUSED, "third")


@pytest.mark.parametrize(
    "changes",
    [
        {"loop_id": "ralph-other-00000000"},
        {"vouch": "x"},
        {"process": {}},
        {"journal_seq": 1},
        {"iteration": -1},
        {"task": 5},
        {"status": "completed"},
        {"status": "completed", "task": "must not stick"},
    ],
)
def test_update_state_refuses_what_is_not_its_own_or_not_valid(project: Project, changes: dict[str, object]) -> None:
    with create_state(project, "fix") as writer:
        before = writer.loop.journal.read_bytes()
        with pytest.raises(IllegalTransition):
            writer.update_state(changes)
        assert writer.loop.journal.read_bytes() == before


def test_a_second_writer_is_refused_while_the_first_is_there(project: Project) -> None:
    with create_state(project, "fix") as writer, pytest.raises(Busy):
        open_loop(project.state, writer.state.loop_id)
    open_loop(project.state, writer.state.loop_id).close()


def test_a_torn_line_is_dropped_with_a_warning_event(project: Project) -> None:
    with create_state(project, "fix") as writer:
        run_iteration(writer, 1)
    whole = writer.loop.journal.read_bytes()
    writer.loop.journal.write_bytes(whole + b'{"v":1,"ts":"2026')
    with open_loop(project.state, writer.state.loop_id) as again:
        assert replace(again.state, last_updated=UNSET, journal_seq=UNSET) == replace(
            writer.state, last_updated=UNSET, journal_seq=UNSET
        )
    lines = writer.loop.journal.read_bytes().splitlines(keepends=True)
    assert b"".join(lines[:-1]) == whole
    repaired = msgspec.json.decode(lines[-1])
    assert (repaired["type"], repaired["dropped_bytes"]) == ("journal.repaired", 17)


def test_opening_makes_good_what_a_kill_left_undone(project: Project) -> None:
    """Killed after the journal's line and before the files that are derived from it."""
    with create_state(project, "fix") as writer:
        run_iteration(writer, 1)
        state, record = writer.loop.state.read_bytes(), writer.loop.iteration(1).read_bytes()
        writer.loop.state.unlink()
        writer.loop.iteration(1).unlink()
    open_loop(project.state, writer.state.loop_id).close()
    assert writer.loop.state.read_bytes() == state
    assert writer.loop.iteration(1).read_bytes() == record


def test_the_record_of_an_iteration_that_was_done_again_is_that_of_the_last_attempt(project: Project) -> None:
    """Killed when the journal has the second attempt, and `iterations/` still the first, which did not count."""
    with create_state(project, "fix") as writer:
        writer.record(events.IterationStarted(iteration=1))
        *_, finished = iteration_events(1)
        writer.record(msgspec.structs.replace(finished, fate=Fate.DISCARDED, counted=False, entry=UNSET))
        state, record = writer.loop.state.read_bytes(), writer.loop.iteration(1).read_bytes()
        run_iteration(writer, 1)
    writer.loop.state.write_bytes(state)
    writer.loop.iteration(1).write_bytes(record)
    open_loop(project.state, writer.state.loop_id).close()
    assert wire.decode(IterationRecord, writer.loop.iteration(1).read_bytes()).fate is Fate.KEPT


def test_what_a_patient_writer_has_put_off_is_done_before_a_loop_ends(project: Project) -> None:
    """Nobody opens a loop that has ended: what a kill leaves undone then is never made good."""
    with create_state(project, "fix") as writer:
        writer.patience = 3600.0
        run_iteration(writer, 1)
        found: list[bool] = []
        writer.listener = lambda _entry, _state: found.append(writer.loop.iteration(1).exists())
        writer.transition_status(Status.FAILED)
    assert found == [True]


def test_a_record_that_could_not_be_written_is_written_later(project: Project) -> None:
    with create_state(project, "fix") as writer:
        writer.patience = 3600.0
        blocked = writer.loop.iterations / f".{writer.loop.iteration(1).name}.tmp"
        blocked.mkdir()
        run_iteration(writer, 1)
        writer.keep_up()
        assert writer.behind
        blocked.rmdir()
        run_iteration(writer, 2)
        writer.keep_up()
        assert [writer.loop.iteration(number).exists() for number in (1, 2)] == [True, True]


def test_adoption_keeps_the_id_takes_the_process_and_discards_what_was_unfinished(project: Project) -> None:
    with create_state(project, "fix") as writer:
        run_iteration(writer, 1)
        writer.record(events.IterationStarted(iteration=2))
    with adopt_loop(project, writer.state.loop_id) as again:
        assert again.state.status is Status.RUNNING
        assert again.state.iteration == 1
        assert again.state.iteration_in_progress is UNSET
    assert not reader.view(project.state, writer.state.loop_id).foreign
    assert b'"discarded_iteration":2' in writer.loop.journal.read_bytes()


def test_a_loop_whose_maker_died_before_registering_it_gets_its_place_when_adopted(project: Project) -> None:
    with create_state(project, "fix") as writer, open_registry(project.state) as registry:
        registry.deregister_loop(writer.state.loop_id)
    with adopt_loop(project, writer.state.loop_id) as again:
        assert registered(project) == {again.state.loop_id: "running"}
        again.update_heartbeat()


def test_a_paused_loop_runs_again_in_the_step_that_adopts_it(project: Project) -> None:
    with create_state(project, "fix") as writer:
        writer.transition_status(Status.PAUSED, pause_reason=PauseReason.USER)
    with adopt_loop(project, writer.state.loop_id) as again:
        assert again.state.status is Status.RUNNING
        assert again.state.pause_reason is UNSET
        assert reader.view(project.state, again.state.loop_id).liveness is Liveness.ALIVE
        assert registered(project) == {again.state.loop_id: "running"}


def test_a_loop_that_ended_is_not_adopted(project: Project) -> None:
    with create_state(project, "fix") as writer:
        writer.transition_status(Status.FAILED)
    with pytest.raises(IllegalTransition, match="is failed"):
        adopt_loop(project, writer.state.loop_id)


def test_a_closed_writer_writes_nothing_anywhere(project: Project) -> None:
    writer = create_state(project, "fix")
    writer.close()
    writer.close()
    before = writer.loop.journal.read_bytes()
    with (project.root / "bystander").open("w+") as bystander, pytest.raises(StoreFailed, match="is closed"):
        run_iteration(writer, 1)
    assert bystander.closed
    assert (project.root / "bystander").read_bytes() == b""
    assert writer.loop.journal.read_bytes() == before


def test_an_interrupt_in_the_middle_of_a_write_leaves_no_trace(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fdatasync

    def interrupted(fd: int) -> None:
        monkeypatch.setattr(os, "fdatasync", real)
        raise KeyboardInterrupt

    with create_state(project, "fix") as writer:
        before = writer.loop.journal.read_bytes()
        monkeypatch.setattr(os, "fdatasync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.record(events.IterationStarted(iteration=1))
        assert writer.loop.journal.read_bytes() == before
        writer.transition_status(Status.ABORTED)
        replayed = replay_journal(writer.loop)
        assert (replayed.state, replayed.damage) == (writer.state, ())


def test_what_is_in_the_journal_is_recorded_even_if_the_state_file_cannot_follow(project: Project) -> None:
    with create_state(project, "fix") as writer:
        blocked = writer.loop.path / ".state.json.tmp"
        blocked.mkdir()
        run_iteration(writer, 1)
        assert writer.behind
        assert writer.state.iteration == 1
        assert reader.view(project.state, writer.state.loop_id).state == writer.state
        blocked.rmdir()
        run_iteration(writer, 2)
        assert writer.behind is None
        assert on_disk(writer).iteration == 2


@pytest.mark.parametrize("cost", [float("nan"), float("inf")])
def test_a_number_that_could_not_be_read_back_is_refused(project: Project, cost: float) -> None:
    with create_state(project, "fix") as writer:
        finished = iteration_events(1)[-1]
        assert isinstance(finished, events.IterationFinished)
        with pytest.raises(StoreFailed, match="cannot be recorded"):
            writer.record(replace(finished, usage=Usage(cost_usd=cost)))
        assert writer.state.iteration == 0
        assert replay_journal(writer.loop).state == writer.state


def test_a_loop_that_the_registry_lost_gets_its_place_back(project: Project) -> None:
    with create_state(project, "fix") as writer:
        with open_registry(project.state) as registry:
            registry.deregister_loop(writer.state.loop_id)
        writer.update_heartbeat()
        assert registered(project) == {writer.state.loop_id: "running"}


def test_a_check_belongs_to_the_iteration_that_runs(project: Project) -> None:
    with create_state(project, "fix") as writer:
        writer.record(events.IterationStarted(iteration=1))
        writer.record_completion_check(passed=False, output="red")
        assert writer.state.progress
        assert writer.state.progress.last_completion_check
        assert writer.state.progress.last_completion_check.iteration == 1


def test_a_loop_that_is_not_there_is_named(project: Project) -> None:
    with pytest.raises(NoSuchLoop, match="ralph-none-00000000"):
        open_loop(project.state, "ralph-none-00000000")


wishes = st.lists(
    st.sampled_from(Status)
    | st.tuples(st.just("check"), st.booleans())
    | st.tuples(st.just("iterate"), st.integers(1, 3))
    | st.tuples(st.just("update"), st.text(max_size=5)),
    max_size=25,
)


@settings(max_examples=40)
@given(steps=wishes)
def test_at_every_moment_the_state_is_the_replay_of_the_journal(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Status | tuple[str, object]]
) -> None:
    """And the registry holds the loop exactly while it may."""
    project = make_project(tmp_path_factory.mktemp("p") / "project")
    with create_state(project, "fix") as writer:
        for step in steps:
            status = writer.state.status
            try:
                if isinstance(step, Status):
                    writer.transition_status(step)
                    assert step in MOVES[status]
                elif step[0] == "check":
                    writer.record_completion_check(passed=bool(step[1]), output="o")
                elif step[0] == "iterate":
                    run_iteration(writer, writer.state.iteration + 1, durable=False)
                else:
                    writer.update_state({"task": step[1]})
            except RalphError:
                assert writer.state.status is status
            replayed = replay_journal(writer.loop)
            assert replayed.damage == ()
            assert replayed.state == writer.state == reader.view(project.state, writer.state.loop_id).state
            held = writer.state.status not in TERMINAL or writer.state.status is Status.CRASHED
            assert (writer.state.loop_id in registered(project)) == held
