"""A kept iteration becomes the user's tree, whatever is killed meanwhile, and what the user did meanwhile stays."""

import os
import signal
from pathlib import Path

from untilproven.errors import Busy, Damaged
from workspace.overlay.scenes.stage import SUPERVISION, Stage, fingerprint, play, refuses, succeeded

SCRIPT = """
    echo more >> src/a.py; rm untracked.txt; mv src/b.py src/moved.py; chmod 700 run.sh; rm -r node_modules
    mkdir -p made/inner; chmod 750 made; ln -sf src/deep link; rm dangling; mkdir dangling; echo x > dangling/file
    rm -r src/deep; echo file > src/deep; echo y >> .env; touch -d 2001-01-01 old; rmdir empty/inner
"""


def what_was_kept_is_what_the_agent_had(base: Path) -> None:
    stage = Stage(base)
    git = fingerprint(stage.root / ".git")
    stage.look_no_more()
    succeeded(stage.agent(SCRIPT))
    tree = stage.workspace.delta().tree
    inside = stage.check(
        "find . -path ./.git -prune -o -path ./.aiwg -prune -o -printf '%P %y %m %l %T@\\n' | sort"
    ).output
    assert stage.workspace.keep(1) == ()
    outside = stage.host("find . -path ./.git -prune -o -path ./.aiwg -prune -o -printf '%P %y %m %l %T@\\n' | sort")
    assert _without_times_of_directories(inside) == _without_times_of_directories(outside)
    assert fingerprint(stage.root / ".git") == git
    assert stage.workspace.tree() == tree == stage.another().tree()
    after = fingerprint(stage.root)
    stage.workspace.keep(1)
    assert fingerprint(stage.root) == after
    stage.workspace.close()
    assert not list(stage.workspace._place.path.glob("iteration-*"))


def _without_times_of_directories(listing: str) -> list[str]:
    return [line.rpartition(" ")[0] if " d " in line else line for line in listing.splitlines()]


def killed_at_any_step_it_is_finished_at_the_next_start(base: Path) -> None:
    wanted: dict[str, tuple[object, ...]] = {}
    step = 0
    while True:
        stage = Stage(base / str(step))
        succeeded(stage.agent(SCRIPT))
        tree = stage.workspace.delta().tree
        stage.workspace.close()
        ended = _keep_until(stage, step)
        later = stage.another()
        assert later.recover(1) == ()
        assert later.tree() == tree
        now = fingerprint(stage.root, times=False, without=(".git", ".aiwg"))
        wanted = wanted or now
        assert now == wanted, step
        assert not [name for name in now if "ralph-merge" in name]
        later.close()
        if ended:
            break
        step += 1
    assert step > 20, step


def _keep_until(stage: Stage, step: int) -> bool:
    """Keep in another process, which kills itself before this step; whether it came to the end."""
    child = os.fork()
    if not child:
        left = step

        def killed() -> None:
            nonlocal left
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

        try:
            workspace = stage.another()
            workspace.step = killed
            workspace.keep(1)
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert status in {0, signal.SIGKILL}, status
    return status == 0


def an_iteration_that_was_not_kept_is_dropped_at_the_next_start(base: Path) -> None:
    stage = Stage(base)
    before = fingerprint(stage.root)
    succeeded(stage.agent(SCRIPT + "git commit -qam inside"))
    stage.workspace.delta()
    stage.workspace.close()
    later = stage.another()
    later.recover(None)
    assert fingerprint(stage.root) == before
    assert not list(later._place.path.glob("iteration-*"))
    stage.workspace = later
    succeeded(stage.agent("test $(git log --oneline | wc -l) = 1", 2))
    stage.workspace.close()


