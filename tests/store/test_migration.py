import hashlib
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from msgspec import UNSET

from support import MOMENT, SetClock
from untilproven.core.legacy import KEY, Shape
from untilproven.errors import Damaged, Foreign, NoSlot, StoreFailed
from untilproven.model import wire
from untilproven.model.registry import STALE_SECONDS, Registry
from untilproven.model.state import LoopState
from untilproven.model.status import TERMINAL, Status
from untilproven.store import files, migration, reader
from untilproven.store.archive import archive_loop
from untilproven.store.layout import LoopDirectory, Project
from untilproven.store.lifecycle import continue_loop, create_state
from untilproven.store.migration import Migration, Outcome, Refusal, UnknownShape, migrate
from untilproven.store.registry import read_registry
from untilproven.store.replay import replay_journal
from untilproven.store.survey import check_stale_loops
from untilproven.store.writer import open_loop

CURRENT, EXTERNAL = migration.LEGACY_FILES
ID = "ralph-fix-tests-a1b2c3d4"
HOOK: dict[str, Any] = {
    "active": True,
    "task": "fix the tests",
    "completion": "npm test",
    "maxIterations": 10,
    "currentIteration": 2,
    "startTime": "2026-01-26T10:00:00Z",
    "startTimestamp": 1769421600000,
    "status": "running",
    "learnings": "mock the clock",
}
SYNC = {**{key: value for key, value in HOOK.items() if key != "startTimestamp"}, "startTimeMs": 1, "loopId": ID}
SESSION: dict[str, Any] = {
    "version": "1.0.0",
    "loopId": "0b1e5a4e-1111-4222-8333-444455556666",
    "objective": "port the parser",
    "completionCriteria": "cargo test",
    "sessionId": "s",
    "status": "running",
    "currentIteration": 1,
    "currentPid": os.getpid(),
}
AD_HOC: dict[str, Any] = {
    "id": "ralph-docs-2026-01-26",
    "task": "write the docs",
    "completion_criteria": ["README exists"],
    "max_iterations": 8,
    "current_iteration": 4,
    "status": "completed",
    "started_at": "2026-01-26T15:00:00",
}
V2: dict[str, Any] = {"version": "2.0.0", "loop_id": ID, "status": "running", "iteration": 5, "pid": 1}
ENTRY = {"timestamp": "2026-01-26T10:00:00Z", "quality_score": 80, "artifacts": []}


def write(project: Project, raw: object, name: str = CURRENT) -> Path:
    path = project.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw if isinstance(raw, bytes) else json.dumps(raw).encode())
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def one(project: Project) -> Migration:
    (done,) = migrate(project, time=SetClock())
    assert isinstance(done, Migration)
    return done


def refusal(project: Project) -> Exception:
    (done,) = migrate(project, time=SetClock())
    assert isinstance(done, Refusal)
    return done.error


def loop_of(project: Project, done: Migration) -> LoopDirectory:
    assert done.loop_id
    return project.state.loop(done.loop_id)


def stored(loop: LoopDirectory) -> LoopState:
    return wire.decode(LoopState, loop.state.read_bytes())


def registered(project: Project) -> list[str]:
    return [entry.loop_id for entry in wire.decode(Registry, project.state.registry.read_bytes()).active_loops]


def everything(project: Project) -> dict[str, bytes]:
    """All files, but for locks: their content says only who held them last."""
    found = (path for path in sorted(project.home.rglob("*")) if path.is_file() and path.suffix != ".lock")
    return {str(path.relative_to(project.home)): path.read_bytes() for path in found}


def fill(project: Project, loops: int) -> None:
    for number in range(loops):
        create_state(project, f"task {number}").close()


@pytest.mark.parametrize("raw", [HOOK, SYNC, SESSION, AD_HOC, V2, {"task": "t", "completion": "c", "maxIterations": 3}])
def test_every_shape_becomes_a_loop_whose_state_is_valid_and_is_what_its_journal_says(
    project: Project, raw: dict[str, Any]
) -> None:
    write(project, raw)
    done = one(project)
    loop = loop_of(project, done)
    seen = reader.view(project.state, loop.loop_id)
    assert done.outcome is Outcome.MIGRATED
    assert (seen.damage, seen.foreign) == ((), False)
    assert stored(loop) == seen.state == replay_journal(loop).state
    schema = yaml.safe_load((Path(__file__).parent.parent / "data/aiwg/loop-state.yaml").read_text())
    jsonschema.validate(json.loads(loop.state.read_bytes()), schema)


