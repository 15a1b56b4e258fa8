"""A record that is written before anybody knows whether the iteration is kept."""

from pathlib import Path

from untilproven.workspace.overlay.workspace import OverlayWorkspace
from workspace.overlay.scenes.stage import Stage, fingerprint, play, succeeded


def drafts(workspace: OverlayWorkspace) -> list[str]:
    """What lies there and is no record yet."""
    path = workspace._snapshots.path
    return [one.name for one in path.iterdir() if not one.name[0].isdigit()] if path.is_dir() else []


def seen_ready(stage: Stage) -> int:
    """The file that is to become the record."""
    stage.workspace.delta()
    stage.workspace.make_ready()
    assert drafts(stage.workspace) == [".draft"]
    return (stage.workspace._snapshots.path / ".draft").stat().st_ino


def it_is_the_record_of_the_iteration_that_is_kept(base: Path) -> None:
    stage = Stage(base)
    start = fingerprint(stage.root, times=False, without=(".git", ".aiwg"))
    succeeded(stage.agent("echo 1 > src/a.py; rm untracked.txt; mkdir made; ln -s x made/link; echo 2 > made/two", 1))
    ready = seen_ready(stage)
    assert stage.workspace.keep(1) == ()
    assert (stage.workspace._snapshots.path / "000001-kept-1").stat().st_ino == ready
    assert drafts(stage.workspace) == []
    end = fingerprint(stage.root, times=False, without=(".git", ".aiwg"))
    for target, wanted in (("start", start), ("1", end)):
        assert stage.workspace.restore(target).conflicts == ()
        assert fingerprint(stage.root, times=False, without=(".git", ".aiwg")) == wanted
    stage.workspace.close()


def what_the_user_changes_after_it_was_written_stays(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo agent > src/a.py; echo 1 > one", 1))
    seen_ready(stage)
    stage.write("src/a.py", "user\n")
    assert [conflict.path for conflict in stage.workspace.keep(1)] == ["src/a.py"]
    assert set(stage.workspace.since_start()) == {"one"}
    assert stage.workspace.restore("start").conflicts == ()
    assert (stage.root / "src/a.py").read_text() == "user\n"
    assert not (stage.root / "one").exists()
    stage.workspace.close()


def what_was_in_the_way_and_is_no_more_is_no_conflict(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo agent > src/a.py", 1))
    stage.workspace.delta()
    before = (stage.root / "src/a.py").read_bytes()
    stage.write("src/a.py", "user\n")
    stage.workspace.make_ready()
    assert drafts(stage.workspace) == []
    (stage.root / "src/a.py").write_bytes(before)
    assert stage.workspace.keep(1) == ()
    assert (stage.root / "src/a.py").read_text() == "agent\n"
    stage.workspace.close()


def nothing_is_left_of_it_where_the_iteration_is_discarded(base: Path) -> None:
    stage = Stage(base)
    for number in (1, 2):
        succeeded(stage.agent(f"echo {number} > src/a.py", number))
        seen_ready(stage)
        stage.workspace.discard(number)
        assert drafts(stage.workspace) == []
    succeeded(stage.agent("echo 3 > src/a.py", 3))
    ready = seen_ready(stage)
    stage.workspace.keep(3)
    assert (stage.workspace._snapshots.path / "000003-kept-3").stat().st_ino == ready
    assert stage.workspace.restore("start").conflicts == ()
    assert (stage.root / "src/a.py").read_text() == "a = 1\n"
    stage.workspace.close()


def what_a_killed_process_had_ready_is_written_again(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 1 > src/a.py", 1))
    ready = seen_ready(stage)
    stage.workspace._place.release()  # as the end of its process would
    later = stage.another()
    assert later.recover(1) == ()
    assert (stage.root / "src/a.py").read_text() == "1\n"
    assert (later._snapshots.path / "000001-kept-1").stat().st_ino != ready
    assert later.restore("start").conflicts == ()
    assert (stage.root / "src/a.py").read_text() == "a = 1\n"
    later.close()


def what_is_large_waits_until_it_is_kept(base: Path) -> None:
    """Its old version is taken from the tree by a link, which whoever writes to it meanwhile would change too."""
    stage = Stage(base)
    stage.write("large", "x" * 100_000)
    succeeded(stage.agent("echo more >> large", 1))
    stage.workspace.delta()
    stage.workspace.make_ready()
    assert drafts(stage.workspace) == []
    assert stage.workspace.keep(1) == ()
    assert stage.workspace.restore("start").conflicts == ()
    assert (stage.root / "large").read_text() == "x" * 100_000
    stage.workspace.close()


if __name__ == "__main__":
    play(globals())
