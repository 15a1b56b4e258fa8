"""Several loops on one tree: the first merges as it goes, another delivers at its end, nothing of either is lost."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

from untilproven.contract import Conflict
from untilproven.workspace.overlay.workspace import OverlayWorkspace
from untilproven.workspace.snapshots.shelf import inherit
from workspace.overlay.scenes.stage import SUPERVISION, Stage, fingerprint, play, succeeded, told

OTHER = "ralph-other-b1b2c3d4"
LIST = "find . -path ./.git -prune -o -path ./.aiwg -prune -o -printf '%P %y %m %l\\n' 2>/dev/null | sort"
FIRST = """
    echo more >> src/a.py; rm untracked.txt; mv src/b.py src/moved.py; chmod 700 run.sh; rm -r node_modules
    mkdir -p made/inner; chmod 750 made; ln -sf src/deep link; rm dangling; mkdir dangling; echo x > dangling/file
    rm -r src/deep; echo file > src/deep; echo y >> .env; touch -d 2001-01-01 old; rmdir empty/inner
    mkdir replaced; echo 1 > replaced/one; printf odd > "$(printf 'new\\nline \\377')"
"""
SECOND = """
    echo again >> src/a.py; rm src/deep; mkdir src/deep; echo y > src/deep/y; rm -r dangling replaced; mkdir replaced
    echo 2 > replaced/two; echo back > untracked.txt; rm -r made; rm old; mkdir shut; echo z > shut/z
    chmod 0 shut/z shut
"""
TEN = "".join(f"line {number}\n" for number in range(10))


class Pair(Stage):
    """A tree in which one loop is at work already."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.write("ten", TEN)
        succeeded(self.agent("true"))
        self.second = self.new()

    def new(self, loop: str = OTHER) -> OverlayWorkspace:
        from untilproven.workspace.factory import _not_the_users  # noqa: PLC0415  HOME is set by now

        return OverlayWorkspace(self.project, loop, _not_the_users(self.project))

    def again(self) -> None:
        """As another process finds it."""
        self.second.close()
        self.second = self.new()

    def work(self, script: str, number: int = 1) -> tuple[Conflict, ...]:
        """An iteration of the second loop, kept."""
        succeeded(self.second.open(number, SUPERVISION).run(script, timeout=60))
        tree = self.second.delta().tree
        conflicts = self.second.keep(number)
        if not conflicts:
            assert self.second.tree() == tree
        return conflicts

    def seen(self, command: str = LIST) -> str:
        """What a check of the second loop sees."""
        ran = self.second.checking(SUPERVISION).run(command, timeout=60)
        succeeded(ran)
        return ran.output

    def now(self) -> dict[str, tuple[object, ...]]:
        return fingerprint(self.root, without=(".git", ".aiwg"))

    def close(self) -> None:
        self.second.close()
        self.workspace.close()


def what_the_second_keeps_is_in_its_rooms_and_not_in_the_tree(base: Path) -> None:
    pair = Pair(base)
    before = pair.now()
    pair.work(FIRST)
    assert pair.now() == before
    assert pair.second.undelivered
    listed = pair.seen()
    room = pair.second.open(2, SUPERVISION)
    assert room.run(LIST, timeout=60).output == listed
    assert pair.second.delta().changes == ()
    pair.second.discard(2)
    assert pair.seen() == listed
    pair.again()
    assert pair.seen() == listed
    pair.close()


def an_iteration_tells_only_what_it_changed_itself(base: Path) -> None:
    pair = Pair(base)
    pair.work("echo one > one; echo more >> src/a.py; rm -r src/deep")
    succeeded(pair.second.open(2, SUPERVISION).run("echo two > two; echo even >> src/a.py; rm one", timeout=60))
    delta = pair.second.delta()
    assert told(delta) == {"one": "deleted", "src/a.py": "modified", "two": "created"}
    pair.second.keep(2)
    differing = pair.second.since_start()
    assert set(differing) == {"src/a.py", "two", "src/deep", "src/deep/er", "src/deep/er/c.py"}
    room = pair.second.checking(SUPERVISION, ["src/a.py", "two", "src/deep/er/c.py"])
    succeeded(room.run("test ! -e two && grep -qx 'a = 1' src/a.py && ! grep -q even src/a.py", timeout=60))
    succeeded(room.run("grep -qx 'c = 3' src/deep/er/c.py", timeout=60))
    pair.close()


