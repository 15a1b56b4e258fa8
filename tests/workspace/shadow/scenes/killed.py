"""Whoever is killed, and wherever: the next process puts the tree back, or leaves it as it was kept."""

import os
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from untilproven.errors import Busy, Damaged
from untilproven.workspace.shadow.caretaker import PUT_ASIDE
from untilproven.workspace.shadow.place import Unsettled
from workspace.shadow.scenes.stage import SUPERVISION, Stage, play, refuses, state_of, succeeded

SCRIPT = """
    echo more >> src/a.py; rm untracked.txt; mv src/b.py src/moved.py; chmod 700 run.sh; rm -r node_modules
    mkdir -p made/inner; chmod 750 made; ln -sf src/deep link; rm dangling; mkdir dangling; echo x > dangling/file
    rm -r src/deep; echo file > src/deep; echo y >> .env; rmdir empty/inner; mkfifo pipe; git commit -qam agent
"""
CLOSING = "mkdir -p shut/in; chmod 000 shut/in; chmod 111 shut"
CHECK = "echo by check > cache; echo by check >> src/moved.py; rm -r made; mkdir -p deep/er; chmod 0 deep; mkfifo fifo"
AS_IT_WAS = ("src/a.py", "src/b.py", "src/deep", "src/deep/er/c.py", "dangling", "run.sh", "made/inner")
_TOUCHING = ("rename", "replace", "unlink", "rmdir", "mkdir", "link", "symlink", "chmod", "utime", "fsync", "open")
_KILLS = 24


def anywhere_in_an_iteration_that_is_not_kept(base: Path) -> None:
    def live(stage: Stage) -> None:
        workspace = stage.another()
        workspace.recover(None)
        workspace.open(1, SUPERVISION).run(SCRIPT + CLOSING, timeout=60)
        workspace.delta()
        workspace.checking(SUPERVISION, AS_IT_WAS).run(CHECK, timeout=60)
        workspace.discard(1)
        workspace.close()

    def verify(stage: Stage, before: dict[str, tuple[object, ...]]) -> None:
        later = stage.another()
        later.recover(None)
        assert state_of(stage.root) == before
        later.close()

    _everywhere(base, live, verify)


def anywhere_in_an_iteration_that_is_kept(base: Path) -> None:
    decided = base / "decided"

    def live(stage: Stage) -> None:
        workspace = stage.another()
        workspace.open(1, SUPERVISION).run(SCRIPT, timeout=60)
        tree = workspace.delta().tree
        workspace.checking(SUPERVISION, AS_IT_WAS).run(CHECK, timeout=60)
        assert workspace.tree() == tree
        decided.write_text(tree)
        workspace.keep(1)
        workspace.close()

    def verify(stage: Stage, before: dict[str, tuple[object, ...]]) -> None:
        later = stage.another()
        if decided.exists():
            later.recover(1)
            assert later.tree() == decided.read_text()
            assert (stage.root / "src/a.py").read_text() == "a = 1\nmore\n"
            decided.unlink()
            later.recover(1)
        else:
            later.recover(None)
            assert state_of(stage.root) == before
        later.close()

    _everywhere(base, live, verify)


def anywhere_in_a_check_between_two_iterations(base: Path) -> None:
    def prepare(stage: Stage) -> None:
        succeeded(stage.agent(SCRIPT))
        stage.workspace.keep(1)
        stage.workspace.close()

    def live(stage: Stage) -> None:
        workspace = stage.another()
        workspace.checking(SUPERVISION, AS_IT_WAS).run(CHECK, timeout=60)
        workspace.close()

    def verify(stage: Stage, before: dict[str, tuple[object, ...]]) -> None:
        later = stage.another()
        later.recover(1)
        assert state_of(stage.root) == before
        later.close()

    _everywhere(base, live, verify, prepare)


