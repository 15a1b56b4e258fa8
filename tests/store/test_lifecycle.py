import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET

from support import SetClock, run_iteration
from untilproven.core.stale import Liveness
from untilproven.errors import IllegalTransition, InvalidName, NoSlot, StoreFailed, UsageError
from untilproven.model import events
from untilproven.model.fields import PauseReason
from untilproven.model.iteration import Continue, Fate, Usage
from untilproven.model.persistence import BaselineMetrics
from untilproven.model.state import LoopConfiguration, LoopState
from untilproven.model.status import Status
from untilproven.store import files, reader
from untilproven.store.heartbeat import Heartbeat
from untilproven.store.layout import Project
from untilproven.store.lifecycle import adopt_loop, continue_loop, create_state
from untilproven.store.registry import open_registry, read_registry
from untilproven.store.replay import replay_journal
from untilproven.store.survey import check_stale_loops

DIE = """
import os, signal, sys
from pathlib import Path
from untilproven.model import events
from untilproven.store.layout import find_project
from untilproven.store.lifecycle import create_state
writer = create_state(find_project(Path(sys.argv[1])), "die young")
writer.record(events.IterationStarted(iteration=1))
print(writer.state.loop_id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def dead_loop(project: Project) -> str:
    """A loop whose process was killed in the middle of its first iteration."""
    done = subprocess.run([sys.executable, "-c", DIE, str(project.root)], capture_output=True, text=True, check=False)
    assert done.returncode == -9
    return done.stdout.strip()


def age(path: Path, seconds: float) -> None:
    """Make a loop's files look as if nobody had written them for a while."""
    then = datetime.now(UTC).timestamp() - seconds
    for file in path.iterdir():
        if file.is_file():
            os.utime(file, (then, then))


def later(seconds: float) -> SetClock:
    return SetClock(datetime.now(UTC) + timedelta(seconds=seconds))


def statuses(project: Project) -> dict[str, str]:
    return {entry.loop_id: entry.status for entry in read_registry(project.state).registry.active_loops}


def test_a_killed_loop_is_marked_crashed_only_after_300_seconds_of_silence(project: Project) -> None:
    name = dead_loop(project)
    assert reader.view(project.state, name).liveness is Liveness.DEAD
    assert check_stale_loops(project.state, time=later(200)) == []
    assert statuses(project) == {name: "running"}
    (found,) = check_stale_loops(project.state, time=later(301))
    assert (found.loop_id, found.removed) == (name, False)
    assert statuses(project) == {name: "crashed"}
    state = reader.view(project.state, name).state
    assert state.status is Status.CRASHED
    assert state.error_context
    assert "is gone" in str(state.error_context.error_message)
    assert check_stale_loops(project.state, time=later(400)) == [found]


def test_cleanup_frees_the_slot_and_keeps_the_loop(project: Project) -> None:
    name = dead_loop(project)
    (found,) = check_stale_loops(project.state, cleanup=True, time=later(301))
    assert found.removed
    assert statuses(project) == {}
    assert reader.view(project.state, name).state.status is Status.CRASHED


def test_a_living_loop_is_never_marked_however_silent(project: Project) -> None:
    with create_state(project, "fix") as writer:
        age(writer.loop.path, 4000)
        assert check_stale_loops(project.state, time=later(4000)) == []
        assert statuses(project) == {writer.state.loop_id: "running"}


def test_a_paused_loop_is_never_marked(project: Project) -> None:
    with create_state(project, "fix") as writer:
        writer.transition_status(Status.PAUSED, pause_reason=PauseReason.USER)
    assert check_stale_loops(project.state, time=later(10_000)) == []
    assert statuses(project) == {writer.state.loop_id: "paused"}


