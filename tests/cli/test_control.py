"""Whoever wants a running loop to wait or to end: from another terminal, by Ctrl-C, by a signal, after a kill."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from process.scenes import alive, wait_for
from runtime.loops import HELD, Place, ended, interrupt
from runtime.scenes import kept_requests

MAKE = "--until=test -s made"
DEAF = (
    "trap '' INT TERM HUP",
    "echo x > half",
    "setsid sh -c 'trap \"\" INT TERM HUP; echo $$ > ../child.pid; while :; do sleep 0.05; done' > /dev/null 2>&1 &",
    "while [ ! -s ../child.pid ]; do sleep 0.02; done",
    "echo $$ > ../agent.pid; : > ../holding",
    "while :; do sleep 0.05; done",
)
"""An agent that hears no signal but SIGKILL and left a child in a session of its own."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def child(place: Place) -> int:
    return int((place.beside / "child.pid").read_text())


def gone(place: Place, *pids: int) -> None:
    for pid in pids:
        wait_for(lambda pid=pid: not alive(pid), f"process {pid} is gone")  # type: ignore[misc]


@contextmanager
def background(place: Place, *words: str) -> Iterator[int]:
    """`ralph run --detach`; the process that runs the loop, ended when the test is over."""
    started = place.run(*words, "--detach", "--json")
    assert started.returncode == 0, started.stderr
    pid = json.loads(started.stdout)["pid"]
    try:
        yield pid
    finally:
        place.let_go()
        place.ralph("abort", place.loop)
        gone(place, pid)


# From another terminal


def test_pause_waits_for_the_end_of_the_iteration(place: Place) -> None:
    agent = place.script(HELD, "echo x > half")
    with place.running("make it", agent, MAKE) as process:
        place.holding()
        asked = place.ralph("pause", place.loop)
        assert asked.returncode == 0
        assert "will pause at the end of iteration 1" in asked.stdout
        assert place.read()["status"] == "running"
        place.let_go()
        code, out, _ = ended(process)
    assert code == 8
    assert f"ralph resume {place.loop}" in out
    state = place.read()
    assert (state["status"], state["pause_reason"], state["iteration"]) == ("paused", "user", 1)
    assert [event["iteration"] for event in place.events("check.finished")] == [0, 1]
    assert place.slots() == [place.loop]


def test_work_that_turns_out_done_is_not_paused(place: Place) -> None:
    with place.running("make it", place.script(HELD, "echo x > made"), MAKE) as process:
        place.holding()
        place.ralph("pause", place.loop)
        place.let_go()
        assert ended(process)[0] == 0
    assert place.read()["status"] == "completed"


def test_pause_now_throws_the_iteration_away_and_ends_the_whole_tree_of_processes(place: Place) -> None:
    with place.running("make it", place.script(*DEAF), MAKE) as process:
        pids = place.holding(), child(place)
        asked = place.ralph("pause", place.loop, "--now")
        assert asked.returncode == 0
        assert "is paused after 0 iterations" in asked.stdout
        code, out, _ = ended(process)
    assert code == 8
    gone(place, *pids)
    state = place.read()
    assert (state["status"], state["iteration"], state["metrics"]["total_iterations"]) == ("paused", 0, 0)
    (finished,) = place.events("iteration.finished")
    assert (finished["fate"], finished["counted"]) == ("discarded", False)
    assert not [event for event in place.events("check.finished") if event["iteration"]]
    assert "it does not count" in out


def test_after_pause_now_the_same_iteration_is_begun_again_and_told_of_it(place: Place) -> None:
    agent = place.script("[ -e ../holding ] && echo x > made && exit", HELD)
    with place.running("make it", agent, MAKE) as process:
        place.holding()
        place.ralph("pause", place.loop, "--now")
        ended(process)
    assert place.ralph("resume", place.loop).returncode == 0
    assert place.read()["iteration"] == 1
    assert "The iteration before was thrown away, because it was stopped at once" in place.prompt(1)
    kept = sorted(path.name for path in (place.directory() / "prompts").iterdir())
    assert len(kept) == 2


def test_abort_ends_everything_and_frees_the_slot(place: Place) -> None:
    with place.running("make it", place.script(*DEAF), MAKE) as process:
        pids = place.holding(), child(place)
        asked = place.ralph("abort", place.loop)
        assert asked.returncode == 0
        assert "is aborted after 0 iterations; its slot is free" in asked.stdout
        assert not place.slots()
        code, out, _ = ended(process)
    assert code == 1
    assert "aborted" in out
    gone(place, *pids)
    assert place.read()["reason"] == "aborted_by_user"
    assert place.receipt()["status"] == "aborted"
    assert place.events("loop.finished")[0]["exit_code"] == 1