def a_kept_iteration_that_was_never_merged_is_merged_at_the_next_start(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 1 > one"))
    stage.workspace.delta()
    stage.workspace.close()
    stage.write("src/a.py", "user's\n")
    later = stage.another()
    later.recover(1)
    assert (stage.root / "one").read_text() == "1\n"
    assert (stage.root / "src/a.py").read_text() == "user's\n"
    assert later.recover(1) == ()
    later.close()


def what_the_user_changes_meanwhile_stays_and_the_agent_s_is_kept_aside(base: Path) -> None:
    stage = Stage(base)
    stage.write("gone/by_user", "x\n")
    stage.write("kept/by_user", "x\n")
    stage.look_no_more()
    room = stage.workspace.open(1, SUPERVISION)
    succeeded(
        room.run(
            "echo agent > src/a.py; echo agent > src/b.py; echo agent > new; rm untracked.txt; chmod 700 run.sh;"
            "echo agent > gone/by_user; rm -r kept; echo fine > fine; mkdir dir; rm -r node_modules; ln -sfn src link",
            timeout=60,
        )
    )
    stage.write("src/a.py", "user\n")
    stage.write("new", "user\n")
    stage.write("untracked.txt", "user\n")
    (stage.root / "run.sh").write_text("user\n")
    (stage.root / "gone/by_user").unlink()
    stage.write("kept/by_user", "user\n")
    stage.write("dir", "user\n")
    stage.write("node_modules/mine", "user\n")
    stage.workspace.delta()
    stage.write("src/b.py", "user, after the delta\n")
    conflicts = {conflict.path: conflict for conflict in stage.workspace.keep(1)}
    assert {path: conflict.wanted for path, conflict in conflicts.items()} == {
        "src/a.py": "changed",
        "src/b.py": "changed",
        "new": "changed",
        "untracked.txt": "deleted",
        "run.sh": "changed",
        "gone/by_user": "changed",
        "kept/by_user": "deleted",
        "kept": "deleted",
        "dir": "changed",
        "node_modules": "deleted",
    }, conflicts
    for path in ("src/a.py", "new", "untracked.txt", "run.sh", "kept/by_user", "dir", "node_modules/mine"):
        assert (stage.root / path).read_text() == "user\n", path
    assert (stage.root / "src/b.py").read_text() == "user, after the delta\n"
    assert not (stage.root / "gone/by_user").exists()
    assert not (stage.root / "node_modules/x").exists()
    assert (stage.root / "fine").read_text() == "fine\n"
    for path in ("src/a.py", "src/b.py", "new", "gone/by_user"):
        aside = conflicts[path].aside
        assert aside
        assert aside.read_text() == "agent\n"
    assert stage.workspace.tree() == stage.another().tree()
    stage.workspace.close()


def a_change_by_the_user_that_came_to_the_same_is_no_conflict(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo same > same; echo a > src/a.py; rm untracked.txt"))
    stage.write("same", "same\n")
    os.utime(stage.root / "src/a.py")
    (stage.root / "untracked.txt").unlink()
    assert stage.workspace.keep(1) == ()
    assert (stage.root / "src/a.py").read_text() == "a\n"
    stage.workspace.close()


def a_layer_that_lost_its_content_is_not_merged(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo agent > src/a.py"))
    stage.workspace.delta()
    (stage.workspace._upper(1) / "src/a.py").write_text("")
    refuses(Damaged, lambda: stage.workspace.keep(1))
    assert (stage.root / "src/a.py").read_text() == "a = 1\n"
    stage.workspace.close()


def two_processes_never_have_the_rooms_of_one_loop(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("true"))
    other = stage.another()
    other._place._lock_seconds = 0.1
    assert "the room of ralph-scene" in refuses(Busy, lambda: other.open(1, SUPERVISION))
    stage.workspace.close()
    other.open(1, SUPERVISION)
    other.close()


def nothing_is_left_of_a_loop_that_is_forgotten(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 1 > one; mkdir ~/x; chmod 0 ~/x; git commit -qam x"))
    stage.workspace.keep(1)
    stage.workspace.forget()
    assert list((stage.home / ".local/state/untilproven/rooms").iterdir()) == []


def what_the_user_saves_at_any_step_of_a_merge_stays(base: Path) -> None:
    stage = Stage(base)
    saved = stage.root / "src/a.py"
    for how in ("in place", "by renaming"):
        for step in range(100):
            number = 1000 * (how == "in place") + step + 1
            succeeded(stage.agent(f"echo agent {number} > src/a.py; echo {number} > other", number))
            stage.workspace.delta()
            left = [step]

            def save(left: list[int] = left, how: str = how, number: int = number) -> None:
                left[0] -= 1
                if left[0] == -1:
                    target = saved if how == "in place" else saved.with_name("new")
                    target.write_text(f"user {number}\n")
                    target.replace(saved)

            stage.workspace.step = save
            stage.workspace.keep(number)
            stage.workspace.step = lambda: None
            assert (stage.root / "other").read_text() == f"{number}\n"
            if left[0] >= 0:  # the merge had fewer steps
                break
            assert saved.read_text() == f"user {number}\n", (how, step)
            assert not list(stage.root.rglob(".ralph-merge*"))
        assert step > 3
    stage.workspace.close()


if __name__ == "__main__":
    play(globals())
