"""Several loops on one tree, each a process of its own: both works come to the tree, or it is said why not."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from process.scenes import wait_for
from runtime.loops import Place, ended
from untilproven.store.lock import FileLock, is_locked

ROOM = "--sandbox=overlay"
TEN = "".join(f"line {number}\n" for number in range(10))


class Shared(Place):
    """A tree for several loops, whose agents and checks wait for flags that only we can set."""

    def __init__(self, path: Path, flags: Path) -> None:
        super().__init__(path)
        self.flags = flags

    def wait(self, flag: str) -> str:
        return f"while ! test -e {self.flags / flag}; do sleep 0.05; done"

    def set(self, flag: str) -> None:
        (self.flags / flag).touch()

    def start(self, loop: str, agent: str, until: str, *words: str, iterations: int = 3) -> Any:
        named = ("--loop-id", name(loop))
        agent = f"--agent-cmd=echo at work; {agent}"
        return self.running(loop, agent, f"--until={until}", ROOM, f"-n{iterations}", *named, *words, sandbox="")

    def at_work(self, loop: str, iteration: int = 1) -> None:
        """Wait until its agent is in its room."""
        output = self.state.loop(name(loop)).output(iteration)
        wait_for(lambda: output.exists() and "at work" in output.read_text(), f"the agent of {loop}", 60)

    def has(self, kind: str, loop: str, number: int = 1) -> bool:
        path = self.state.loop(name(loop)).journal
        return path.exists() and len(self.events(kind, name(loop))) >= number

    def wait_until(self, kind: str, loop: str, number: int = 1) -> None:
        wait_for(lambda: self.has(kind, loop, number), f"{number} {kind} of {loop}", 60)


def name(loop: str) -> str:
    return f"ralph-{loop}-00000000"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Shared]:
    flags = Path("/var/tmp", f"ralph-several-{os.getpid()}-{tmp_path.name}")  # what is in /tmp is not seen in a room
    flags.mkdir()
    place = Shared(tmp_path, flags)
    place.write("ten", TEN)
    try:
        yield place
    finally:
        for flag in flags.iterdir():
            flag.unlink()
        flags.rmdir()


def left_with(process: "subprocess.Popen[str]", wanted: int = 0) -> str:
    code, out, err = ended(process, 90)
    assert code == wanted, out + err
    return out + err


def change(line: int, to: str) -> str:
    return f"sed -i 's/line {line}$/{to}/' ten"


def changed(**lines: str) -> str:
    text = TEN
    for line, to in lines.items():
        text = text.replace(f"line {line.removeprefix('_')}\n", f"{to}\n")
    return text


def test_two_loops_with_different_files_are_both_proven_and_both_works_are_in_the_tree(place: Shared) -> None:
    with place.start("first", f"{place.wait('a')}; echo a > a", "test -e a") as first:
        place.at_work("first")
        with place.start("second", "echo b > b", "test -e b") as second:
            said = left_with(second)
        assert "another loop works in this tree" in said
        assert (place.root / "b").read_text() == "b\n"
        assert not (place.root / "a").exists()
        place.set("a")
        left_with(first)
    assert (place.root / "a").exists()
    for loop in ("first", "second"):
        assert place.receipt(name(loop))["proof"] == "red-to-green"
    assert len(place.events("tree.changed", name("first"))) == 1


def test_lines_of_both_come_together_and_the_checks_see_the_result(place: Shared) -> None:
    with (
        place.start("first", f"{place.wait('a')}; {change(8, 'theirs')}", "grep theirs ten") as first,
        place.start("second", f"{change(1, 'ours')}; {place.wait('b')}", "grep ours ten; grep -q ours ten") as second,
    ):
        place.at_work("first")
        place.at_work("second")
        place.set("a")
        left_with(first)
        place.set("b")
        left_with(second)
    assert (place.root / "ten").read_text() == changed(_1="ours", _8="theirs")


def test_a_re_check_that_is_red_goes_back_to_the_agent(place: Shared) -> None:
    check = "grep -q ours ten && { ! grep -q theirs ten || test -e fixed; }"
    agent = f"if grep -q theirs ten; then touch fixed; else {change(1, 'ours')}; fi; {place.wait('b')}"
    with place.start("first", f"{place.wait('a')}; {change(8, 'theirs')}", "grep -q theirs ten") as first:
        place.at_work("first")
        with place.start("second", agent, check) as second:
            place.at_work("second")
            place.set("a")
            left_with(first)
            place.set("b")
            left_with(second)
    verdicts = [(one["iteration"], one["passed"]) for one in place.events("check.finished", name("second"))]
    assert verdicts == [(0, False), (1, True), (1, False), (2, True)]
    assert (place.root / "ten").read_text() == changed(_1="ours", _8="theirs")
    assert (place.root / "fixed").exists()


def test_what_changes_during_the_re_check_is_checked_too(place: Shared) -> None:
    lock = place.state.path / "checks.lock"
    with place.start("first", place.wait("a"), "test -e never", iterations=1) as first:
        place.at_work("first")
        with place.start("second", change(1, "ours"), f"grep -q ours ten && {place.wait('c')}") as second:
            place.wait_until("iteration.observed", "second")
            wait_for(lambda: is_locked(lock), "the check runs")
            with next_to_hold(lock):
                place.write("other")
                place.set("c")
                place.wait_until("tree.changed", "second")
                place.write("ten", changed(_8="theirs"))
            left_with(second)
        place.set("a")
        left_with(first, 4)
    assert (place.root / "ten").read_text() == changed(_1="ours", _8="theirs")
    assert len(place.events("tree.changed", name("second"))) == 2
    assert [one["iteration"] for one in place.events("check.finished", name("second"))] == [0, 1, 1, 1]


@contextmanager
def next_to_hold(lock: Path) -> Iterator[None]:
    """Somebody waits for a lock, gets it before anybody else, and keeps it for a while."""
    hold = "import fcntl, sys; file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_EX); sys.stdin.read()"
    waiting = f":{lock.stat().st_ino} "
    with subprocess.Popen([sys.executable, "-c", hold, lock], stdin=subprocess.PIPE) as holder:
        assert holder.stdin
        locks = Path("/proc/locks")
        wait_for(lambda: any("->" in line and waiting in line for line in locks.read_text().splitlines()), "it waits")
        yield
        holder.stdin.close()


def test_the_same_line_is_a_conflict_that_the_user_decides(place: Shared) -> None:
    with place.start("first", f"{place.wait('a')}; {change(1, 'theirs')}", "grep -q theirs ten") as first:
        place.at_work("first")
        agent = f"{change(1, 'ours')}; echo more > more; {place.wait('b')}"
        with place.start("second", agent, "grep -q ours ten && test -e more") as second:
            place.at_work("second")
            place.set("a")
            left_with(first)
            place.set("b")
            left_with(second, 8)
    assert (place.root / "ten").read_text() == changed(_1="theirs")
    assert not (place.root / "more").exists()
    assert place.read(name("second"))["pause_reason"] == "gate"
    (gate,) = place.events("gate.opened", name("second"))
    assert Path(gate["data"]["paths"][0]["kept_in"]).read_text() == changed(_1="ours")
    assert "ten" in place.ralph("show", name("second")).stdout
    place.write("ten", changed(_1="ours and theirs"))
    done = place.ralph("resume", name("second"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert (place.root / "ten").read_text() == changed(_1="ours and theirs")
    assert (place.root / "more").exists()


def test_a_check_sees_what_another_loop_kept_and_not_what_it_works_on(place: Shared) -> None:
    agent = f"if test -e one; then echo two > two; echo at work; {place.wait('a')}; else echo one > one; fi"
    with place.start("first", agent, "test -e two") as first:
        place.at_work("first", 2)
        with place.start("second", "echo b > b", "test -e b && test -e one && test ! -e two") as second:
            left_with(second)
        place.set("a")
        left_with(first)


def test_a_killed_loop_goes_on_with_what_it_kept_and_delivers_it(place: Shared) -> None:
    agent = f"if test -e one; then echo two > two; echo at work; {place.wait('b')}; else echo one > one; fi"
    with place.start("first", f"{place.wait('a')}; echo a > a", "test -e a") as first:
        place.at_work("first")
        with place.start("second", agent, "test -e one && test -e two") as second:
            place.at_work("second", 2)
            second.send_signal(signal.SIGKILL)
            second.wait(20)
        assert not (place.root / "one").exists()
        place.set("b")
        done = place.ralph("resume", name("second"))
        assert done.returncode == 0, done.stdout + done.stderr
        assert (place.root / "one").exists()
        assert (place.root / "two").exists()
        place.set("a")
        left_with(first)


def test_work_that_was_not_delivered_is_named_and_can_be_brought(place: Shared) -> None:
    with place.start("first", f"{place.wait('a')}; echo a > a", "test -e a") as first:
        place.at_work("first")
        with place.start("second", "echo b > b", "test -e never", iterations=1) as second:
            said = left_with(second, 4)
        assert not (place.root / "b").exists()
        assert f"ralph restore {name('second')} end" in said
        assert place.events("loop.finished", name("second"))[0]["undelivered"] is True
        done = place.ralph("restore", name("second"), "end")
        assert done.returncode == 0, done.stdout + done.stderr
        assert (place.root / "b").exists()
        place.set("a")
        left_with(first)


def test_three_loops_at_once(place: Shared) -> None:
    with (
        place.start("first", f"{change(1, 'first')}; {place.wait('a')}", "grep -q first ten") as first,
        place.start("second", f"{change(5, 'second')}; {place.wait('a')}", "grep -q second ten") as second,
        place.start("third", f"{change(8, 'third')}; {place.wait('a')}", "grep -q third ten") as third,
    ):
        for loop in ("first", "second", "third"):
            place.at_work(loop)
        place.set("a")
        for process in (first, second, third):
            left_with(process)
    assert (place.root / "ten").read_text() == changed(_1="first", _5="second", _8="third")


def test_checks_of_one_repository_run_one_at_a_time(place: Shared) -> None:
    place.state.make()
    lock = FileLock(place.state.path / "checks.lock", timeout=1, what="checks")
    lock.acquire()
    with place.start("second", "echo b > b", "test -e b") as second:
        wait_for(lambda: place.slots() == [name("second")], "the loop is there")
        assert place.ralph("abort", name("second")).returncode == 0
        left_with(second, 1)
    assert not place.events("check.finished", name("second"))
    with place.start("third", "echo c > c", "test -e c") as third:
        wait_for(lambda: place.slots() == [name("third")], "the loop is there")
        assert place.ralph("pause", name("third"), "--now").returncode == 0
        left_with(third, 8)
    assert not place.events("check.finished", name("third"))
    lock.release()
    done = place.ralph("resume", name("third"))
    assert done.returncode == 0, done.stdout + done.stderr
