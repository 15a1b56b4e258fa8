import shutil
from pathlib import Path

import pytest

from support import make_project, run_iteration
from untilproven.errors import Busy, Damaged, Foreign, IllegalTransition
from untilproven.model import events
from untilproven.model.status import Status
from untilproven.store import files, reader
from untilproven.store.archive import archive_loop, ended_loops
from untilproven.store.layout import Project
from untilproven.store.lifecycle import adopt_loop, create_state
from untilproven.store.rebuild import rebuild
from untilproven.store.registry import read_registry
from untilproven.store.writer import LoopWriter


@pytest.fixture
def ended(project: Project) -> LoopWriter:
    with create_state(project, "fix") as writer:
        for number in range(1, 4):
            run_iteration(writer, number)
        writer.transition_status(Status.FAILED, reason="limit")
    return writer


def test_rebuild_gives_the_same_files_back(project: Project, ended: LoopWriter) -> None:
    state, record = ended.loop.state.read_bytes(), ended.loop.iteration(2).read_bytes()
    assert rebuild(project.state, ended.state.loop_id).changed == ()
    ended.loop.state.write_bytes(b"junk")
    files.backup_of(ended.loop.state).unlink()
    ended.loop.iteration(2).unlink()
    done = rebuild(project.state, ended.state.loop_id)
    assert done.changed == ("state.json", "iterations/iteration-002.json")
    assert ended.loop.state.read_bytes() == state
    assert ended.loop.iteration(2).read_bytes() == record


def test_rebuild_says_what_is_wrong_with_the_journal_and_uses_the_rest(project: Project, ended: LoopWriter) -> None:
    lines = ended.loop.journal.read_bytes().splitlines(keepends=True)
    ended.loop.journal.write_bytes(lines[0] + b"junk\n" + b"".join(lines[1:]))
    done = rebuild(project.state, ended.state.loop_id)
    assert done.damage == ("events.jsonl line 2: not readable: JSON is malformed: invalid character (byte 0)",)
    assert reader.view(project.state, ended.state.loop_id).state == ended.state


@pytest.mark.parametrize("spoil", ["beginning", "end", "all", "gone"])
def test_a_journal_that_cannot_be_carried_on_is_kept_and_begun_again_from_the_state(
    project: Project, spoil: str
) -> None:
    with create_state(project, "fix") as writer:
        run_iteration(writer, 1)
        run_iteration(writer, 2)
    lines = writer.loop.journal.read_bytes().splitlines(keepends=True)
    spoilt = {"beginning": [b"x" + lines[0], *lines[1:]], "end": lines[:1], "all": [b"junk\n"], "gone": []}[spoil]
    writer.loop.journal.write_bytes(b"".join(spoilt))
    if spoil == "gone":
        writer.loop.journal.unlink()
    name = writer.state.loop_id
    assert reader.view(project.state, name).damage
    with pytest.raises(Damaged, match=r"ends before|cannot be continued"):
        adopt_loop(project, name)
    done = rebuild(project.state, name)
    assert "events.jsonl" in done.changed
    assert done.damage
    if spoil != "gone":
        assert (writer.loop.path / "events.jsonl.damaged-1").read_bytes() == b"".join(spoilt)
    with adopt_loop(project, name) as again:
        assert again.state.iteration == 2
        assert again.state.metrics == writer.state.metrics
        run_iteration(again, 3)
    seen = reader.view(project.state, name)
    assert (seen.state.iteration, seen.damage) == (3, ())


def test_rebuild_agrees_with_the_writer_about_what_belongs_to_an_iteration(project: Project) -> None:
    with create_state(project, "fix") as writer:
        run_iteration(writer, 1)
        writer.record(events.CheckFinished(iteration=1, check="late", kind="command", passed=False))
    assert rebuild(project.state, writer.state.loop_id).changed == ()


def test_rebuild_waits_for_nobody(project: Project) -> None:
    with create_state(project, "fix") as writer, pytest.raises(Busy):
        rebuild(project.state, writer.state.loop_id)


def test_an_ended_loop_is_moved_whole_and_still_found(project: Project, ended: LoopWriter) -> None:
    before = {path.name: path.read_bytes() for path in ended.loop.path.iterdir() if path.is_file()}
    moved = archive_loop(project.state, ended.state.loop_id)
    assert moved.path.parent == project.state.archive
    assert {path.name: path.read_bytes() for path in moved.path.iterdir() if path.is_file()} == before
    assert not ended.loop.path.exists()
    seen = reader.view(project.state, ended.state.loop_id)
    assert seen.state == ended.state
    assert not seen.foreign
    assert archive_loop(project.state, ended.state.loop_id) == moved


def test_an_active_loop_is_not_put_away(project: Project) -> None:
    with create_state(project, "fix") as writer, pytest.raises(IllegalTransition, match="is running"):
        archive_loop(project.state, writer.state.loop_id)


def test_a_crashed_loop_put_away_by_name_leaves_the_registry_and_all_means_the_others(
    project: Project, ended: LoopWriter
) -> None:
    with create_state(project, "crash") as writer:
        writer.transition_status(Status.CRASHED)
    assert ended_loops(project.state) == [ended.state.loop_id]
    archive_loop(project.state, writer.state.loop_id)
    assert read_registry(project.state).registry.active_loops == ()


def test_unreadable_loops_are_left_alone(project: Project, ended: LoopWriter) -> None:
    for path in (ended.loop.state, files.backup_of(ended.loop.state), ended.loop.journal):
        path.write_bytes(b"junk")
    assert ended_loops(project.state) == []
    with pytest.raises(Damaged):
        archive_loop(project.state, ended.state.loop_id)


def test_foreign_loops_and_links_out_of_the_project_are_not_moved(project: Project, tmp_path: Path) -> None:
    with create_state(project, "fix") as writer:
        writer.transition_status(Status.ABORTED)
    evil = make_project(tmp_path / "evil")
    (evil.root / ".aiwg" / "ralph").mkdir(parents=True)
    (evil.root / ".aiwg" / "ralph" / "loops").symlink_to(project.state.loops)
    for act in (lambda: ended_loops(evil.state), lambda: archive_loop(evil.state, writer.state.loop_id)):
        with pytest.raises(Foreign, match="symbolic link"):
            act()
    (evil.root / ".aiwg" / "ralph" / "loops").unlink()
    shutil.copytree(project.state.loops, evil.state.loops)
    assert ended_loops(evil.state) == []
    with pytest.raises(Foreign):
        archive_loop(evil.state, writer.state.loop_id)
    assert writer.loop.path.is_dir()