def test_an_entry_whose_loop_has_ended_or_vanished_is_taken_out(project: Project) -> None:
    """The process died after the loop's state was written and before the registry was."""
    with create_state(project, "ended") as ended, create_state(project, "vanished") as vanished:
        ended.record(events.StatusChanged(to=Status.ABORTED))
    vanished.loop.path.rename(project.root / "elsewhere")
    assert len(statuses(project)) == 2
    assert check_stale_loops(project.state) == []
    assert statuses(project) == {}


def test_a_loop_that_cannot_be_read_and_that_nobody_holds_can_be_cleaned_up(project: Project) -> None:
    with create_state(project, "fix") as writer:
        pass
    for path in (writer.loop.state, writer.loop.journal):
        path.write_bytes(b"junk")
    writer.loop.path.joinpath("state.json.bak").unlink(missing_ok=True)
    (found,) = check_stale_loops(project.state, cleanup=True)
    assert found.removed
    assert statuses(project) == {}
    assert writer.loop.state.read_bytes() == b"junk"


def test_a_new_loop_takes_the_slot_of_a_crashed_one_only_when_it_needs_it(project: Project) -> None:
    name = dead_loop(project)
    clock = later(400)
    check_stale_loops(project.state, time=clock)
    for number in range(3):
        create_state(project, f"task {number}", time=clock)
    assert name in statuses(project)
    create_state(project, "needs the slot", time=clock)
    assert name not in statuses(project)
    with pytest.raises(NoSlot):
        create_state(project, "fifth", time=clock)


def test_a_full_registry_looks_for_the_dead_before_it_refuses(project: Project) -> None:
    name = dead_loop(project)
    for number in range(3):
        create_state(project, f"task {number}")
    clock = later(400)
    create_state(project, "fifth", time=clock)
    assert name not in statuses(project)
    assert reader.view(project.state, name).state.status is Status.CRASHED


def ended_loop(project: Project, end: Status) -> LoopState:
    with create_state(project, "fix", configuration=LoopConfiguration(max_iterations=7)) as writer:
        baseline = BaselineMetrics(captured_at=datetime.now(UTC), test_count=5, coverage_percentage=50)
        writer.record(events.BaselineCaptured(baseline=baseline))
        run_iteration(writer, 1)
        run_iteration(writer, 2)
        return writer.transition_status(end, reason="it ended", error="boom")


@pytest.mark.parametrize("end", [Status.CRASHED, Status.FAILED, Status.ABORTED])
def test_continuing_makes_a_new_loop_that_carries_the_past(project: Project, end: Status) -> None:
    old = ended_loop(project, end)
    with continue_loop(project, old.loop_id) as writer:
        new = writer.state
        assert new.loop_id != old.loop_id
        assert new.resumed_from == old.loop_id
        assert new.status is Status.RUNNING
        assert (new.iteration, new.iteration_history, new.baseline_metrics) == (
            2,
            old.iteration_history,
            old.baseline_metrics,
        )
        assert new.metrics == old.metrics
        assert new.configuration == old.configuration
        assert new.completed_at is UNSET
        assert new.error_context is UNSET
        assert new.detection_enabled is True
        assert statuses(project) == {new.loop_id: "running"}
        assert reader.resolve(project.state, old.loop_id).state.loop_id == new.loop_id
        assert replay_journal(writer.loop).state == new
        run_iteration(writer, 3)
        assert writer.state.metrics
        assert writer.state.metrics.total_iterations == 3


def test_a_crashed_loop_hands_its_slot_over_even_when_all_are_taken(project: Project) -> None:
    old = ended_loop(project, Status.CRASHED)
    others = [create_state(project, f"task {number}") for number in range(3)]
    with continue_loop(project, old.loop_id) as writer:
        assert set(statuses(project)) == {writer.state.loop_id, *(other.state.loop_id for other in others)}


def test_a_failed_loop_needs_a_free_slot_like_any_other(project: Project) -> None:
    old = ended_loop(project, Status.FAILED)
    for number in range(4):
        create_state(project, f"task {number}")
    before = sorted(project.state.loops.iterdir())
    with pytest.raises(NoSlot):
        continue_loop(project, old.loop_id)
    assert sorted(project.state.loops.iterdir()) == before
    assert reader.view(project.state, old.loop_id).state.resumed_as is UNSET


