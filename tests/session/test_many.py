"""Many events at once, and sessions that end in the middle."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from session.scenes import DONE, PLAIN, Host, hook, stop
from support import SetClock, make_project, ralph
from untilproven.model.status import Status
from untilproven.session import storage
from untilproven.session.engine import Heard, SessionLoop
from untilproven.store import reader
from untilproven.store.layout import Project
from untilproven.store.registry import read_registry
from untilproven.store.survey import check_stale_loops


def test_a_thousand_idle_events_of_ten_sessions(tmp_path: Path) -> None:
    hosts = [Host(make_project(tmp_path / name)) for name in ("a", "b", "c")]
    sessions = [(hosts[number % 3], f"s{number}") for number in range(10)]
    for host, session in sessions:
        assert host.hook.start_loop(session, "fix it", PLAIN), host.hook.problem
        host.say(session, "at it")

    async def storm() -> None:
        for _ in range(2):
            await asyncio.gather(*(host.idle(session) for _ in range(50) for host, session in sessions))
            await asyncio.sleep(0.6)
            for host, session in sessions:
                host.say(session, "still at it")

    asyncio.run(storm())
    for host, session in sessions:
        state = host.hook.get_state(session)
        assert state is not None
        assert state.iteration == 3
        assert len([one for one, _ in host.prompts if one == session]) == 2


def test_processes_that_ask_at_once_are_answered_once(project: Project) -> None:
    hook("start", "--session", "s1", "--", "task --trust-promise", cwd=project.root)
    event = json.dumps({"session_id": "s1", "last_assistant_message": "at it"})
    words = [sys.executable, "-P", "-m", "untilproven", "hook", "stop", "--agent", "claude"]
    asked = [
        subprocess.Popen(words, cwd=project.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(12)
    ]
    for one in asked:
        assert one.stdin
        one.stdin.write(event)
        one.stdin.close()
    answers = []
    for one in asked:
        assert one.stdout
        answers.append(one.stdout.read())
        one.stdout.close()
        assert one.wait(60) == 0
    assert sum("block" in answer for answer in answers) == 1
    state = storage.load(storage.place_of(project.root, "s1"))
    assert state is not None
    assert state.iteration == 2


@pytest.fixture
def agent(project: Project) -> "subprocess.Popen[str]":
    """A process that starts a loop as its own, as an agent does through its hooks, and stays."""
    words = [
        sys.executable,
        "-P",
        "-m",
        "untilproven",
        "hook",
        "start",
        "--session",
        "s1",
        "--",
        "task --trust-promise",
    ]
    script = "import subprocess, sys, time; subprocess.run(sys.argv[1:]); print('there', flush=True); time.sleep(100)"
    started = subprocess.Popen(
        [sys.executable, "-c", script, *words], cwd=project.root, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout
    assert any("there" in line for line in started.stdout)
    return started


def end(agent: "subprocess.Popen[str]") -> None:
    agent.send_signal(signal.SIGKILL)
    agent.wait()
    assert agent.stdout
    agent.stdout.close()


def test_the_loop_is_the_agents_and_not_the_hooks(project: Project, agent: "subprocess.Popen[str]") -> None:
    (entry,) = read_registry(project.state).registry.active_loops
    assert entry.pid == agent.pid
    end(agent)


def test_a_terminal_that_is_closed_leaves_no_slot_taken(project: Project, agent: "subprocess.Popen[str]") -> None:
    (entry,) = read_registry(project.state).registry.active_loops
    end(agent)
    later = SetClock(entry.last_active or entry.started_at)
    later.move(minutes=20)
    path = project.state.loop(entry.loop_id).state
    old = time.time() - 1200
    os.utime(path, (old, old))
    os.utime(project.state.loop(entry.loop_id).journal, (old, old))
    check_stale_loops(project.state, cleanup=True, time=later)
    assert read_registry(project.state).registry.active_loops == ()
    answer = stop("s1", "at it", cwd=project.root)
    assert "decision" not in answer
    assert "crashed" in answer["systemMessage"]
    assert stop("s1", "at it", cwd=project.root) == ""


def test_a_session_that_is_taken_up_again_is_the_new_agents(project: Project, agent: "subprocess.Popen[str]") -> None:
    """The machine was restarted, and nobody has looked at the loops since."""
    (entry,) = read_registry(project.state).registry.active_loops
    end(agent)
    assert stop("s1", "here again", cwd=project.root)["decision"] == "block"
    state = reader.view(project.state, entry.loop_id).state
    deadline = time.monotonic() + 20
    while state.iteration_in_progress != 2 and time.monotonic() < deadline:  # nobody waits for the journal
        time.sleep(0.05)
        state = reader.view(project.state, entry.loop_id).state
    assert state.status is Status.RUNNING
    assert state.pid == os.getpid()
    assert state.iteration_in_progress == 2
    assert ralph("status", entry.loop_id, cwd=project.root).returncode == 0


def test_a_hook_that_is_killed_while_it_checks_is_made_up_for(project: Project) -> None:
    """The next event finds an iteration that was never finished, and checks it."""
    flag = project.root / "slow"
    check = f"test ! -e {flag.name} || sleep 60; test -e done"
    hook("start", "--session", "s1", "--", "task", "--until", check, cwd=project.root)
    flag.touch()
    said = json.dumps({"session_id": "s1", "last_assistant_message": DONE})
    words = [sys.executable, "-P", "-m", "untilproven", "hook", "stop", "--agent", "claude"]
    with subprocess.Popen(words, cwd=project.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as hooked:
        assert hooked.stdin
        hooked.stdin.write(said)
        hooked.stdin.close()
        time.sleep(2.5)
        hooked.kill()
    flag.unlink()
    refused = stop("s1", DONE, cwd=project.root)
    assert refused["decision"] == "block"
    (project.root / "done").touch()
    assert "decision" not in stop("s1", DONE, cwd=project.root)
    assert read_registry(project.state).registry.active_loops == ()


def test_what_two_hooks_hear_begins_one_loop(project: Project) -> None:
    """The plugin is there for the user and for the project: nobody is told that the loop is in its own way."""
    said = {"session_id": "s1", "cwd": str(project.root), "prompt": "/ralph Fix add --until 'sleep 6; false'"}
    command = [sys.executable, "-P", "-m", "untilproven", "hook", "prompt", "--agent", "claude"]
    heard = [
        subprocess.Popen(command, cwd=project.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    with ThreadPoolExecutor(2) as both:
        answers = sorted(both.map(lambda process: process.communicate(json.dumps(said))[0], heard))
    assert [process.wait() for process in heard] == [0, 0]
    assert answers[0] == ""
    assert "RALPH LOOP - ITERATION 1/100" in json.loads(answers[1])["hookSpecificOutput"]["additionalContext"]
    refused = hook("prompt", cwd=project.root, said={**said, "prompt": "/ralph Something else --until false"})
    assert refused["decision"] == "block"


def test_a_project_that_is_gone_lets_the_agent_go(project: Project, tmp_path: Path) -> None:
    hook("start", "--session", "s1", "--", "task --trust-promise", cwd=project.root)
    project.root.rename(tmp_path / "moved")
    assert stop("s1", "at it", cwd=tmp_path) == ""


def test_a_loop_that_came_with_a_clone_holds_nobody(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook("start", "--session", "s1", "--", "task --trust-promise", cwd=project.root)
    monkeypatch.setenv("HOME", str(tmp_path / "another"))
    (tmp_path / "another").mkdir()
    assert stop("s1", "at it", cwd=project.root) == ""


def test_an_answer_that_comes_at_once_is_no_duplicate_of_the_one_before(project: Project) -> None:
    hook("start", "--session", "s1", "--", "task --trust-promise", cwd=project.root)
    loop = SessionLoop(project, storage.place_of(project.root, "s1"))

    def idle(turn: str) -> str:
        answer = loop.turn(Heard(words=lambda _: "at it", at=time.time(), quiet=60.0, turn=turn))
        loop.delivered(answer)
        return answer.kind

    try:
        loop.lock()
        assert [idle(turn) for turn in ("m1", "m1", "", "m2", "m2")] == ["prompt", "none", "none", "prompt", "none"]
    finally:
        loop.close()
        loop.unlock()