def _everywhere(
    base: Path,
    live: Callable[[Stage], None],
    verify: Callable[[Stage, dict[str, tuple[object, ...]]], None],
    prepare: Callable[[Stage], None] = lambda _: None,
) -> None:
    """Killed before one call that touches a file after the other; who puts it back is killed too, once in a while."""
    stage = Stage(base / "whole")
    prepare(stage)
    total = _killed_at(lambda: live(stage), -1)
    assert total > 50, total
    (base / "decided").unlink(missing_ok=True)
    for at in range(1, total, max(total // _KILLS, 1)):
        stage = Stage(base / str(at))
        prepare(stage)
        before = state_of(stage.root)
        _killed_at(lambda stage=stage: live(stage), at)  # type: ignore[misc]
        if at % 2:
            kept = 1 if (base / "decided").exists() else None
            _killed_at(lambda stage=stage, kept=kept: stage.another().recover(kept), at % 97)  # type: ignore[misc]
        verify(stage, before)
        assert not [path for path in stage.root.rglob("*") if "ralph-restore" in path.name], at


def _killed_at(live: Callable[[], object], at: int) -> int:
    """Live in another process, which kills itself before this call; how many there were."""
    told = os.pipe()
    child = os.fork()
    if not child:
        try:
            for name in _TOUCHING:
                _watch(name, at)
            live()
            os.write(told[1], str(_calls[0]).encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(1)
    os.close(told[1])
    status = os.waitpid(child, 0)[1]
    count = int(os.read(told[0], 100) or 0)
    os.close(told[0])
    assert status in {0, signal.SIGKILL}, status
    return count


_calls = [0]


def _watch(name: str, at: int) -> None:
    real = getattr(os, name)
    runner = os.getpid()

    def watched(*arguments: Any, **named: Any) -> Any:
        flags = arguments[1] if name == "open" and len(arguments) > 1 else os.O_CREAT
        if os.getpid() == runner and flags & os.O_CREAT:
            if _calls[0] == at:
                os.kill(runner, signal.SIGKILL)
            _calls[0] += 1
        return real(*arguments, **named)

    setattr(os, name, watched)


def while_the_agent_works(base: Path) -> None:
    stage = Stage(base)
    before = state_of(stage.root)
    started = base / "home/.cache/started"
    started.parent.mkdir()
    child = os.fork()
    if not child:
        try:
            stage.another().open(1, SUPERVISION).run(f"{SCRIPT} touch {started}; sleep 1000", timeout=2000)
        finally:
            os._exit(1)
    _wait_for(started)
    impatient = stage.another()._place
    impatient.patience = 0.1
    assert refuses(Busy, impatient.hold)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    later = stage.another()
    later.recover(None)
    assert state_of(stage.root) == before
    later.close()


def _wait_for(path: Path) -> None:
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.01)


def what_the_user_changes_before_the_next_start_is_put_aside(base: Path) -> None:
    stage = Stage(base)
    before = state_of(stage.root)
    succeeded(stage.agent("echo agent > src/a.py; echo agent > new"))
    stage.workspace.delta()
    stage.workspace._place.close()
    stage.write("src/a.py", "user\n")
    stage.write("mine", "user\n")
    later = stage.another()
    later.recover(None)
    assert state_of(stage.root) == before
    assert (later._place.aside(1) / "src/a.py").read_text() == "user\n"
    assert (later._place.aside(1) / "mine").read_text() == "user\n"
    assert PUT_ASIDE in "\n".join(later.notes())
    later.close()


def another_loop_waits_until_the_tree_is_put_back(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("rm -r src"))
    stage.workspace._close_rooms()
    stage.workspace._place.close()
    other = stage.another("ralph-other-a1b2c3d4")
    assert "killed while its agent worked" in refuses(Unsettled, lambda: other.open(1, SUPERVISION))
    later = stage.another()
    later.recover(None)
    later.close()
    succeeded(other.open(1, SUPERVISION).run("test -d src", timeout=60))
    other.close()


def what_was_remembered_and_is_damaged_is_never_put_back_as_if_it_were_whole(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo agent > src/a.py; echo agent > src/b.py"))
    stage.workspace.delta()
    for path in stage.workspace._place.objects.path.iterdir():
        if path.read_bytes() == b"a = 1\n":
            path.chmod(0o600)
            path.write_bytes(b"a = 2\n")
    stage.workspace.discard(1)
    assert (stage.root / "src/a.py").read_text() == "agent\n"
    assert (stage.root / "src/b.py").read_text() == "b = 2  # not committed\n"
    assert "'src/a.py': could not be put back" in "\n".join(stage.workspace.notes())
    stage.workspace.close()
    succeeded(stage.agent("rm -r src", 2))
    stage.workspace._close_rooms()
    stage.workspace._place.close()
    mark = stage.workspace._place.mark(2).path / "tree"
    mark.write_bytes(mark.read_bytes()[:-7])
    refuses(Damaged, lambda: stage.another().recover(None))


if __name__ == "__main__":
    play(globals())
