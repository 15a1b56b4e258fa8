"""Every iteration can be brought back, whatever is killed meanwhile, and what the user did since stays."""

import os
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path

from untilproven.errors import Damaged, UsageError
from untilproven.workspace.overlay.workspace import OverlayWorkspace
from workspace.overlay.scenes.stage import Stage, fingerprint, play, refuses, succeeded

FIRST = """
    echo more >> src/a.py; rm untracked.txt; mv src/b.py src/moved.py; chmod 700 run.sh; rm -r node_modules
    mkdir -p made/inner; chmod 750 made; ln -sf src/deep link; rm dangling; mkdir dangling; echo x > dangling/file
    rm -r src/deep; echo file > src/deep; echo y >> .env; touch -d 2001-01-01 old; rmdir empty/inner; rm to_etc
    head -c 200000 /dev/urandom > large; : > nothing; chmod 0 nothing; printf %s x > closed; chmod 0 closed
"""
SECOND = """
    rm src/deep; mkdir src/deep; echo other > src/deep/file; echo z >> .env; chmod 640 .env; echo 2 >> src/a.py
    rm -r made; echo instead > made; chmod 600 closed; echo more >> closed; rm large; mkdir -p new/deep; ln -s x new/l
"""


def tree_of(stage: Stage) -> dict[str, tuple[object, ...]]:
    """Everything but git's and the loops' own; directories have no time of their own."""
    found = fingerprint_of(stage.root)
    return {
        path: (*seen[:3], 0 if stat.S_ISDIR(int(str(seen[0]), 8)) else seen[3])
        for path, seen in found.items()
        if path.split("/")[0] not in {".git", ".aiwg"}
    }


def fingerprint_of(root: Path) -> dict[str, tuple[object, ...]]:
    closed = [path for path in (root / "nothing", root / "closed") if path.exists() and not path.stat().st_mode & 0o400]
    for path in closed:
        path.chmod(0o400)
    try:
        found = fingerprint(root)
    finally:
        for path in closed:
            path.chmod(0)
    for path in closed:
        mode, *rest = found[path.name]
        found[path.name] = (oct(int(str(mode), 8) & ~0o777), *rest)
    return found


def restored(stage: Stage, target: str, *, dry_run: bool = False) -> dict[str, str]:
    stage.workspace.recover(None)
    found = stage.workspace.restore(target, dry_run=dry_run)
    assert found.conflicts == (), found.conflicts
    return found.changed


def every_state_comes_back_to_the_byte(base: Path) -> None:
    stage = Stage(base)
    git = fingerprint(stage.root / ".git")
    states = {"start": tree_of(stage)}
    succeeded(stage.agent(FIRST, 1))
    stage.workspace.keep(1)
    states["1"] = tree_of(stage)
    succeeded(stage.agent("echo lost > src/a.py; rm -r src/deep .env; echo new > only_here; mkdir d; chmod 711 d", 2))
    stage.workspace.delta()
    stage.workspace.discard(2)
    assert tree_of(stage) == states["1"]
    succeeded(stage.agent(SECOND, 3))
    stage.workspace.keep(3)
    states["3"] = tree_of(stage)
    succeeded(stage.agent("true", 4))
    stage.workspace.keep(4)
    states["4"] = states["end"] = states["3"]
    for target in ("start", "3", "1", "end", "start", "1", "4", "start"):
        before = tree_of(stage)
        would = restored(stage, target, dry_run=True)
        assert tree_of(stage) == before
        did = restored(stage, target)
        assert tree_of(stage) == states[target], target
        assert would == did, target
        assert bool(did) == (before != states[target])
        assert restored(stage, target) == {}
    restored(stage, "2")
    assert (stage.root / "src/a.py").read_text() == "lost\n"
    assert (stage.root / "only_here").read_text() == "new\n"
    assert stat.S_IMODE((stage.root / "d").stat().st_mode) == 0o711
    assert not (stage.root / ".env").exists()
    assert (stage.root / "large").stat().st_size == 200000
    restored(stage, "start")
    assert tree_of(stage) == states["start"]
    assert fingerprint(stage.root / ".git") == git
    stage.workspace.close()