def test_a_check_that_runs_long_is_interrupted_too(place: Place) -> None:
    check = "--until=[ -e half ] || exit 1; echo $$ > ../agent.pid; : > ../holding; sleep 60"
    with place.running("make it", place.script("echo x > half"), check) as process:
        pid = place.holding()
        assert place.ralph("pause", place.loop, "--now").returncode == 0
        assert ended(process)[0] == 8
    gone(place, pid)
    assert place.read()["iteration"] == 0
    assert [event["iteration"] for event in place.events("check.finished")] == [0]


@pytest.mark.parametrize(("verb", "status"), [("pause", "paused"), ("abort", "aborted")])
def test_a_loop_whose_runner_was_killed_obeys_and_what_it_left_running_is_ended(
    place: Place, verb: str, status: str
) -> None:
    with place.running("make it", place.script(*DEAF), MAKE) as process:
        pids = place.holding(), child(place)
        process.kill()
        process.wait()
        asked = place.ralph(verb, place.loop)
        assert asked.returncode == 0, asked.stderr
    gone(place, *pids)
    assert place.read()["status"] == status
    assert place.slots() == ([place.loop] if verb == "pause" else [])


def test_resume_ends_what_a_killed_runner_left_and_counts_nothing_twice(place: Place) -> None:
    agent = place.script("[ -e ../holding ] && echo x > made && exit", HELD)
    with place.running("make it", agent, MAKE) as process:
        pid = place.holding()
        process.kill()
        process.wait()
        done = place.ralph("resume", place.loop)
    assert done.returncode == 0, done.stderr
    gone(place, pid)
    assert "iteration 1 was not finished and is discarded" in done.stdout
    assert place.read()["iteration"] == 1
    assert "the runner was killed while you worked" in place.prompt(1)


def test_an_agent_that_said_nothing_before_the_kill_does_not_stand_in_the_way(place: Place) -> None:
    agent = place.script("[ -e ../holding ] && echo x > made && exit", HELD)
    with place.running("make it", agent, MAKE) as process:
        place.holding()
        process.kill()
        process.wait()
    assert not (place.directory() / "outputs" / "iteration-001.jsonl").exists()
    assert place.ralph("resume", place.loop).returncode == 0


@pytest.mark.parametrize(("verb", "code", "status"), [(("pause", "--now"), 8, "paused"), (("abort",), 1, "aborted")])
def test_a_check_before_the_work_is_interrupted_too(
    place: Place, verb: tuple[str, ...], code: int, status: str
) -> None:
    check = "--until=echo $$ > ../agent.pid; : > ../holding; sleep 60"
    with place.running("make it", place.script("true"), check) as process:
        pid = place.holding()
        assert place.ralph(verb[0], place.loop, *verb[1:]).returncode == 0
        assert ended(process)[0] == code
    gone(place, pid)
    assert place.read()["status"] == status
    assert not place.events("check.finished")
    assert not place.events("iteration.started")


@contextmanager
def sleeping(place: Place) -> Iterator["subprocess.Popen[str]"]:
    """A loop that waits for the provider's limit to pass."""
    agent = place.cassette([{"usage_limit": "later", "resume_in": "1h"}], then="repeat-last")
    with place.running("make it", agent, MAKE) as process:
        wait_for(lambda: place.status() == "paused", "the loop waits")
        yield process


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_loop_that_waits_for_a_provider_can_be_left(place: Place, number: signal.Signals, code: int) -> None:
    with sleeping(place) as process:
        process.send_signal(number)
        assert ended(process)[0] == code
    state = place.read()
    assert (state["status"], state["pause_reason"], state["iteration"]) == ("paused", "usage_limit", 0)
    assert state["resume_at"]


def test_a_provider_that_does_not_say_how_long_is_tried_again_in_a_minute(place: Place) -> None:
    agent = place.cassette([{"usage_limit": "later"}], then="repeat-last")
    with place.running("make it", agent, MAKE) as process:
        wait_for(lambda: place.status() == "paused", "the loop waits")
        process.send_signal(signal.SIGINT)
        assert ended(process)[0] == 130
    (paused,) = [event for event in place.events("status.changed") if event["to"] == "paused"]
    waits = datetime.fromisoformat(paused["resume_at"]) - datetime.fromisoformat(paused["ts"])
    assert timedelta(seconds=50) < waits <= timedelta(seconds=60)


def test_a_loop_that_waits_for_a_provider_can_be_aborted(place: Place) -> None:
    with sleeping(place) as process:
        assert place.ralph("abort", place.loop).returncode == 0
        ended(process)
    assert place.read()["status"] == "aborted"
    assert not place.slots()


# By signal


def test_the_first_ctrl_c_finishes_the_iteration_and_the_loop_can_go_on(place: Place) -> None:
    agent = place.script(HELD, '[ "$RALPH_ITERATION" = 1 ] || echo x > made')
    with place.running("make it", agent, MAKE) as process:
        place.holding()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to everybody in the foreground
        place.let_go()
        code, out, err = ended(process)
    assert code == 130
    assert place.read()["status"] == "paused"
    assert place.read()["iteration"] == 1
    assert [event["counted"] for event in place.events("iteration.finished")] == [True]
    assert "Traceback" not in out + err
    assert place.ralph("resume", place.loop).returncode == 0


