import gzip
import os
import resource
from pathlib import Path

import pytest

from support import MOMENT, SetClock, iteration_events, run_iteration
from untilproven.errors import Damaged, Foreign
from untilproven.model import events
from untilproven.model.persistence import BestIteration
from untilproven.model.status import Status
from untilproven.store import checkpoints
from untilproven.store.checkpoints import prune, read_checkpoint, write_checkpoint
from untilproven.store.journal import scan
from untilproven.store.layout import Project
from untilproven.store.lifecycle import create_state
from untilproven.store.replay import replay_journal
from untilproven.store.writer import LoopWriter


def kept(writer: LoopWriter) -> list[int]:
    return sorted(int(path.name[10:].partition(".")[0]) for path in writer.loop.checkpoints.glob("iteration-*"))


def test_a_checkpoint_reads_back_and_knows_where_in_the_journal_it_stood(project: Project) -> None:
    clock = SetClock()
    with create_state(project, "fix", time=clock) as writer:
        state = writer.record(*iteration_events(1))
        write_checkpoint(writer, tags=("before-risk",), time=clock)
        assert writer.state.iteration == 1
        back = read_checkpoint(writer.loop, 1)
        assert back.loop_id == state.loop_id
        assert back.state.loop_state == state
        assert back.state.journal_seq == 4
        assert back.metadata
        assert back.metadata.tags == ("before-risk",)
        path = project.home / str(writer.state.last_checkpoint)
        assert gzip.decompress(path.read_bytes()).startswith(b"{")
        assert replay_journal(writer.loop).state == writer.state


def test_its_size_does_not_grow_with_the_loops_age(project: Project) -> None:
    with create_state(project, "fix") as writer:
        sizes = []
        for number in range(1, 41):
            run_iteration(writer, number, durable=False)
            write_checkpoint(writer)
            sizes.append(writer.loop.checkpoint(number).stat().st_size)
        assert sizes[-1] < sizes[12] * 1.2


def test_the_last_five_the_best_and_the_tagged_are_kept(project: Project) -> None:
    with create_state(project, "fix") as writer:
        for number in range(1, 11):
            run_iteration(writer, number, durable=False)
            if number == 2:
                writer.record(events.StateUpdated(set={"best_iteration": {"iteration": 2, "quality_score": 90}}))
            write_checkpoint(writer, tags=("mine",) if number == 4 else ())
        assert kept(writer) == [2, 4, 6, 7, 8, 9, 10]
        assert writer.state.best_iteration == BestIteration(iteration=2, quality_score=90)


def test_pruning_that_is_put_off_spares_what_is_the_best_by_then(project: Project) -> None:
    with create_state(project, "fix") as writer:
        writer.patience = 3600.0
        for number in range(1, 9):
            writer.record(*iteration_events(number))
            write_checkpoint(writer)
            if number == 2:
                writer.record(events.StateUpdated(set={"best_iteration": {"iteration": 2, "quality_score": 90}}))
        writer.keep_up()
        assert kept(writer) == [2, 4, 5, 6, 7, 8]


def test_after_thirty_days_only_the_last_remains(project: Project) -> None:
    with create_state(project, "fix") as writer:
        for number in range(1, 4):
            run_iteration(writer, number, durable=False)
            write_checkpoint(writer)
        for path in writer.loop.checkpoints.iterdir():
            os.utime(path, (MOMENT.timestamp(), MOMENT.timestamp()))
        clock = SetClock()
        clock.move(days=29)
        assert prune(writer.loop, best=None, time=clock) == []
        clock.move(days=2)
        assert prune(writer.loop, best=None, time=clock) == [2, 1]
        assert kept(writer) == [3]


def test_what_cannot_be_read_is_not_deleted(project: Project) -> None:
    with create_state(project, "fix") as writer:
        for number in range(1, 8):
            run_iteration(writer, number, durable=False)
            if number == 2:
                writer.loop.checkpoint(1).write_bytes(b"junk")
            write_checkpoint(writer)
        assert kept(writer) == [1, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("junk", "said"),
    [
        (b"", "cut short"),
        (b"junk", "not a gzip"),
        (gzip.compress(b"{}"), "not a checkpoint"),
        (gzip.compress(b"x" * 100_000)[:-10], "cut short"),
        (gzip.compress(b"[" * 500_000), "not a checkpoint"),
    ],
    ids=["empty", "text", "no fields", "cut", "deep"],
)
def test_a_damaged_checkpoint_is_an_error_that_names_it(project: Project, junk: bytes, said: str) -> None:
    with create_state(project, "fix") as writer:
        writer.loop.checkpoint(1).write_bytes(junk)
        with pytest.raises(Damaged, match=said):
            read_checkpoint(writer.loop, 1)


