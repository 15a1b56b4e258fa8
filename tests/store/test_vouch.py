import shutil
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from sources import examples
from support import make_project, run_iteration
from untilproven.core.stale import Liveness
from untilproven.errors import Foreign, StoreFailed
from untilproven.store import reader
from untilproven.store.layout import Project, find_project
from untilproven.store.lifecycle import continue_loop, create_state
from untilproven.store.rebuild import rebuild
from untilproven.store.vouch import Voucher, digest, user_state
from untilproven.store.writer import LoopWriter, open_loop


@pytest.fixture
def writer(project: Project) -> LoopWriter:
    made = create_state(project, "fix")
    run_iteration(made, 1)
    made.close()
    return made


def test_the_key_is_made_once_and_only_its_owner_can_read_it(project: Project) -> None:
    create_state(project, "fix").close()
    key = user_state() / "key"
    before = key.read_bytes()
    assert len(before) == 32
    assert key.stat().st_mode & 0o777 == 0o600
    create_state(project, "fix").close()
    assert key.read_bytes() == before
    assert sorted(path.name for path in user_state().iterdir()) == ["key"]


def test_looking_never_makes_a_key(project: Project, writer: LoopWriter) -> None:
    (user_state() / "key").unlink()
    assert reader.view(project.state, writer.state.loop_id).foreign
    assert not (user_state() / "key").exists()


def test_a_state_directory_that_came_with_a_clone_is_foreign(
    project: Project, writer: LoopWriter, tmp_path: Path
) -> None:
    clone = make_project(tmp_path / "clone")
    shutil.copytree(project.root / ".aiwg", clone.root / ".aiwg")
    seen = reader.view(clone.state, writer.state.loop_id)
    assert seen.foreign
    assert seen.liveness is Liveness.UNKNOWN
    assert seen.state.iteration == 1
    for act in (
        lambda: open_loop(clone.state, writer.state.loop_id),
        lambda: continue_loop(clone, writer.state.loop_id),
        lambda: rebuild(clone.state, writer.state.loop_id),
    ):
        with pytest.raises(Foreign, match="nothing in it is acted on"):
            act()


def test_a_state_that_others_wrote_is_shown_and_nothing_more(project: Project) -> None:
    project.state.make()
    example = examples()["state"]
    loop = project.state.loops / example["loop_id"]
    loop.mkdir()
    (loop / "state.json").write_bytes(msgspec.json.encode({**example, "vouch": "0" * 64}))
    assert reader.view(project.state, example["loop_id"]).foreign


def test_a_changed_process_or_beginning_is_no_longer_vouched_for(project: Project, writer: LoopWriter) -> None:
    voucher = Voucher(project.home)
    state = writer.state
    assert state.process
    assert voucher.vouches(state)
    assert not voucher.vouches(replace(state, process=replace(state.process, pid=1)))
    assert not voucher.vouches(replace(state, started_with=digest({"task": "rm -rf"})))
    assert not voucher.vouches(replace(state, loop_id="ralph-other-00000000"))
    assert not voucher.vouches(replace(state, vouch=UNSET))


def test_a_loop_whose_beginning_was_rewritten_is_not_carried_on(project: Project, writer: LoopWriter) -> None:
    journal = writer.loop.journal.read_bytes()
    assert journal.count(b'"task":"fix"') == 1
    writer.loop.journal.write_bytes(journal.replace(b'"task":"fix"', b'"task":"rm -rf"'))
    with pytest.raises(Foreign):
        open_loop(project.state, writer.state.loop_id)


def test_a_worktree_shares_the_state_of_its_main_one(tmp_path: Path) -> None:
    main = tmp_path / "main"
    gitdir = main / ".git/worktrees/side"
    gitdir.mkdir(parents=True)
    side = tmp_path / "side"
    side.mkdir()
    (side / ".git").write_text(f"gitdir: {gitdir}\n")
    (gitdir / "commondir").write_text("../..\n")
    (gitdir / "gitdir").write_text(f"{side / '.git'}\n")
    found = find_project(side)
    assert (found.root, found.home) == (side, main)
    (gitdir / "gitdir").write_text("/somewhere/else/.git\n")
    assert find_project(side).home == side


def test_a_broken_key_is_said_and_not_replaced(project: Project) -> None:
    user_state().mkdir(parents=True)
    (user_state() / "key").write_bytes(b"short")
    with pytest.raises(StoreFailed, match="is not a key"):
        create_state(project, "fix")
    assert (user_state() / "key").read_bytes() == b"short"
    assert list(project.state.loops.iterdir()) == []