def test_a_loop_that_had_not_ended_is_paused_and_registered(project: Project) -> None:
    write(project, HOOK)
    done = one(project)
    state = stored(loop_of(project, done))
    assert (done.status, done.registered, done.iteration, done.shape) == (Status.PAUSED, True, 2, Shape.HOOK)
    assert registered(project) == [state.loop_id]
    assert state.loop_id.startswith("ralph-fix-the-tests-")
    assert state.working_directory == str(project.root)


def test_a_loop_that_had_ended_is_stored_without_an_entry_in_a_registry_that_then_exists(project: Project) -> None:
    write(project, AD_HOC)
    done = one(project)
    assert (done.status, done.registered) == (Status.COMPLETED, False)
    assert stored(loop_of(project, done)).status in TERMINAL
    assert registered(project) == []


def test_the_legacy_file_keeps_its_bytes_and_its_time(project: Project) -> None:
    path = write(project, HOOK)
    before, data = path.stat(), path.read_bytes()
    one(project)
    after = path.stat()
    assert path.read_bytes() == data
    assert (after.st_mtime_ns, after.st_ino, after.st_mode) == (before.st_mtime_ns, before.st_ino, before.st_mode)


def test_the_state_says_which_bytes_it_was_made_of(project: Project) -> None:
    path = write(project, HOOK)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert stored(loop_of(project, one(project))).migrated_from == f"{CURRENT} sha256:{digest}"


@pytest.mark.parametrize("raw", [HOOK, SYNC, AD_HOC, V2])
def test_a_second_run_changes_nothing_and_names_the_loop(project: Project, raw: dict[str, Any]) -> None:
    write(project, raw)
    first = one(project)
    before = everything(project)
    again = one(project)
    assert (again.outcome, again.loop_id) == (Outcome.ALREADY, first.loop_id)
    assert everything(project) == before


def test_a_loop_is_known_again_when_it_was_put_away(project: Project) -> None:
    write(project, AD_HOC)
    first = one(project)
    archive_loop(project.state, str(first.loop_id))
    assert one(project).outcome is Outcome.ALREADY


@pytest.mark.parametrize("name", ["ralph-a-a1b2c3d4", "ralph-z-a1b2c3d4"])
def test_a_loop_that_was_carried_on_is_known_as_the_one_that_carries_it_on(project: Project, name: str) -> None:
    write(project, {**SYNC, "status": "timeout", "loopId": name})
    first = one(project)
    with continue_loop(project, str(first.loop_id)) as writer:
        assert one(project).loop_id == writer.state.loop_id


def test_a_file_that_changed_since_becomes_another_loop_and_the_first_is_named(project: Project) -> None:
    write(project, SYNC)
    first = one(project)
    write(project, {**SYNC, "currentIteration": 3})
    second = one(project)
    assert (first.loop_id, second.outcome, second.earlier) == (ID, Outcome.MIGRATED, ID)
    assert second.loop_id != ID
    assert registered(project) == [ID, second.loop_id]


def test_a_valid_id_is_kept_when_it_is_free(project: Project) -> None:
    write(project, SYNC)
    assert one(project).loop_id == ID


def test_an_id_that_is_taken_is_not_taken_over(project: Project) -> None:
    create_state(project, "another", loop_id=ID).close()
    write(project, SYNC)
    done = one(project)
    assert done.loop_id != ID
    assert stored(project.state.loop(ID)).task == "another"
    assert stored(loop_of(project, done)).extra == {
        KEY: {key: SYNC[key] for key in ("active", "status", "learnings", "startTimeMs", "loopId")}
    }


def test_an_id_that_is_no_file_name_is_replaced(project: Project) -> None:
    write(project, {**SYNC, "loopId": "../../../escape-a1b2c3d4"})
    done = one(project)
    assert str(done.loop_id).startswith("ralph-fix-the-tests-")
    assert "loopId" in done.kept


def test_a_version_2_state_whose_loop_is_there_already_is_left_alone(project: Project) -> None:
    create_state(project, "it lives", loop_id=ID).close()
    write(project, V2)
    before = everything(project)
    assert (one(project).outcome, everything(project)) == (Outcome.ALREADY, before)