def what_is_delivered_is_what_the_checks_saw(base: Path) -> None:
    pair = Pair(base)
    succeeded(pair.second.open(1, SUPERVISION).run(FIRST, timeout=60))
    assert any("another loop works in this tree" in note for note in pair.second.delta().notes)
    pair.second.keep(1)
    pair.work(SECOND, 2)
    listed, tree = pair.seen(), pair.second.tree()
    assert pair.second.deliver() == ()
    assert pair.second.tree() == tree
    assert not pair.second.undelivered
    now = pair.now()
    assert pair.second.deliver() == ()
    assert pair.now() == now
    pair.close()
    assert _told(pair.host(LIST)) == _told(listed)
    assert (pair.root / os.fsdecode(b"new\nline \xff")).read_text() == "odd"


def _told(listing: str) -> list[str]:
    """Without the name that is no text, and without what no program in a room can see."""
    return sorted(line for line in listing.splitlines() if line and not line.startswith(("line", "new", "shut/")))


def the_second_sees_what_the_first_keeps_and_nothing_before(base: Path) -> None:
    pair = Pair(base)
    pair.work("echo mine > mine")
    succeeded(pair.workspace.open(2, SUPERVISION).run("echo theirs > theirs", timeout=60))
    succeeded(pair.second.checking(SUPERVISION).run("test ! -e theirs && test -e mine", timeout=60))
    pair.workspace.delta()
    pair.workspace.keep(2)
    succeeded(pair.second.checking(SUPERVISION).run("test -e theirs && test -e mine", timeout=60))
    assert not (pair.root / "mine").exists()
    pair.close()


def lines_of_both_come_together(base: Path) -> None:
    pair = Pair(base)
    pair.work("sed -i 's/line 1/ours/' ten; chmod 755 ten; rm untracked.txt")
    proven = pair.second.tree()
    keep_first(pair, "sed -i 's/line 8/theirs/' ten; echo other > other")
    tree = pair.second.tree(fresh=True)
    assert tree != proven
    assert pair.seen("cat ten") == (pair.root / "ten").read_text().replace("line 1", "ours")
    assert "ours" not in (pair.root / "ten").read_text()
    assert pair.second.tree(fresh=True) == tree
    assert pair.second.deliver() == ()
    assert (pair.root / "ten").read_text() == TEN.replace("line 1", "ours").replace("line 8", "theirs")
    assert (pair.root / "ten").stat().st_mode & 0o777 == 0o755
    assert pair.second.tree() == tree
    pair.close()


def lines_come_together_though_the_first_replaced_them_while_the_second_worked(base: Path) -> None:
    pair = Pair(base)
    room = pair.second.open(1, SUPERVISION)
    succeeded(room.run("sed -i 's/line 1/ours/' ten", timeout=60))
    keep_first(pair, "sed -i 's/line 8/theirs/' ten")
    pair.second.delta()
    assert pair.second.keep(1) == ()
    assert pair.second.deliver() is None
    assert pair.second.deliver() == ()
    assert (pair.root / "ten").read_text() == TEN.replace("line 1", "ours").replace("line 8", "theirs")
    pair.close()


def what_moves_after_the_checks_is_not_delivered_unchecked(base: Path) -> None:
    pair = Pair(base)
    pair.work("sed -i 's/line 1/ours/' ten")
    pair.second.tree(fresh=True)
    pair.write("ten", TEN.replace("line 8", "theirs"))
    assert pair.second.deliver() is None
    assert "ours" not in (pair.root / "ten").read_text()
    assert "ours" in pair.seen("cat ten")
    assert "theirs" in pair.seen("cat ten")
    assert pair.second.deliver() == ()
    pair.close()


def a_file_that_never_comes_to_rest_is_left_to_the_user(base: Path) -> None:
    pair = Pair(base)
    pair.work("sed -i 's/line 1/ours/' ten")
    for at in range(5):
        pair.write("ten", f"{TEN}end {at}\n")
        assert pair.second.deliver() is None
    pair.write("ten", f"{TEN}at last\n")
    conflicts = pair.second.deliver()
    assert conflicts
    assert [one.path for one in conflicts] == ["ten"]
    assert (pair.root / "ten").read_text() == f"{TEN}at last\n"
    assert conflicts[0].aside
    assert "ours" in conflicts[0].aside.read_text()
    pair.close()


