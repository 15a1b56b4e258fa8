"""Killed at any step, a commit leaves nothing half: the next one finishes it, and there is only one."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from untilproven.store.process import this_process
from untilproven.workspace.git import index
from untilproven.workspace.git.committing import Committed, Waiting
from workspace.git.scenes.stage import MESSAGE, OF_THE_USER, Stage, play

PROGRAMS = ("subprocess.Popen", "os.link")
STEPS = (*PROGRAMS, "os.rename", "os.remove")
BEFORE = 3
"""How many of the kills come before anything of the user's is touched."""
DYING = """
import os, signal, sys
from pathlib import Path
from workspace.git.scenes.stage import MESSAGE, Stage
from untilproven.workspace.git.committing import commit
root, at, branch = sys.argv[1], int(sys.argv[2]), sys.argv[3]
stage = Stage.__new__(Stage)
stage.root = Path(root)
stage.begin()
stage.work()
changes = stage.changes()
early, late, began = 0, BEFORE, False
def step(event, arguments):
    global early, late, began
    if event not in STEPS:
        return
    began = began or event == "os.link"  # the lock of the index
    early, late = early + 1, late + began
    if (late if began else early / 5) == at:
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(step)
print(type(commit(stage.root, changes, MESSAGE, branch=branch)).__name__)
"""


def _killed_everywhere(base: Path, branch: str, steps: tuple[str, ...]) -> None:
    stage = Stage(base)
    original = stage.root
    first = stage.head()
    script = DYING.replace("STEPS", repr(steps)).replace("BEFORE", str(BEFORE))
    at, ended = 0, False
    while not ended:
        at += 1
        stage.root = base / "copy"
        subprocess.run(["rm", "-rf", stage.root], check=True)
        subprocess.run(["cp", "-a", original, stage.root], check=True)
        stage.begin()
        ran = subprocess.run(
            [sys.executable, "-P", "-c", script, stage.root, str(at), branch],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        ended = ran.returncode == 0
        assert ended or ran.returncode == -9, ran.stderr
        moved = stage.head() != first
        (stage.root / ".git/index.lock").unlink(missing_ok=True) if at % 2 else None  # as git tells its user to
        if moved:
            assert stage.status() == OF_THE_USER, at  # never the work undone, which the user's next commit would take
        assert stage.host("git cat-file -p :staged.txt") == "staged\n"
        done = stage.committed(branch)
        assert stage.head() == done.commit
        assert done.paths == 3
        assert done.branch == (f"ralph/{branch}" if branch else "main"), (at, done)
        assert stage.host("git rev-list HEAD").split() == [done.commit, first], at
        assert stage.status() == OF_THE_USER, at
        assert sorted(path.name for path in (stage.root / ".git").glob("index*")) == ["index"], at
    assert at > BEFORE + 5
    assert stage.host("git fsck --strict --no-dangling") == ""


def a_kill_at_any_step_is_made_good(base: Path) -> None:
    _killed_everywhere(base, "", STEPS)


def a_kill_at_any_step_is_made_good_on_a_branch_of_its_own(base: Path) -> None:
    _killed_everywhere(base, "own", PROGRAMS)


def a_lock_of_the_living_is_not_taken(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    lock = stage.root / ".git/index.lock"
    holder = index._Holder(this_process())
    lock.write_bytes(msgspec.json.encode(holder))
    index.held.__wrapped__.__defaults__ = (0.2,)  # type: ignore[attr-defined]
    assert isinstance(stage.commit(), Waiting)
    assert lock.exists()
    child = subprocess.Popen(["true"])
    child.wait()
    dead = msgspec.structs.replace(holder.untilproven, pid=child.pid, start="1")
    lock.write_bytes(msgspec.json.encode(index._Holder(dead)))
    assert isinstance(stage.commit(), Committed)


def an_interrupt_while_the_branch_moves_leaves_index_and_head_alike(base: Path) -> None:
    from untilproven.workspace.git.confined import Git  # noqa: PLC0415

    stage = Stage(base)
    stage.work()
    real = Git.run
    for late in (False, True):

        def run(self: Git, *words: str, late: bool = late, **more: object) -> object:
            if "update-ref" not in words:
                return real(self, *words, **more)  # type: ignore[arg-type]
            if late:
                real(self, *words, **more)  # type: ignore[arg-type]
            raise KeyboardInterrupt

        before = stage.host("git ls-files -s")
        Git.run = run  # type: ignore[assignment,method-assign]
        try:
            stage.commit()
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("not interrupted")
        Git.run = real  # type: ignore[method-assign]
        assert (stage.host("git ls-files -s") == before) is not late
    assert stage.status() == OF_THE_USER
    assert not (stage.root / ".git/index.lock").exists()
    assert MESSAGE.subject in stage.host("git log -1 --format=%s")
    assert os.path.lexists(stage.root / ".git/index")


if __name__ == "__main__":
    play(globals())