def test_both_places_are_looked_at(project: Project) -> None:
    write(project, HOOK)
    write(project, SESSION, EXTERNAL)
    done = migrate(project, time=SetClock())
    assert [found.file for found in done] == [CURRENT, EXTERNAL]
    assert len(registered(project)) == 2


def test_a_file_that_is_refused_does_not_stop_the_other(project: Project) -> None:
    write(project, b"{")
    write(project, SESSION, EXTERNAL)
    bad, good = migrate(project, time=SetClock())
    assert isinstance(bad, Refusal)
    assert isinstance(good, Migration)
    assert registered(project) == [good.loop_id]


def test_with_no_legacy_file_nothing_is_made(project: Project) -> None:
    assert migrate(project) == []
    assert not (project.home / ".aiwg").exists()


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"null", b"[]", b'[{"task": 1}]', b'"text"', b"7", b"\xff\xfe", b'{"a": 1e999}', b'{"a":"\\ud800"}'],
)
def test_what_cannot_be_read_is_refused_by_name_and_left_alone(project: Project, data: bytes) -> None:
    path = write(project, data)
    error = refusal(project)
    assert isinstance(error, Damaged)
    assert CURRENT in error.message
    assert error.hint
    assert everything(project) == {CURRENT: path.read_bytes()} == {CURRENT: data}


@pytest.mark.parametrize("depth", [200, 900, 100_000])
def test_what_is_nested_too_deeply_is_refused(project: Project, depth: int) -> None:
    write(project, b'{"startTimestamp": 1, "x": ' + b"[" * depth + b"]" * depth + b"}")
    assert isinstance(refusal(project), Damaged)
    assert list(everything(project)) == [CURRENT]


def test_an_unknown_shape_is_refused_by_name_with_its_keys(project: Project) -> None:
    write(project, {"hello\x1b[31m": 1, "world": 2})
    error = refusal(project)
    assert isinstance(error, UnknownShape)
    assert error.exit_code == 2
    assert CURRENT in error.message
    assert "world" in error.message
    assert "\x1b" not in error.message
    assert list(everything(project)) == [CURRENT]


def test_a_version_2_state_that_is_not_valid_is_refused_by_name(project: Project) -> None:
    write(project, {**V2, "status": "walking"})
    error = refusal(project)
    assert isinstance(error, Damaged)
    assert CURRENT in error.message
    assert "$.status" in error.message
    assert not list(project.state.loops.iterdir())


def test_a_huge_file_is_refused_before_it_is_read(project: Project) -> None:
    path = write(project, HOOK)
    for size in (migration.LEGACY_LIMIT + 1, 1 << 40):
        os.truncate(path, size)
        assert "not believed" in str(refusal(project))


def test_a_large_file_is_carried_over_and_can_be_read_again(project: Project) -> None:
    write(project, {**HOOK, "learnings": "x" * (migration.LEGACY_LIMIT - 1000)})
    loop = loop_of(project, one(project))
    assert stored(loop) == replay_journal(loop).state


def test_a_linked_file_is_not_followed(project: Project, tmp_path: Path) -> None:
    write(project, HOOK).rename(tmp_path / "elsewhere.json")
    project.state.legacy.symlink_to(tmp_path / "elsewhere.json")
    assert isinstance(refusal(project), Foreign)
    assert not project.state.loops.exists()


@pytest.mark.parametrize("name", [".aiwg", ".aiwg/ralph"])
def test_a_linked_directory_is_not_followed(project: Project, tmp_path: Path, name: str) -> None:
    write(project, HOOK)
    (project.home / name).rename(tmp_path / "elsewhere")
    (project.home / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Foreign):
        migrate(project)


def test_a_linked_directory_of_the_external_tool_is_not_followed(project: Project, tmp_path: Path) -> None:
    path = write(project, SESSION, EXTERNAL)
    path.parent.rename(tmp_path / "elsewhere")
    path.parent.symlink_to(tmp_path / "elsewhere")
    assert isinstance(refusal(project), Foreign)


def test_something_that_is_no_file_is_refused(project: Project) -> None:
    project.state.legacy.mkdir(parents=True)
    assert isinstance(refusal(project), Damaged)
    project.state.legacy.rmdir()
    os.mkfifo(project.state.legacy)
    assert isinstance(refusal(project), Damaged)