def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(project: Project, tmp_path: Path) -> None:
    bomb = gzip.compress(b"\x00" * (checkpoints.UNPACKED_LIMIT * 4), compresslevel=9)
    assert len(bomb) < 2_000_000
    with create_state(project, "fix") as writer:
        writer.loop.checkpoint(1).write_bytes(bomb)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(Damaged, match="unpacks to more"):
            read_checkpoint(writer.loop, 1)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown * 1024 < checkpoints.UNPACKED_LIMIT * 2.5


def test_a_missing_or_linked_checkpoint_is_said(project: Project, tmp_path: Path) -> None:
    with create_state(project, "fix") as writer:
        with pytest.raises(Damaged, match="no checkpoint of iteration 3"):
            read_checkpoint(writer.loop, 3)
        writer.loop.checkpoint(1).symlink_to(tmp_path / "x")
        with pytest.raises(Foreign):
            read_checkpoint(writer.loop, 1)


def test_a_checkpoint_can_be_written_after_the_end(project: Project) -> None:
    with create_state(project, "fix") as writer:
        run_iteration(writer, 1)
        writer.transition_status(Status.ABORTED)
        write_checkpoint(writer)
        assert read_checkpoint(writer.loop, 1).state.phase == "aborted"


def test_links_in_place_of_the_directories_are_neither_written_through_nor_pruned(
    project: Project, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "iteration-001.json.gz").write_bytes(b"mine")
    with create_state(project, "fix") as writer:
        for directory in (writer.loop.iterations, writer.loop.checkpoints):
            directory.rmdir()
            directory.symlink_to(outside)
        with pytest.raises(Foreign):
            write_checkpoint(writer)
        run_iteration(writer, 1)
        assert isinstance(writer.behind, Foreign)
        assert [path.name for path in outside.iterdir()] == ["iteration-001.json.gz"]


def test_a_strange_name_among_the_checkpoints_is_left_alone(project: Project) -> None:
    with create_state(project, "fix") as writer:
        (writer.loop.checkpoints / "iteration-7.json.gz").write_bytes(b"not ours")
        (writer.loop.checkpoints / "iteration-x.json.gz").write_bytes(b"not ours")
        for number in range(1, 8):
            run_iteration(writer, number, durable=False)
            write_checkpoint(writer)
        assert (writer.loop.checkpoints / "iteration-7.json.gz").read_bytes() == b"not ours"


def test_a_checkpoint_that_cannot_be_pruned_does_not_make_a_recorded_iteration_fail(project: Project) -> None:
    with create_state(project, "fix") as writer:
        for number in range(1, 6):
            writer.record(*iteration_events(number))
            write_checkpoint(writer)
        stuck = writer.loop.checkpoint(1)
        first = stuck.read_bytes()
        monkey = pytest.MonkeyPatch()
        real = Path.replace

        def refused(path: Path, target: Path) -> Path:
            if path == stuck:
                raise PermissionError(1, "Operation not permitted")
            return real(path, target)

        monkey.setattr(Path, "replace", refused)
        writer.record(*iteration_events(6))
        write_checkpoint(writer)
        monkey.undo()
        assert writer.state.iteration == 6
        assert writer.behind
        assert stuck.read_bytes() == first


def test_a_checkpoint_that_could_not_be_written_in_time_has_no_line_after_the_end(
    project: Project, tmp_path: Path
) -> None:
    with create_state(project, "fix") as writer:
        writer.patience = 3600.0
        writer.record(*iteration_events(1))
        write_checkpoint(writer)
        writer.loop.checkpoints.rename(tmp_path / "aside")
        writer.loop.checkpoints.symlink_to(tmp_path)
        writer.transition_status(Status.ABORTED)
        writer.loop.checkpoints.unlink()
        (tmp_path / "aside").rename(writer.loop.checkpoints)
    assert kept(writer) == []
    *_, last = scan(writer.loop.journal, writer.loop.loop_id)
    assert isinstance(last, events.Entry)
    assert isinstance(last.event, events.StatusChanged)


def test_a_checkpoint_that_was_given_up_is_written_over_and_never_through_a_second_name(project: Project) -> None:
    with create_state(project, "fix") as writer:
        for number in range(1, 7):
            writer.record(*iteration_events(number))
            write_checkpoint(writer)
        spare = writer.loop.checkpoints / ".spare"
        again, mine = spare.stat().st_ino, project.root / "mine"
        writer.record(*iteration_events(7))
        write_checkpoint(writer)
        assert writer.loop.checkpoint(7).stat().st_ino == again
        mine.write_text("not yours")
        spare.unlink()
        spare.hardlink_to(mine)
        writer.record(*iteration_events(8))
        write_checkpoint(writer)
        assert mine.read_text() == "not yours"
        assert read_checkpoint(writer.loop, 8).state.iteration
