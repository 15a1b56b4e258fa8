"""Nothing outlives the runner, whoever of runner and keeper is killed; and nobody else is touched."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from process.scenes import alive, keeper_of, pids_in, run_program, runner_of, wait_for
from untilproven.process import keepers, leftovers, table
from untilproven.process.kernel import is_subreaper
from untilproven.process.launch import start
from untilproven.process.leftovers import end_leftovers, new_marker
from untilproven.process.records import Program

FAMILY = "setsid sh -c 'echo $$ > daemon.pid; exec sleep 1000' & echo $$ > program.pid; sleep 1000"
NAKED = "env -i setsid sh -c 'echo $$ > daemon.pid; exec sleep 1000' & echo $$ > program.pid; sleep 1000"
HASTY_RUNNER = """
import os
from pathlib import Path
from untilproven.process.records import Program
from untilproven.process.watch import run
program = Program(command="echo $$ > $$.pid; exec sleep 1000", cwd=Path.cwd(), env=dict(os.environ))
run(Program(command=["true"], cwd=Path.cwd(), env=dict(os.environ)), output=lambda *_: None)
print("ready", flush=True)
run(program, output=lambda *_: None)
"""
LATER_RUNNER = """
import sys
from untilproven.process.leftovers import end_leftovers, leftovers
print(*(process.pid for process in leftovers(sys.argv[1])))
end_leftovers(sys.argv[1])
"""


def none_alive(directory: Path) -> bool:
    return not any(alive(pid) for pid in pids_in(directory))


def test_the_keeper_ends_all_when_the_runner_is_killed(tmp_path: Path) -> None:
    with runner_of(NAKED, tmp_path, new_marker(), 2) as runner:
        keeper = keeper_of(runner.pid)
        runner.kill()
        runner.wait()
        wait_for(lambda: none_alive(tmp_path), "the family is gone")
        wait_for(lambda: not alive(keeper), "the keeper is gone")


def test_a_stopped_keeper_wakes_up_when_the_runner_is_killed(tmp_path: Path) -> None:
    with runner_of(NAKED, tmp_path, new_marker(), 2) as runner:
        os.kill(keeper_of(runner.pid), signal.SIGSTOP)
        runner.kill()
        runner.wait()
        wait_for(lambda: none_alive(tmp_path), "the family is gone")


def test_the_keeper_is_deaf_to_signals_that_can_be_refused(tmp_path: Path) -> None:
    line = "kill -INT $PPID; kill -TERM $PPID; kill -HUP $PPID; kill -USR1 $PPID; kill -34 $PPID; exit 5"
    ending, _ = run_program(line, tmp_path)
    assert (ending.exit_code, ending.stopped_because) == (5, "")


def test_the_runner_ends_all_when_the_keeper_is_killed(tmp_path: Path) -> None:
    bystander = subprocess.Popen(["sleep", "1000"])
    try:
        line = NAKED.replace(
            "; sleep 1000", "; while ! [ -s daemon.pid ]; do sleep 0.01; done; kill -KILL $PPID; sleep 1000"
        )
        ending, _ = run_program(line, tmp_path)
        assert len(pids_in(tmp_path)) == 2
        assert none_alive(tmp_path)
        assert (ending.stopped_because, ending.signal, ending.succeeded) == ("keeper", 9, False)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_keeper_killed_after_success_is_no_success(tmp_path: Path) -> None:
    ending, _ = run_program("kill -KILL $PPID; exit 0", tmp_path)
    assert not ending.succeeded
    assert ending.stopped_because == "keeper"


def test_only_the_dead_keepers_family_is_ended(tmp_path: Path) -> None:
    """A hook runs while an agent does; each has its own keeper."""
    program = Program(command="sleep 1000", cwd=tmp_path, env=dict(os.environ))
    with start(program) as one, start(program) as other, subprocess.Popen(["sleep", "1000"]) as bystander:
        one.kill_keeper()
        report = one.settle()
        assert (report.keeper_died, report.status) == (True, 9)
        assert not alive(one.pid)
        assert alive(other.pid)
        assert alive(bystander.pid)
        bystander.kill()
    assert not alive(other.pid)


def test_a_runner_killed_at_any_moment_of_a_start_leaves_nothing(tmp_path: Path) -> None:
    chance = random.Random(7)
    for _ in range(25):
        with subprocess.Popen([sys.executable, "-c", HASTY_RUNNER], cwd=tmp_path, stdout=subprocess.PIPE) as runner:
            assert runner.stdout is not None
            assert runner.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0, 0.006))
            runner.kill()
    assert pids_in(tmp_path)
    wait_for(lambda: none_alive(tmp_path), "all are gone")


def orphan(env: dict[str, str]) -> int:
    """A process that does not descend from this one."""
    line = ["sh", "-c", "sleep 1000 > /dev/null & echo $!"]
    done = subprocess.run(line, env={"PATH": os.environ["PATH"], **env}, stdout=subprocess.PIPE, check=True)
    return int(done.stdout)


def test_leftovers_of_two_killed_processes_are_found_by_their_mark(tmp_path: Path) -> None:
    marker, other = new_marker(), new_marker()
    strangers = [
        orphan({}),
        orphan({leftovers.VARIABLE: other}),
        orphan({"SOME": f"{leftovers.VARIABLE}={marker}"}),
    ]
    try:
        with runner_of(FAMILY, tmp_path, marker, 2) as runner:
            keeper = keeper_of(runner.pid)
            for pid in (keeper, runner.pid):
                os.kill(pid, signal.SIGSTOP)
            for pid in (keeper, runner.pid):
                os.kill(pid, signal.SIGKILL)
            runner.wait()
        wait_for(lambda: not alive(keeper), "the keeper is gone")
        assert {process.pid for process in leftovers.leftovers(marker)} >= set(pids_in(tmp_path))
        swept = end_leftovers(marker)
        assert none_alive(tmp_path)
        assert swept.survivors == 0
        assert leftovers.leftovers(marker) == []
        assert [alive(stranger) for stranger in strangers] == [True, True, True]
    finally:
        for stranger in strangers:
            os.kill(stranger, signal.SIGKILL)


def test_leftovers_include_a_keeper_and_what_wrote_over_its_environment(tmp_path: Path) -> None:
    """A keeper that outlives its runner for a moment could still start its program; it is ended first."""
    marker = new_marker()
    line = "env -i sh -c 'echo $$ > daemon.pid; exec sleep 1000' & echo $$ > program.pid; sleep 1000"
    with runner_of(line, tmp_path, marker, 2) as runner:
        keeper, pids = keeper_of(runner.pid), pids_in(tmp_path)
        assert leftovers.leftovers(marker) == []  # what descends from us is ours, not left over
        stranger = [sys.executable, "-c", LATER_RUNNER, marker]
        found = subprocess.run(stranger, capture_output=True, text=True, check=True, timeout=60).stdout.split()
        assert {int(pid) for pid in found} >= {keeper, *pids}
        assert str(runner.pid) not in found
        assert none_alive(tmp_path)
        assert not alive(keeper)


def test_a_loop_inside_a_loop_carries_both_marks(tmp_path: Path) -> None:
    _, printed = run_program(
        'echo "$RALPH_KEEPER"', tmp_path, env={"PATH": os.environ["PATH"], "RALPH_KEEPER": "outer"}, marker="inner"
    )
    assert printed["stdout"] == b"outer:inner\n"


def test_the_runner_is_a_subreaper_only_while_a_program_runs(tmp_path: Path) -> None:
    during: list[bool] = []

    def until() -> None:
        during.append(is_subreaper())

    run_program("sleep 0.8", tmp_path, until=until)
    assert during
    assert all(during)
    assert not is_subreaper()


def test_a_kept_keeper_serves_one_program_after_another_and_goes_at_the_end(tmp_path: Path) -> None:
    me = os.getpid()
    with keepers.kept():
        seen = set()
        for _ in range(3):
            ending, printed = run_program("echo $PPID; sleep 1000 & exit 3", tmp_path, marker="kept")
            assert (ending.exit_code, ending.stragglers) == (3, 1)
            seen.add(int(printed["stdout"]))
        assert seen == {keeper_of(me)}
    assert table.descendants(me) == []


def test_a_kept_keeper_that_was_killed_while_it_waited_is_replaced(tmp_path: Path) -> None:
    with keepers.kept():
        run_program("true", tmp_path, marker="kept")
        first = keeper_of(os.getpid())
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: not alive(first), "the keeper is gone")
        ending, _ = run_program("exit 4", tmp_path, marker="kept")
        assert ending.exit_code == 4
        assert keeper_of(os.getpid()) != first


def test_a_kept_keeper_is_not_shared_by_two_programs_at_once(tmp_path: Path) -> None:
    with keepers.kept():
        one, two = (Program(command="read x", cwd=tmp_path, env={}, stdin=b"x", marker="kept") for _ in range(2))
        with start(one) as first, start(two) as second:
            assert table.look_up(first.pid).parent != table.look_up(second.pid).parent  # type: ignore[union-attr]


def test_whoever_leaves_last_lets_the_kept_keepers_go_in_whatever_order_they_came(tmp_path: Path) -> None:
    first, second = keepers.kept(), keepers.kept()
    first.__enter__()
    second.__enter__()
    run_program("true", tmp_path, marker="kept")
    first.__exit__(None, None, None)
    assert keeper_of(os.getpid())
    second.__exit__(None, None, None)
    assert table.descendants(os.getpid()) == []
    run_program("true", tmp_path, marker="kept")
    assert table.descendants(os.getpid()) == []
