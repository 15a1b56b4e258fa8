"""The Python API, run for real: the same loops, limits and control as on the command line."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from support import make_project, ralph
from untilproven import Ended, Entry, Loop, LoopHooks, RalphError, run
from untilproven.errors import ConfigError, UsageError
from untilproven.model import events
from untilproven.model.receipt import Proof
from untilproven.model.status import Status
from untilproven.store.layout import Project
from untilproven.store.lock import is_locked

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "python.md").read_text()
CHECK = "test -f done"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = make_project(tmp_path / "project")
    monkeypatch.chdir(project.root)
    return project


def start(agent_cmd: str, **more: Any) -> Loop:
    return Loop.start("make the file done", until=CHECK, agent_cmd=agent_cmd, sandbox="none", **more)


def wait_for(condition: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


class InThread:
    """A loop that runs in a thread of its own."""

    def __init__(self, loop: Loop) -> None:
        self.ended: Ended | None = None
        self._thread = threading.Thread(target=self._run, args=(loop,))
        self._thread.start()

    def _run(self, loop: Loop) -> None:
        self.ended = loop.run()

    def result(self) -> Ended:
        self._thread.join(20)
        assert self.ended is not None
        return self.ended


def lock_of(here: Project, loop: Loop) -> Path:
    return here.state.loop(loop.loop_id).lock


def test_importing_the_package_imports_no_room() -> None:
    script = "import sys, untilproven; print([name for name in sys.modules if name.startswith('untilproven.')])"
    found = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
    assert (ROOT / "src" / "untilproven" / "py.typed").exists()


def test_the_example_of_the_page_runs_as_it_stands_there(here: Project) -> None:
    _, example, rest = PAGE.split("```python\n", 2)
    code, _, after = example.partition("```")
    printed = after.partition("```\n")[2].partition("```")[0]
    ran = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == printed
    compile(rest.partition("```")[0], "the second example", "exec")


def test_proven_work_ends_with_a_receipt_and_every_event_was_told() -> None:
    told: list[Entry] = []
    ended = run("t", until=CHECK, agent_cmd="echo hi; touch done", sandbox="none", on_event=told.append)

    assert (ended.status, ended.proof, ended.proven) == (Status.COMPLETED, Proof.RED_TO_GREEN, True)
    assert (ended.exit_code, ended.iterations) == (0, 1)
    assert ended.receipt
    assert [check.passed for check in ended.receipt.checks_after] == [True]
    loop = Loop(ended.loop_id)
    assert loop.receipt == ended.receipt
    journal = [entry.header.type for entry in loop.events()]
    assert [entry.header.type for entry in told if entry.header.type != "agent.event"] == journal[1:]
    assert [entry.event.text for entry in told if isinstance(entry.event, events.AgentEvent)] == ["hi"]


def test_what_happens_is_told_in_its_order_and_a_hook_hears_of_an_iteration_that_is_on_record() -> None:
    told: list[Entry] = []
    begun: list[tuple[int, type]] = []
    hooks = LoopHooks(on_iteration_start=lambda _, number: begun.append((number, type(told[-1].event))))
    agent = "echo one; sleep 0.2; echo two; test $RALPH_ITERATION = 1 || touch done"
    ended = run("x", until=CHECK, agent_cmd=agent, sandbox="none", hooks=hooks, on_event=told.append)
    assert ended.iterations == 2
    assert begun == [(1, events.IterationStarted), (2, events.IterationStarted)]
    assert [entry.header.seq for entry in told] == sorted(entry.header.seq for entry in told)
    kinds = [type(entry.event) for entry in told]
    second = kinds.index(events.IterationStarted, kinds.index(events.IterationFinished))
    assert events.CheckpointWritten in kinds[: kinds.index(events.AgentEvent, second)]


def test_green_checks_and_a_claim_complete_but_are_not_proven() -> None:
    Path("done").touch()
    ended = run("t", until=CHECK, agent_cmd="touch more; echo '<promise>DONE</promise>'", sandbox="none")
    assert (ended.status, ended.proof, ended.proven) == (Status.COMPLETED, Proof.SUITE_GREEN_AND_CLAIM, False)


def test_two_runs_in_a_row_are_two_loops() -> None:
    first = run("t", until=CHECK, agent_cmd="touch done", sandbox="none")
    second = run("t", until="test -f other", agent_cmd="touch other", sandbox="none", loop_id="ralph-second-00000002")
    assert second.loop_id == "ralph-second-00000002"
    assert (first.status, second.status) == (Status.COMPLETED, Status.COMPLETED)


def test_what_the_command_line_would_refuse_is_raised_and_leaves_nothing(here: Project) -> None:
    with pytest.raises(UsageError, match="no network without a room"):
        run("t", until=CHECK, agent_cmd="true", sandbox="none", network="none")
    with pytest.raises(RalphError, match="not on PATH") as missing:
        start("no-such-agent-here")
    assert missing.value.exit_code == 6
    with pytest.raises(ConfigError, match="max-iterations"):
        start("true", max_iterations=0)
    with pytest.raises(ConfigError, match="max-cost"):
        start("true", max_cost=float("nan"))
    with pytest.raises(ConfigError, match="no time at all"):
        start("true", timeout=timedelta())
    with pytest.raises(TypeError, match="'untl'"):
        start("true", untl="x")
    with pytest.raises(TypeError, match="'agent_cmd'"):
        Loop.resume("ralph-t-00000000", agent_cmd="true")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="there is no loop"):
        Loop("ralph-t-00000000")
    assert not here.state.loops.exists()


def test_settings_that_wait_for_trust_are_warned_of() -> None:
    Path("ralph.toml").write_text('agent_cmd = "evil"\n')
    with pytest.warns(UserWarning, match="not trusted.*agent_cmd"):
        assert run("t", until=CHECK, agent_cmd="touch done", sandbox="none").proven


def test_a_duration_may_be_a_timedelta() -> None:
    with start("true", timeout=timedelta(minutes=90), idle_timeout=timedelta(milliseconds=1500)) as loop:
        allowance = loop.state.allowance
        assert allowance
        assert (allowance.seconds, allowance.idle_seconds) == (5400.0, 2.0)


def test_a_run_is_recorded_and_played_again(here: Project) -> None:
    first = start("date +%N > done", mode="logged").run()
    made = Path("done").read_text()
    Path("done").unlink()
    recording = here.state.loop(first.loop_id).path / "recording"
    again = run("make the file done", until=CHECK, agent=f"replay:{recording}", sandbox="none", mode="strict")
    assert (again.proven, Path("done").read_text()) == (True, made)
    with pytest.raises(UsageError, match="seeded"):
        start("true", mode="seeded")
    with pytest.raises(ConfigError, match="mode"):
        start("true", mode="lose")


def test_a_limit_can_be_raised_and_the_work_goes_on() -> None:
    ended = start("test $RALPH_ITERATION -lt 3 || touch done", max_iterations=2).run()
    assert (ended.status, ended.exit_code, ended.iterations) == (Status.FAILED, 4, 2)

    again = Loop.resume(ended.loop_id, max_iterations=5).run()
    assert (again.status, again.iterations, again.proof) == (Status.COMPLETED, 3, Proof.RED_TO_GREEN)
    assert again.loop_id != ended.loop_id
    assert Loop(ended.loop_id).loop_id == again.loop_id


def test_a_loop_is_run_once(here: Project) -> None:
    loop = start("touch done")
    assert loop.run().proven
    with pytest.raises(RalphError, match="run already"):
        loop.run()
    with pytest.raises(RalphError, match="not held"):
        Loop(loop.loop_id).run()
    assert not is_locked(lock_of(here, loop))


@pytest.mark.parametrize("kind", ["iteration.started", "agent.event", "check.finished", "iteration.finished"])
def test_what_on_event_raises_ends_the_run_and_pauses_the_loop(here: Project, kind: str) -> None:
    def break_off(entry: Entry) -> None:
        if entry.header.type == kind and getattr(entry.event, "iteration", None):
            raise LookupError(kind)

    loop = start("echo $$ > pid; echo hi; test -f again || { touch again; sleep 0.2; exit 0; }; touch done")
    with pytest.raises(LookupError):
        loop.run(on_event=break_off)

    assert loop.state.status is Status.PAUSED
    assert f"LookupError: {kind}" in (loop.state.reason or "")
    assert not is_locked(lock_of(here, loop))
    ended = Loop.resume(loop.loop_id).run()
    assert (ended.loop_id, ended.proof) == (loop.loop_id, Proof.RED_TO_GREEN)


def test_what_on_event_raises_ends_the_agent_and_all_it_started() -> None:
    def break_off(entry: Entry) -> None:
        if entry.header.type == "agent.event":
            raise SystemExit(5)

    with pytest.raises(SystemExit):
        start("setsid sleep 300 & echo $! > pids; echo $$ >> pids; echo hi; sleep 300").run(on_event=break_off)
    pids = Path("pids").read_text().split()
    assert len(pids) == 2
    assert [pid for pid in pids if Path("/proc", pid).exists()] == []


def test_what_a_hook_raises_does_not_end_the_run() -> None:
    seen: list[int] = []

    def count(_task: object, iteration: int, _result: object) -> None:
        seen.append(iteration)
        raise LookupError

    ended = start("test $RALPH_ITERATION -lt 2 || touch done").run(hooks=LoopHooks(on_iteration_end=count))
    assert ended.proven
    assert seen == [1, 2]


def test_a_loop_that_was_not_run_can_be_closed_and_resumed(here: Project) -> None:
    with start("touch done") as loop:
        assert is_locked(lock_of(here, loop))
    assert (loop.state.status, loop.state.reason) == (Status.PAUSED, "it was not run yet")
    assert not is_locked(lock_of(here, loop))
    loop.close()
    assert Loop.resume(loop.loop_id).run().proven


def test_a_loop_that_is_forgotten_does_not_stay_locked() -> None:
    with pytest.warns(ResourceWarning, match="was started and neither run nor closed"):
        loop_id = start("touch done").loop_id
    assert Loop.resume(loop_id).run().proven


def test_a_loop_that_was_started_can_be_paused_and_aborted_instead() -> None:
    assert start("true").pause().status is Status.PAUSED
    assert start("true").abort().status is Status.ABORTED


def test_a_fork_cannot_run_a_loop_of_its_parent(here: Project) -> None:
    script = f"""