def test_a_loop_is_continued_once_and_a_completed_one_never(project: Project) -> None:
    old = ended_loop(project, Status.FAILED)
    continue_loop(project, old.loop_id).close()
    with pytest.raises(IllegalTransition, match="already continued"):
        continue_loop(project, old.loop_id)
    with create_state(project, "fine") as writer:
        writer.transition_status(Status.COMPLETING)
        writer.transition_status(Status.COMPLETED)
    with pytest.raises(IllegalTransition, match="is completed"):
        continue_loop(project, writer.state.loop_id)


def test_a_wanted_id_is_used_once_and_must_be_one(project: Project) -> None:
    with create_state(project, "x", loop_id="ralph-mine-0123abcd") as writer:
        assert writer.state.loop_id == "ralph-mine-0123abcd"
    with pytest.raises(UsageError, match="already"):
        create_state(project, "x", loop_id="ralph-mine-0123abcd")
    for bad in ("../../escape", "ralph-x-00000000\n", "x" * 10_000):
        with pytest.raises(InvalidName):
            create_state(project, "x", loop_id=bad)


def test_the_heart_beats_every_minute_and_looks_around_every_five(project: Project) -> None:
    name = dead_loop(project)
    clock = later(0)
    with create_state(project, "alive", time=clock) as writer:
        clock.move(seconds=400)
        heart = Heartbeat(writer, started=1000.0, time=clock)
        before = project.state.registry.read_bytes()
        heart.tick(1059.0)
        assert project.state.registry.read_bytes() == before
        clock.move(seconds=60)
        heart.tick(1060.0)
        beats = {entry.loop_id: entry.last_active for entry in read_registry(project.state).registry.active_loops}
        assert beats[writer.state.loop_id] == clock()
        assert statuses(project)[name] == "running"
        heart.tick(1300.0)
        assert statuses(project)[name] == "crashed"


def test_a_clock_that_jumps_back_loses_nothing(project: Project) -> None:
    clock = later(0)
    with create_state(project, "fix", time=clock) as writer:
        clock.move(hours=-5)
        run_iteration(writer, 1)
        writer.update_heartbeat()
        assert replay_journal(writer.loop).state == writer.state
        assert check_stale_loops(project.state, time=clock) == []
        writer.record(
            events.IterationFinished(
                iteration=2,
                result=Continue(reason="x"),
                fate=Fate.KEPT,
                counted=True,
                progressed=False,
                duration_seconds=0.0,
                usage=Usage(),
            )
        )
        assert writer.state.iteration == 2


def test_what_is_left_of_a_loop_that_never_began_is_cleared_away_and_nothing_else(project: Project) -> None:
    create_state(project, "real").close()
    unborn = project.state.loops / "ralph-unborn-00000000"
    (unborn / "iterations").mkdir(parents=True)
    (unborn / "events.jsonl").write_bytes(b'{"v":1,"ts":"20')
    bystander = project.state.loops / "notes"
    bystander.mkdir()
    damaged = project.state.loops / "ralph-damaged-00000000"
    damaged.mkdir()
    (damaged / "events.jsonl").write_bytes(b"junk\n")
    only_a_copy = project.state.loops / "ralph-copy-00000000"
    (only_a_copy / "iterations").mkdir(parents=True)
    (only_a_copy / "iterations" / "iteration-001.json").write_text("{}")
    check_stale_loops(project.state)
    assert not unborn.exists()
    assert bystander.exists()
    assert damaged.exists()
    assert only_a_copy.exists()
    assert len(project.state.all_loops()) == 3


def test_a_loop_that_cannot_be_registered_is_not_left_behind(project: Project) -> None:
    project.state.make()
    (project.state.path / ".registry.json.tmp").mkdir()
    with pytest.raises(StoreFailed):
        create_state(project, "fix")
    assert project.state.all_loops() == []
    (project.state.path / ".registry.json.tmp").rmdir()
    create_state(project, "fix").close()