def where_both_changed_the_same_theirs_stays_and_ours_is_kept_aside(base: Path) -> None:
    pair = Pair(base)
    pair.work(
        "echo ours > src/a.py; rm staged.txt; echo ours > both; echo fine > fine; mkdir new; echo n > new/n;rm -r empty"
    )
    tree = pair.second.tree()
    pair.write("src/a.py", "theirs\n")
    pair.write("staged.txt", "changed\n")
    pair.write("both", "theirs\n")
    pair.write("empty/used", "theirs\n")
    before = pair.now()
    assert pair.second.tree(fresh=True) == tree
    conflicts = pair.second.deliver()
    assert conflicts
    assert {(one.path, one.wanted) for one in conflicts} == {
        ("src/a.py", "changed"),
        ("staged.txt", "deleted"),
        ("both", "changed"),
    }
    kept = {one.path: one.aside.read_text() for one in conflicts if one.aside}
    assert kept == {"src/a.py": "ours\n", "both": "ours\n"}
    assert pair.now() == before
    pair.again()
    assert pair.second.recover(1) == ()
    assert pair.seen("cat src/a.py both staged.txt fine new/n empty/used") == (
        "theirs\ntheirs\nchanged\nfine\nn\ntheirs\n"
    )
    pair.write("src/a.py", "both\n")
    assert pair.second.deliver() == ()
    assert (pair.root / "src/a.py").read_text() == "both\n"
    assert (pair.root / "fine").read_text() == "fine\n"
    assert (pair.root / "empty/used").read_text() == "theirs\n"
    pair.close()


def a_conflict_is_told_again_if_nobody_may_have_heard_of_it(base: Path) -> None:
    pair = Pair(base)
    pair.work("echo ours > src/a.py")
    pair.write("src/a.py", "theirs\n")
    pair.second.close()
    child = os.fork()
    if not child:
        try:
            pair.new().deliver()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    pair.second = pair.new()
    (conflict,) = pair.second.recover(1)
    assert conflict.path == "src/a.py"
    pair.again()
    assert pair.second.recover(1) == ()
    pair.close()


def what_the_user_changed_while_the_agent_worked_on_it_is_a_conflict_at_once(base: Path) -> None:
    pair = Pair(base)
    pair.work("echo first > first")
    room = pair.second.open(2, SUPERVISION)
    succeeded(room.run("echo ours >> ten; echo second > second", timeout=60))
    pair.write("ten", "the user's\n")
    pair.second.delta()
    (conflict,) = pair.second.keep(2)
    assert (conflict.path, conflict.aside and conflict.aside.read_text()) == ("ten", f"{TEN}ours\n")
    assert pair.seen("cat ten first second") == "the user's\nfirst\nsecond\n"
    assert pair.second.deliver() == ()
    assert (pair.root / "ten").read_text() == "the user's\n"
    assert (pair.root / "second").exists()
    pair.close()


def a_loop_stays_what_it_is_until_it_has_delivered(base: Path) -> None:
    pair = Pair(base)
    pair.second.open(1, SUPERVISION)
    pair.second.discard(1)
    pair.second.close()
    pair.workspace.forget()
    pair.second = pair.new()
    pair.work("echo placed > placed")
    assert (pair.root / "placed").exists()
    third = pair.new("ralph-third-c1b2c3d4")
    succeeded(third.open(1, SUPERVISION).run("echo stacked > stacked", timeout=60))
    third.delta()
    third.keep(1)
    pair.second.forget()
    third.close()
    third = pair.new("ralph-third-c1b2c3d4")
    third.recover(1)
    succeeded(third.open(2, SUPERVISION).run("test -e stacked && echo more > more", timeout=60))
    third.delta()
    third.keep(2)
    assert not (pair.root / "more").exists()
    assert third.deliver() == ()
    assert (pair.root / "more").exists()
    third.forget()
    assert not list((pair.home / ".local/state/untilproven/rooms").iterdir())


def killed_at_any_step_of_keeping_it_is_kept_once(base: Path) -> None:
    _killed_everywhere(base, lambda second: second.keep(2), 5)


def killed_at_any_step_of_delivering_it_is_delivered_once(base: Path) -> None:
    def deliver(second: OverlayWorkspace) -> None:
        second.keep(2)
        while second.deliver() is None:
            pass

    _killed_everywhere(base, deliver, 20)


def _killed_everywhere(base: Path, do: Callable[[OverlayWorkspace], object], least: int) -> None:
    wanted: dict[str, tuple[object, ...]] = {}
    step = 0
    while True:
        pair = Pair(base / str(step))
        pair.work("sed -i 's/line 1/ours/' ten; rm -r src/deep; mkdir made; echo x > made/x; echo y > y")
        succeeded(pair.second.open(2, SUPERVISION).run("echo more >> made/x; rm y; echo z > z", timeout=60))
        tree = pair.second.delta().tree
        pair.second.close()
        pair.write("ten", TEN.replace("line 8", "theirs"))
        ended = _until(pair, do, step)
        pair.second = pair.new()
        assert pair.second.recover(2) == ()
        if pair.second.undelivered:
            moved = pair.second.tree(fresh=True)
            assert moved != tree
            assert pair.second.deliver() == ()
            assert pair.second.tree() == moved
        now = fingerprint(pair.root, times=False, without=(".git", ".aiwg"))
        wanted = wanted or now
        assert now == wanted, step
        assert (pair.root / "ten").read_text() == TEN.replace("line 1", "ours").replace("line 8", "theirs")
        pair.second.forget()
        pair.workspace.close()
        if ended:
            break
        step += 1
    assert step > least, step