def it_works_in_another_process_after_the_rooms_are_gone(base: Path) -> None:
    stage = Stage(base)
    start = tree_of(stage)
    succeeded(stage.agent(FIRST, 1))
    stage.workspace.keep(1)
    stage.workspace.forget()
    assert not list((stage.home / ".local/state/untilproven/rooms").glob("*/*"))
    stage.workspace = stage.another()
    restored(stage, "start")
    assert tree_of(stage) == start
    stage.workspace.forget()


def what_the_user_changed_since_stays_and_is_told(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 1 > src/a.py; echo 1 > one; mkdir made; echo 1 > made/file; rm untracked.txt", 1))
    stage.workspace.keep(1)
    stage.write("src/a.py", "user\n")
    stage.write("made/mine", "user\n")
    stage.write("untracked.txt", "user\n")
    stage.workspace.recover(None)
    would = stage.workspace.restore("start", dry_run=True)
    did = stage.workspace.restore("start")
    assert would.changed == did.changed == {"one": "deleted", "made/file": "deleted"}
    assert [(c.path, c.wanted) for c in would.conflicts] == sorted((c.path, c.wanted) for c in did.conflicts)
    conflicts = {conflict.path: conflict for conflict in did.conflicts}
    assert set(conflicts) == {"src/a.py", "made", "untracked.txt"}
    aside = conflicts["src/a.py"].aside
    assert aside
    assert aside.read_text() == "a = 1\n"
    for path in ("src/a.py", "made/mine", "untracked.txt"):
        assert (stage.root / path).read_text() == "user\n"
    again = stage.workspace.restore("start")
    assert again.changed == {}
    assert {conflict.path for conflict in again.conflicts} == set(conflicts)
    stage.workspace.restore("1")
    assert (stage.root / "one").read_text() == "1\n"
    assert (stage.root / "src/a.py").read_text() == "user\n"
    stage.workspace.close()


def where_the_user_s_stayed_at_a_merge_nothing_is_ours_to_take_back(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo agent > src/a.py; echo agent > both; echo same > same; echo 1 > one", 1))
    stage.write("src/a.py", "user\n")
    stage.write("both", "user\n")
    stage.write("same", "same\n")
    assert {conflict.path for conflict in stage.workspace.keep(1)} == {"src/a.py", "both"}
    assert set(stage.workspace.since_start()) == {"one"}
    assert restored(stage, "start") == {"one": "deleted"}
    assert (stage.root / "same").read_text() == "same\n"
    assert (stage.root / "src/a.py").read_text() == "user\n"
    stage.workspace.close()


def what_the_user_did_between_iterations_is_never_lost(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 1 > src/a.py", 1))
    stage.workspace.keep(1)
    stage.write("src/a.py", "user's own words\n")
    time.sleep(0.05)  # what is written in the moment in which a room is opened may be written after it
    succeeded(stage.agent("echo 2 > src/a.py; rm src/b.py", 2))
    stage.workspace.keep(2)
    steps = stage.workspace._snapshots.history()
    base_of_second = steps[1].record.changes()["src/a.py"].base
    assert base_of_second
    assert stage.workspace._snapshots.read("src/a.py", base_of_second, 1000) == b"user's own words\n"
    restored(stage, "start")
    assert (stage.root / "src/a.py").read_text() == "a = 1\n"
    assert (stage.root / "src/b.py").read_text() == "b = 2  # not committed\n"
    stage.workspace.close()


def what_the_user_did_between_iterations_is_no_conflict_where_a_look_at_the_tree_takes_long(base: Path) -> None:
    stage = Stage(base)
    stage.root.chmod(0o700)
    succeeded(stage.agent("echo 1 > src/a.py", 1))
    stage.workspace.keep(1)
    stage.workspace._known._stale_at = float("inf")
    time.sleep(0.05)
    stage.write("src/a.py", "user's own words\n")
    time.sleep(0.05)
    succeeded(stage.agent("echo 2 >> src/a.py", 2))
    assert stage.workspace.keep(2) == ()
    assert (stage.root / "src/a.py").read_text() == "user's own words\n2\n"
    stage.workspace.close()


def what_is_not_there_is_refused(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 1 > one", 1))
    stage.workspace.keep(1)
    assert "iteration 7" in refuses(UsageError, lambda: stage.workspace.restore("7"))
    stage.workspace.close()


def a_snapshot_that_was_spoilt_changes_nothing(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 1 > src/a.py; echo 1 > one", 1))
    stage.workspace.keep(1)
    before = tree_of(stage)
    (path,) = stage.workspace._snapshots.path.glob("*-kept-*")
    whole = path.read_bytes()
    for spoilt in (whole.replace(b"a = 1\n", b"a = 2\n"), whole[:-1], b"", whole[: len(whole) // 2]):
        path.write_bytes(spoilt)
        stage.workspace.close()
        stage.workspace = stage.another()
        stage.workspace.recover(None)
        refuses(Damaged, lambda: stage.workspace.restore("start"))
        assert tree_of(stage) == before
    path.write_bytes(whole)
    stage.workspace.close()


def killed_at_any_step_of_restoring_it_is_finished_by_the_next(base: Path) -> None:
    wanted: dict[str, tuple[object, ...]] = {}
    step = 0
    while True:
        stage = Stage(base / str(step))
        wanted = without_times(tree_of(stage))
        succeeded(stage.agent(FIRST, 1))
        stage.workspace.keep(1)
        succeeded(stage.agent(SECOND, 2))
        stage.workspace.keep(2)
        after = without_times(tree_of(stage))
        stage.workspace.close()
        ended = until(step, stage.another(), lambda workspace: workspace.restore("start"))
        stage.workspace = stage.another()
        begun = (stage.workspace._place.path / "restore").exists()
        assert stage.workspace.recover(2) == ()
        now = without_times(tree_of(stage))
        assert now == wanted or (now == after and begun and not ended), (step, now)
        restored(stage, "start")
        assert without_times(tree_of(stage)) == wanted, step
        assert not [name for name in tree_of(stage) if "ralph-merge" in name]
        restored(stage, "2")
        assert without_times(tree_of(stage)) == after, step
        stage.workspace.close()
        if ended:
            break
        step += 1
    assert step > 30, step


def killed_at_any_step_of_keeping_both_ends_come_back(base: Path) -> None:
    step = 0
    while True:
        stage = Stage(base / str(step))
        start = without_times(tree_of(stage))
        succeeded(stage.agent(FIRST, 1))
        stage.workspace.delta()
        stage.workspace.close()
        ended = until(step, stage.another(), lambda workspace: workspace.keep(1))
        stage.workspace = stage.another()
        assert stage.workspace.recover(1) == ()
        kept = without_times(tree_of(stage))
        assert len(stage.workspace._snapshots.names) == 1
        restored(stage, "start")
        assert without_times(tree_of(stage)) == start, step
        restored(stage, "1")
        assert without_times(tree_of(stage)) == kept, step
        stage.workspace.close()
        if ended:
            break
        step += 1
    assert step > 20, step


def a_merge_that_was_begun_is_finished_whatever_is_said_of_the_iteration(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 1 > one; echo 2 > two; rm src/a.py", 1))
    stage.workspace.delta()
    stage.workspace.close()
    assert not until(6, stage.another(), lambda workspace: workspace.keep(1))
    stage.workspace = stage.another()
    assert stage.workspace.recover(None) == ()
    assert (stage.root / "one").exists()
    assert (stage.root / "two").exists()
    assert not (stage.root / "src/a.py").exists()
    stage.workspace.close()


def without_times(tree: dict[str, tuple[object, ...]]) -> dict[str, tuple[object, ...]]:
    return {path: seen[:3] for path, seen in tree.items()}


def until(step: int, workspace: OverlayWorkspace, do: Callable[[OverlayWorkspace], object]) -> bool:
    """Do it in another process, which kills itself before this step; whether it came to the end."""
    child = os.fork()
    if not child:
        left = step

        def killed() -> None:
            nonlocal left
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

        try:
            workspace.step = killed
            do(workspace)
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert status in {0, signal.SIGKILL}, status
    return status == 0


def a_parked_attempt_of_the_same_number_is_not_taken_for_the_kept_one(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo first > one", 1))
    stage.workspace.keep(1)
    succeeded(stage.agent("echo second > two", 1))
    stage.workspace.delta()
    stage.workspace.close()
    stage.workspace = stage.another()
    assert stage.workspace.recover(None) == ()
    assert not (stage.root / "two").exists()
    restored(stage, "1")
    assert (stage.root / "two").read_text() == "second\n"
    stage.workspace.close()


if __name__ == "__main__":
    play(globals())