def test_the_second_ctrl_c_stops_now(place: Place) -> None:
    with place.running("make it", place.script(*DEAF), MAKE) as process:
        pids = place.holding(), child(place)
        interrupt(process)
        interrupt(process)
        code, _, _ = ended(process)
    assert code == 130
    gone(place, *pids)
    assert (place.read()["status"], place.read()["iteration"]) == ("paused", 0)


def test_sigterm_stops_now(place: Place) -> None:
    with place.running("make it", place.script(*DEAF), MAKE) as process:
        pids = place.holding(), child(place)
        process.terminate()
        code, _, _ = ended(process)
    assert code == 143
    gone(place, *pids)
    assert (place.read()["status"], place.read()["iteration"]) == ("paused", 0)


def test_a_terminal_that_hangs_up_ends_nothing(place: Place) -> None:
    with place.running("make it", place.script(HELD, "echo x > made"), MAKE) as process:
        place.holding()
        process.send_signal(signal.SIGHUP)
        place.let_go()
        assert ended(process)[0] == 0
    assert place.read()["status"] == "completed"


def test_a_terminal_that_is_closed_ends_nothing(place: Place) -> None:
    agent = place.script(HELD, "echo x > made")
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "untilproven", "run", "make it", agent, MAKE, "--sandbox=none"],
            cwd=place.root,
            env={**os.environ, "TERM": "xterm"},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
    try:
        place.holding()
        os.close(master)
        process.send_signal(signal.SIGHUP)
        place.let_go()
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
    assert place.read()["status"] == "completed"
    assert place.receipt()["proof"] == "red-to-green"


def test_a_reader_that_goes_away_ends_nothing(place: Place) -> None:
    with place.running("make it", place.script(HELD, "echo x > made"), MAKE) as process:
        place.holding()
        assert process.stdout
        process.stdout.close()
        place.let_go()
        process.wait(30)
    assert place.read()["status"] == "completed"


# Behind


def test_a_detached_loop_can_be_looked_at_attached_to_and_paused(place: Place) -> None:
    agent = place.script(HELD, "echo said-aloud", "echo x > half")
    with background(place, "make it", agent, MAKE) as pid:
        place.holding()
        assert place.read()["pid"] == pid
        assert place.loop in place.ralph("status").stdout
        with place.running(place.loop, "--verbose", verb="attach") as attached:
            assert attached.stdout
            for line in attached.stdout:
                if "iteration 1 of" in line:
                    break
            assert "will pause" in place.ralph("pause", place.loop).stdout
            place.let_go()
            code, out, _ = ended(attached)
        assert code == 8
        assert "said-aloud" in out
        gone(place, pid)
        assert (place.read()["status"], place.read()["iteration"]) == ("paused", 1)
        assert "paused" in (place.directory() / "run.log").read_text()


def test_a_detached_loop_outlives_who_started_it_and_ends_by_itself(place: Place) -> None:
    started = place.run("make it", place.script("echo x > made"), MAKE, "--detach")
    assert started.returncode == 0
    loop = started.stdout.strip()
    assert loop == place.loop
    wait_for(lambda: place.status() == "completed", "the loop ends")
    attached = place.ralph("attach", loop)
    assert attached.returncode == 0
    assert "proven (red-to-green)" in attached.stdout


@pytest.mark.parametrize(
    ("words", "code"),
    [(("--agent-cmd=nope", MAKE), 6), (("--agent-cmd=true",), 2), (("--agent-cmd=true", MAKE, "-n0"), 2)],
)
def test_what_cannot_begin_is_said_in_front_of_the_user(place: Place, words: tuple[str, ...], code: int) -> None:
    done = place.run("make it", *words, "--detach")
    assert done.returncode == code
    assert done.stderr.startswith("ralph: ")
    assert not place.loops()


def test_a_loop_that_is_being_run_cannot_be_taken_up_by_another(place: Place) -> None:
    with place.running("make it", place.script(HELD, "echo x > made"), MAKE) as process:
        place.holding()
        again = place.ralph("resume", place.loop)
        assert again.returncode == 7
        assert str(process.pid) in again.stderr
        place.let_go()
        assert ended(process)[0] == 0
    done = place.ralph("resume", place.loop)
    assert done.returncode == 1
    assert "is completed" in done.stderr


def test_nothing_is_left_of_requests_that_were_obeyed(place: Place) -> None:
    with place.running("make it", place.script(HELD), MAKE) as process:
        place.holding()
        place.ralph("pause", place.loop)
        place.ralph("abort", place.loop)
        ended(process)
    assert place.read()["status"] == "aborted"
    assert not kept_requests()