def _until(pair: Pair, do: Callable[[OverlayWorkspace], object], step: int) -> bool:
    """Do it in another process, which kills itself before this step; whether it came to the end."""
    child = os.fork()
    if not child:
        left = step

        def killed() -> None:
            nonlocal left
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

        code = 1
        try:
            second = pair.new()
            second.step = killed
            do(second)
            second.close()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFEXITED(status)


def work_that_was_never_delivered_can_be_brought(base: Path) -> None:
    pair = Pair(base)
    before = pair.now()
    pair.work("echo one > one; echo more >> src/a.py")
    pair.work("echo two > two; rm untracked.txt", 2)
    pair.second.forget()
    pair.second = pair.new()
    assert pair.second.restore("start").changed == {}
    assert pair.second.restore("1").conflicts == ()
    assert (pair.root / "one").exists()
    assert not (pair.root / "two").exists()
    done = pair.second.restore("end")
    assert (done.changed, done.conflicts) == ({"two": "created", "untracked.txt": "deleted"}, ())
    assert (pair.root / "src/a.py").read_text() == "a = 1\nmore\n"
    assert pair.second.restore("start").conflicts == ()
    assert {name: one[2] for name, one in pair.now().items()} == {name: one[2] for name, one in before.items()}
    pair.close()


def a_loop_that_takes_over_goes_on_with_what_was_never_delivered(base: Path) -> None:
    pair = Pair(base)
    pair.work(FIRST)
    pair.work(SECOND, 2)
    listed, tree = pair.seen(), pair.second.tree()
    pair.second.forget()
    heir = "ralph-heir-d1b2c3d4"
    inherit(pair.root, OTHER, heir)
    pair.second = pair.new(heir)
    pair.second.recover(None)
    room = pair.second.open(3, SUPERVISION)
    assert _told(room.run(LIST, timeout=60).output) == _told(listed)
    assert pair.second.delta().tree == tree
    pair.second.keep(3)
    assert pair.second.deliver() == ()
    assert pair.second.tree() == tree
    pair.close()


def three_loops_deliver_one_after_the_other(base: Path) -> None:
    pair = Pair(base)
    third = pair.new("ralph-third-c1b2c3d4")
    pair.work("sed -i 's/line 1/second/' ten")
    succeeded(third.open(1, SUPERVISION).run("sed -i 's/line 5/third/' ten; echo t > t", timeout=60))
    third.delta()
    third.keep(1)
    keep_first(pair, "sed -i 's/line 8/first/' ten")
    assert third.deliver() is None
    assert third.deliver() == ()
    assert pair.second.deliver() is None
    assert pair.second.deliver() == ()
    assert (pair.root / "ten").read_text() == TEN.replace("line 1", "second").replace("line 5", "third").replace(
        "line 8", "first"
    )
    third.close()
    pair.close()


def what_others_put_into_a_directory_that_was_removed_stays(base: Path) -> None:
    pair = Pair(base)
    pair.work("rm -r src/deep node_modules; mkdir node_modules; echo new > node_modules/new")
    pair.write("src/deep/er/theirs", "theirs\n")
    pair.write("node_modules/theirs", "theirs\n")
    assert pair.second.deliver() is None
    pair.work("echo more > more", 2)
    assert pair.seen("cat src/deep/er/theirs node_modules/theirs") == "theirs\ntheirs\n"
    assert pair.second.deliver() == ()
    assert pair.host("find src/deep node_modules -type f | sort") == (
        "node_modules/new\nnode_modules/theirs\nsrc/deep/er/theirs\n"
    )
    pair.close()


def what_others_put_there_is_seen_by_the_next_iteration(base: Path) -> None:
    pair = Pair(base)
    pair.work("rm -r src/deep")
    pair.write("src/deep/er/theirs", "theirs\n")
    pair.second.tree()
    pair.second._known.doubt()
    pair.work("echo more >> src/deep/er/theirs; test ! -e src/deep/er/c.py", 2)
    assert pair.second.deliver() == ()
    assert pair.host("cd src/deep && find . -type f -exec cat {} +") == "theirs\nmore\n"
    pair.close()


def keep_first(pair: Pair, script: str) -> None:
    succeeded(pair.workspace.open(2, SUPERVISION).run(script, timeout=60))
    pair.workspace.delta()
    assert pair.workspace.keep(2) == ()


if __name__ == "__main__":
    play(globals())