def test_one_loop_that_is_broken_or_leads_elsewhere_does_not_stop_the_others(project: Project, tmp_path: Path) -> None:
    name = dead_loop(project)
    journal = project.state.loop(name).journal
    journal.write_bytes(b"x" + journal.read_bytes())
    age(journal.parent, 1000)
    linked = "ralph-linked-00000000"
    (project.state.loops / linked).symlink_to(tmp_path)
    raw = msgspec.json.decode(project.state.registry.read_bytes())
    raw["active_loops"].append({**raw["active_loops"][0], "loop_id": linked})
    project.state.registry.write_bytes(msgspec.json.encode(raw))
    clock = later(1000)
    found = check_stale_loops(project.state, cleanup=True, time=clock)
    assert [stale.loop_id for stale in found] == [name]
    for number in range(4):
        create_state(project, f"task {number}", time=clock)
    assert linked not in statuses(project)


def test_a_loop_killed_in_another_pid_namespace_is_found_dead_by_its_free_lock(project: Project) -> None:
    command = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    subprocess.run([*command, sys.executable, "-c", DIE, str(project.root)], capture_output=True, check=False)
    (loop,) = project.state.all_loops()
    assert reader.look(project.state, loop).liveness is Liveness.UNKNOWN
    (found,) = check_stale_loops(project.state, time=later(1000))
    assert found.loop_id == loop.loop_id


def test_a_running_loop_that_was_never_registered_is_marked_when_its_maker_is_dead(project: Project) -> None:
    name = dead_loop(project)
    with open_registry(project.state) as registry:
        registry.deregister_loop(name)
    (found,) = check_stale_loops(project.state, time=later(1000))
    assert found.loop_id == name
    assert reader.view(project.state, name).state.status is Status.CRASHED


def test_a_failure_while_continuing_leaves_the_old_loop_as_it_was(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = ended_loop(project, Status.FAILED)
    (project.state.path / ".registry.json.tmp").mkdir()
    with pytest.raises(StoreFailed):
        continue_loop(project, old.loop_id)
    (project.state.path / ".registry.json.tmp").rmdir()
    assert reader.view(project.state, old.loop_id).state.resumed_as is UNSET
    continue_loop(project, old.loop_id).close()


def test_a_failure_while_adopting_gives_the_lock_back(project: Project) -> None:
    name = dead_loop(project)
    (project.state.path / ".registry.json.tmp").mkdir()
    with pytest.raises(StoreFailed):
        adopt_loop(project, name)
    (project.state.path / ".registry.json.tmp").rmdir()
    adopt_loop(project, name).close()


def test_an_entry_that_lags_behind_its_loop_is_brought_in_line(project: Project) -> None:
    with create_state(project, "fix") as writer:
        writer.record(events.StatusChanged(to=Status.PAUSED, pause_reason=PauseReason.USER))
        assert statuses(project) == {writer.state.loop_id: "running"}
        check_stale_loops(project.state)
        assert statuses(project) == {writer.state.loop_id: "paused"}


def test_a_kill_before_the_old_loop_learns_of_its_successor_does_not_make_a_second_one(project: Project) -> None:
    old = ended_loop(project, Status.FAILED)
    with continue_loop(project, old.loop_id) as new:
        pass
    journal = project.state.loop(old.loop_id).journal
    lines = journal.read_bytes().splitlines(keepends=True)
    assert b"loop.continued" in lines[-1]
    journal.write_bytes(b"".join(lines[:-1]))
    files.backup_of(project.state.loop(old.loop_id).state).replace(project.state.loop(old.loop_id).state)
    with pytest.raises(IllegalTransition, match="already continued"):
        continue_loop(project, old.loop_id)
    assert reader.resolve(project.state, old.loop_id).state.loop_id == new.state.loop_id
    assert len(project.state.all_loops()) == 2