def test_a_full_registry_refuses_and_nothing_is_written(project: Project) -> None:
    fill(project, 4)
    write(project, HOOK)
    before = everything(project)
    error = refusal(project)
    assert isinstance(error, NoSlot)
    assert len(error.details["active_loops"]) == 4
    assert everything(project) == before


def test_the_slot_of_a_loop_that_crashed_is_taken(project: Project) -> None:
    fill(project, 3)
    with create_state(project, "gone") as writer:
        writer.transition_status(Status.CRASHED)
    write(project, HOOK)
    done = one(project)
    assert done.loop_id in registered(project)
    assert writer.state.loop_id not in registered(project)


def test_a_loop_that_had_ended_needs_no_slot(project: Project) -> None:
    fill(project, 4)
    write(project, AD_HOC)
    assert one(project).outcome is Outcome.MIGRATED
    assert len(registered(project)) == 4


def test_a_paused_loop_from_a_file_is_never_found_crashed(project: Project) -> None:
    write(project, SESSION, EXTERNAL)
    done = one(project)
    loop = loop_of(project, done)
    for path in (loop.state, loop.journal):
        os.utime(path, (1, 1))
    later = SetClock()
    later.move(seconds=10 * STALE_SECONDS)
    assert check_stale_loops(project.state, cleanup=True, time=later) == []
    assert stored(loop).status is Status.PAUSED
    assert registered(project) == [done.loop_id]


def test_a_migrated_loop_can_be_taken_up_and_ended_like_any_other(project: Project) -> None:
    write(project, HOOK)
    done = one(project)
    with open_loop(project.state, str(done.loop_id)) as writer:
        writer.transition_status(Status.RUNNING)
        writer.transition_status(Status.ABORTED)
    assert registered(project) == []
    assert one(project).outcome is Outcome.ALREADY
    assert registered(project) == []


def test_a_dry_run_tells_the_same_and_leaves_no_trace(project: Project) -> None:
    write(project, HOOK)
    write(project, SESSION | {"status": "completed", "loopId": ID}, EXTERNAL)
    before = everything(project)
    first, second = migrate(project, time=SetClock(), dry_run=True)
    assert isinstance(first, Migration)
    assert isinstance(second, Migration)
    assert (first.outcome, first.loop_id, first.status, first.registered) == (
        Outcome.PLANNED,
        None,
        Status.PAUSED,
        True,
    )
    assert (second.loop_id, second.status, second.registered) == (ID, Status.COMPLETED, False)
    assert everything(project) == before
    assert not project.state.registry_lock.exists()


def test_a_dry_run_knows_what_was_migrated(project: Project) -> None:
    write(project, HOOK)
    done = one(project)
    (again,) = migrate(project, dry_run=True)
    assert isinstance(again, Migration)
    assert (again.outcome, again.loop_id, again.registered) == (Outcome.ALREADY, done.loop_id, True)


def snapshots(project: Project, *names: str) -> None:
    for name in names:
        path = project.state.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def test_snapshots_at_legacy_places_are_copied_and_the_paths_follow(project: Project) -> None:
    snapshots(project, "iterations/iteration-001.json", "checkpoints/iteration-001.json.gz")
    old = ".aiwg/ralph/iterations/iteration-001.json"
    write(
        project,
        {
            **V2,
            "last_checkpoint": "./.aiwg/ralph/checkpoints/iteration-001.json.gz",
            "best_iteration": {"iteration": 1, "snapshot_path": old},
            "iteration_history": [{**ENTRY, "iteration": 1, "snapshot_path": old}],
        },
    )
    done = one(project)
    loop = loop_of(project, done)
    state = stored(loop)
    new = f".aiwg/ralph/loops/{ID}"
    assert state.last_checkpoint == f"{new}/checkpoints/iteration-001.json.gz"
    assert state.best_iteration
    assert state.iteration_history
    assert state.best_iteration.snapshot_path == state.iteration_history[0].snapshot_path
    assert state.best_iteration.snapshot_path == f"{new}/iterations/iteration-001.json"
    assert loop.iteration(1).read_text() == "iterations/iteration-001.json"
    assert loop.checkpoint(1).read_text() == "checkpoints/iteration-001.json.gz"
    assert (project.home / old).exists()
    assert len(done.copied) == 2