import os, sys
from untilproven import Loop, RalphError
loop = Loop.start("t", until="{CHECK}", agent_cmd="touch done", sandbox="none")
if (pid := os.fork()) == 0:
    try:
        loop.run()
    except RalphError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print(loop.run().status)
"""
    ran = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert "only that can run it" in ran.stdout
    assert ran.stdout.splitlines()[-1] == "completed"


def test_it_runs_in_any_thread_and_is_paused_and_aborted_from_another() -> None:
    loop = start("touch begun; sleep 300")
    running = InThread(loop)
    wait_for(Path("begun").exists)
    began = time.monotonic()
    assert loop.pause(now=True).status is Status.PAUSED
    ended = running.result()
    assert (ended.status, ended.exit_code, ended.iterations, ended.receipt) == (Status.PAUSED, 8, 0, None)

    Path("begun").unlink()
    again = Loop.resume(loop.loop_id)
    running = InThread(again)
    wait_for(Path("begun").exists)
    assert again.abort().status is Status.ABORTED
    ended = running.result()
    assert (ended.status, ended.exit_code) == (Status.ABORTED, 1)
    assert ended.receipt
    assert time.monotonic() - began < 20


def test_two_loops_run_in_two_threads(tmp_path: Path) -> None:
    loops = []
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
        agent = "sleep 0.1; touch done"
        loops.append(Loop.start(name, directory=tmp_path / name, until="test -f done", agent_cmd=agent, sandbox="none"))
    assert [running.result().status for running in [InThread(loop) for loop in loops]] == [Status.COMPLETED] * 2


def test_a_pause_from_within_on_event_is_obeyed_without_waiting_for_itself() -> None:
    loop = start("echo hi; sleep 300")

    def enough(entry: Entry) -> None:
        if entry.header.type == "agent.event":
            loop.pause(now=True)

    began = time.monotonic()
    assert loop.run(on_event=enough).status is Status.PAUSED
    assert time.monotonic() - began < 2.5  # asking itself, it would wait 3 s for an answer


def test_other_children_of_this_process_are_left_alone() -> None:
    mine = subprocess.Popen(["sleep", "300"], start_new_session=True)
    gone = subprocess.Popen(["sh", "-c", "exit 3"])
    try:
        assert start("touch done").run().proven
        assert mine.poll() is None
        assert gone.wait() == 3
    finally:
        mine.kill()
        mine.wait()


def test_another_process_can_watch_and_control_it(here: Project) -> None:
    started = ralph(
        *("run", "t", "--until", CHECK, "--agent-cmd", "touch begun; echo hi; sleep 300", "--sandbox", "none"),
        *("--detach", "--json"),
        cwd=here.root,
    )
    assert started.returncode == 0, started.stderr
    [loop] = [Loop(path.loop_id) for path in here.state.all_loops()]
    wait_for(Path("begun").exists)
    assert loop.state.status is Status.RUNNING
    with pytest.raises(RalphError, match="locked"):
        Loop.resume(loop.loop_id)

    def stop(entry: Entry) -> None:
        if entry.header.type == "agent.event":
            loop.abort()

    ended = loop.attach(stop)
    assert (ended.status, ended.exit_code) == (Status.ABORTED, 1)
    assert os.access(here.state.loop(loop.loop_id).path / "run.log", os.R_OK)


def test_a_detached_loop_outlives_the_program_that_started_it(here: Project) -> None:
    script = f"""
from untilproven import Loop
agent = "while ! test -f go; do sleep 0.01; done; touch done"
print(Loop.detached("t", until="{CHECK}", agent_cmd=agent, sandbox="none").loop_id)
"""
    ran = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    loop = Loop(ran.stdout.strip())
    assert loop.state.status is Status.RUNNING
    Path("go").touch()
    assert loop.attach().proven
    wait_for(lambda: not is_locked(lock_of(here, loop)))
    assert "proven" in (here.state.loop(loop.loop_id).path / "run.log").read_text()