@pytest.mark.parametrize(
    "path",
    [
        "",
        "x",
        "/etc/passwd",
        "../../etc/passwd",
        ".aiwg/ralph/iterations/../registry.json",
        ".aiwg/ralph/iterations/..",
        ".aiwg/ralph/iterations/missing.json",
        ".aiwg/ralph/iterations/link.json",
        ".aiwg/ralph/iterations/directory",
        ".aiwg/ralph/checkpoints/through-a-link.json",
        ".aiwg/ralph/iterations/nul\0.json",
        ".aiwg/ralph/iterations/" + "x" * 5000,
        f".aiwg/ralph/loops/{ID}/state.json",
    ],
)
def test_a_path_that_leads_nowhere_or_elsewhere_does_not_reach_the_state(
    project: Project, tmp_path: Path, path: str
) -> None:
    snapshots(project, "iterations/directory/x")
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "through-a-link.json").write_text("secret")
    (project.state.path / "iterations/link.json").symlink_to(secret / "through-a-link.json")
    (project.state.path / "checkpoints").symlink_to(secret)
    write(project, {**V2, "last_checkpoint": path})
    done = one(project)
    loop = loop_of(project, done)
    assert stored(loop).last_checkpoint is UNSET
    assert done.left_out == ((path,) if path else ())
    assert done.copied == ()
    assert not [*loop.iterations.iterdir(), *loop.checkpoints.iterdir()]


def test_a_copy_that_fails_leaves_no_loop_behind(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots(project, "checkpoints/iteration-001.json.gz")
    write(project, {**V2, "last_checkpoint": ".aiwg/ralph/checkpoints/iteration-001.json.gz"})
    real = files.replace

    def full(path: Path, data: bytes, **how: Any) -> None:
        if path.parent.name == "checkpoints":
            raise StoreFailed("no room left")
        real(path, data, **how)

    monkeypatch.setattr(files, "replace", full)
    assert isinstance(refusal(project), StoreFailed)
    assert not list(project.state.loops.iterdir())
    assert read_registry(project.state).registry.active_loops == ()


def test_a_registry_that_cannot_be_written_leaves_no_loop_behind(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, HOOK)
    real = files.replace

    def full(path: Path, data: bytes, **how: Any) -> None:
        if path.name == "registry.json":
            raise StoreFailed("no room left")
        real(path, data, **how)

    monkeypatch.setattr(files, "replace", full)
    assert isinstance(refusal(project), StoreFailed)
    assert not list(project.state.loops.iterdir())


def test_a_migration_that_was_killed_before_its_last_steps_is_finished_by_the_next(project: Project) -> None:
    fill(project, 1)
    without = project.state.registry.read_bytes()
    snapshots(project, "checkpoints/iteration-001.json.gz")
    write(project, {**V2, "last_checkpoint": ".aiwg/ralph/checkpoints/iteration-001.json.gz"})
    loop = loop_of(project, one(project))
    project.state.registry.write_bytes(without)
    loop.checkpoint(1).unlink()

    done = one(project)
    assert (done.outcome, done.registered) == (Outcome.ALREADY, True)
    assert ID in registered(project)
    assert loop.checkpoint(1).exists()


def test_another_run_does_not_bring_newer_snapshots_to_an_older_state(project: Project) -> None:
    snapshots(project, "checkpoints/iteration-001.json.gz")
    write(project, {**V2, "last_checkpoint": ".aiwg/ralph/checkpoints/iteration-001.json.gz"})
    loop = loop_of(project, one(project))
    (project.state.path / "checkpoints/iteration-001.json.gz").write_text("newer")
    one(project)
    assert loop.checkpoint(1).read_text() == "checkpoints/iteration-001.json.gz"


def test_a_loop_that_went_on_is_not_touched_by_another_run(project: Project) -> None:
    snapshots(project, "checkpoints/iteration-001.json.gz")
    write(project, {**V2, "last_checkpoint": ".aiwg/ralph/checkpoints/iteration-001.json.gz"})
    loop = loop_of(project, one(project))
    with open_loop(project.state, ID) as writer:
        writer.transition_status(Status.RUNNING)
        loop.checkpoint(1).unlink()
        assert one(project).outcome is Outcome.ALREADY
    assert not loop.checkpoint(1).exists()


def test_an_undated_end_is_when_the_file_was_last_written(project: Project) -> None:
    write(project, AD_HOC)
    state = stored(loop_of(project, one(project)))
    assert state.completed_at
    assert state.completed_at.timestamp() == 1_700_000_000
    assert state.last_updated == MOMENT
