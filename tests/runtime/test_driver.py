"""While a loop runs and after it, what is written about it is true and as the published schemas have it."""

import json
import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from process.scenes import wait_for
from runtime.loops import HELD, Place, ended
from sources import validator
from untilproven.store.layout import LoopDirectory
from untilproven.store.replay import replay_journal

MAKE = "--until=test -s made"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def valid(state: dict[str, Any]) -> dict[str, Any]:
    validator("loop-state").validate(state)
    return state


def status(place: Place) -> dict[str, Any]:
    shown = json.loads(place.ralph("status", "--json", place.loop).stdout)
    assert isinstance(shown, dict)
    return shown


def test_while_an_agent_runs_the_state_says_so_within_a_second(place: Place) -> None:
    with place.running("make it", place.script(HELD, "echo x > made"), MAKE) as process:
        pid = place.holding()
        deadline = time.monotonic() + 1
        while valid(place.read()).get("iteration_in_progress") != 1:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        state = place.read()
        assert (state["status"], state["iteration"], state["pid"]) == ("running", 0, process.pid)
        assert [check["iteration"] for check in state["progress"]["completion_checks"]] == [0]
        shown = status(place)
        assert valid(shown["state"])["iteration_in_progress"] == 1
        assert shown["process"] == "alive"
        assert "ITERATION" in place.ralph("status").stdout
        assert pid != process.pid
        place.let_go()
        assert ended(process)[0] == 0
    state = valid(place.read())
    assert state["status"] == "completed"
    assert "iteration_in_progress" not in state
    assert "pid" not in state
    assert state["completed_at"]


def test_every_state_on_the_way_is_valid(place: Place) -> None:
    """Read as fast as one can, while ten iterations go by."""
    agent = place.script('sleep 0.05; [ "$RALPH_ITERATION" -lt 10 ] || echo x > made')
    seen: set[tuple[str, int]] = set()
    with place.running("make it", agent, MAKE) as process:
        wait_for(lambda: place.loops() and (place.directory() / "state.json").exists(), "a state")
        path = place.directory() / "state.json"
        while process.poll() is None:
            state = valid(json.loads(path.read_bytes()))
            seen.add((state["status"], state["iteration"]))
        assert ended(process)[0] == 0
    assert len(seen) > 5
    validator("loop-registry").validate(json.loads(place.state.registry.read_text()))


def test_the_state_is_what_its_journal_says(place: Place) -> None:
    place.run("make it", place.script('[ "$RALPH_ITERATION" -lt 3 ] || echo x > made'), MAKE)
    replayed = replay_journal(LoopDirectory(place.directory()))
    assert not replayed.damage
    assert replayed.state
    assert replayed.state.iteration == place.read()["iteration"] == 3
    before = place.read()
    assert place.ralph("state", "rebuild", place.loop).returncode == 0
    assert place.read() == before


def test_progress_has_every_check_with_its_output_and_the_last_one(place: Place) -> None:
    check = "--until=wc -l < made | tee /dev/stderr | grep -qx 2"
    place.write("made")
    done = place.run("make it", place.script("echo x >> made"), check)
    assert done.returncode == 0, done.stdout
    progress = valid(place.read())["progress"]
    told = [(check["iteration"], check["passed"]) for check in progress["completion_checks"]]
    assert told == [(0, False), (1, False), (2, True)]
    assert "0" in progress["completion_checks"][0]["output"]
    assert "1" in progress["completion_checks"][1]["output"]
    assert progress["last_completion_check"] == progress["completion_checks"][-1]
    assert "estimated_completion" not in progress


def test_a_long_output_is_cut_in_the_state_and_kept_in_the_journal(place: Place) -> None:
    place.run("make it", place.script("true"), "--until=seq 100000; false", "-n1")
    last = place.read()["progress"]["last_completion_check"]
    assert len(last["output"].encode()) <= 4096
    assert last["output"].rstrip().endswith("100000")
    recorded = place.events("check.finished")[-1]["output"]
    assert 4096 < len(recorded.encode()) <= 64 * 1024
    assert (place.directory() / "state.json").stat().st_size < 32 * 1024


def test_a_steady_trend_gives_an_estimate_and_none_is_given_at_the_end(place: Place) -> None:
    cases = "".join(
        f"    def test_{n}(self): self.assertGreaterEqual(int(open('level').read()), {n})\n" for n in range(1, 7)
    )
    place.write("test_it.py", f"import unittest\n\n\nclass T(unittest.TestCase):\n{cases}")
    place.write("level", "0")
    agent = place.script('echo "$RALPH_ITERATION" > level')
    done = place.run("make it", agent, "--until=python3 -m unittest -q")
    assert done.returncode == 0, done.stdout
    estimates = [event.get("estimated_completion") for event in place.events("iteration.finished")]
    assert estimates[0] is None
    assert any(estimates[2:5])
    for at, event in zip(estimates, place.events("iteration.finished"), strict=True):
        if at:
            assert datetime.fromisoformat(at) > datetime.fromisoformat(event["ts"])
    assert "estimated_completion" not in valid(place.read())["progress"]


def test_metrics_add_up(place: Place) -> None:
    usage = {"usage": {"input_tokens": 100, "output_tokens": 20, "cost_usd": 0.125}}
    agent = place.cassette(
        [usage, {"write": "part", "content": "x"}, {"wait": 0.2}],
        [usage],
        [usage, {"exit": 1}],
        [{"write": "made", "content": "x"}, usage],
    )
    done = place.run("make it", agent, MAKE)
    assert done.returncode == 0, done.stdout
    metrics = valid(place.read())["metrics"]
    wanted = {
        "total_iterations": 4,
        "successful_iterations": 2,
        "failed_iterations": 1,
        "total_tokens": 480,
        "total_cost_usd": 0.5,
    }
    assert {key: metrics[key] for key in wanted} == wanted
    durations = [event["duration_seconds"] for event in place.events("iteration.finished")]
    assert durations[0] >= 0.2
    assert metrics["average_iteration_time_seconds"] == pytest.approx(sum(durations) / 4)
    assert metrics["total_duration_seconds"] == round(sum(durations))
    assert "unknown_cost_iterations" not in metrics
    assert place.receipt()["spent"]["cost_usd"] == 0.5


def test_what_nobody_reported_is_left_out(place: Place) -> None:
    place.run("make it", place.script("echo x > made"), MAKE)
    metrics = valid(place.read())["metrics"]
    assert "total_cost_usd" not in metrics
    assert "total_tokens" not in metrics
    assert metrics["unknown_cost_iterations"] == 1
    assert "cost unknown" in place.ralph("attach", place.loop).stdout


def test_an_agent_that_keeps_failing_leaves_its_error(place: Place) -> None:
    began = time.time()
    agent = place.cassette([{"error": "overloaded"}, {"crash": "SIGSEGV"}], then="repeat-last")
    done = place.run("make it", agent, MAKE)
    assert done.returncode == 6
    state = valid(place.read())
    context = state["error_context"]
    assert "ended by signal 11" in context["error_message"]
    assert began - 1 < datetime.fromisoformat(context["error_timestamp"]).timestamp() < time.time() + 1
    assert context["recovery_attempted"] is False
    assert state["status"] == "failed"
    assert state["completed_at"]
    assert "ended by signal 11" in done.stdout


def test_a_limit_is_no_error(place: Place) -> None:
    place.run("make it", place.script("true"), MAKE, "-n1")
    assert "error_context" not in valid(place.read())
    assert place.read()["status"] == "failed"


def test_a_paused_loop_says_why_and_has_no_process(place: Place) -> None:
    blocked = 'echo \'{"status": "blocked", "blocker": "which key?"}\' > "$RALPH_RESULT_FILE"'
    place.run("make it", place.script(blocked), MAKE)
    state = valid(place.read())
    assert (state["status"], state["pause_reason"], state["reason"]) == ("paused", "blocked", "which key?")
    assert "completed_at" not in state
    assert place.slots() == [place.loop]


def test_every_iteration_leaves_its_record_prompt_outputs_and_checkpoint(place: Place) -> None:
    agent = place.script("echo said $RALPH_ITERATION; echo x >> made")
    done = place.run("make it", agent, "--until=grep -c x made | grep -qx 3", "--checkpoint-interval=2")
    assert done.returncode == 0, done.stdout
    loop = place.directory()
    names = [f"iteration-{number:03}" for number in (1, 2, 3)]
    assert sorted(path.stem for path in (loop / "iterations").iterdir()) == names
    assert sorted(path.stem for path in (loop / "prompts").iterdir()) == names
    for number, name in enumerate(names, start=1):
        record = json.loads((loop / "iterations" / f"{name}.json").read_text())
        assert record["number"] == number
        assert record["delta"][0]["path"] == "made"
        assert (loop / "outputs" / f"{name}.stdout.log").read_text() == f"said {number}\n"
        assert f'"said {number}"' in (loop / "outputs" / f"{name}.jsonl").read_text()
    assert [path.name for path in (loop / "checkpoints").iterdir()] == ["iteration-002.json.gz"]
    assert place.read()["last_checkpoint"].endswith("checkpoints/iteration-002.json.gz")
    assert not [event for event in place.events() if event["type"] == "agent.event"]


def test_the_agent_knows_where_it_is(place: Place) -> None:
    agent = place.script('echo "$RALPH_LOOP_ID $RALPH_ITERATION $PWD" >> made')
    place.run("make it", agent, "--until=test $(wc -l < made) = 2")
    lines = (place.root / "made").read_text().splitlines()
    assert lines == [f"{place.loop} {number} {place.root}" for number in (1, 2)]


def test_the_agent_is_told_the_task_the_checks_and_what_they_said(place: Place) -> None:
    place.write("AGENTS.md", "Tabs, not spaces.\n")
    place.write("specs/one.md", "One is one.\n")
    agent = place.script('[ "$RALPH_ITERATION" = 1 ] || echo x > made')
    place.run("make it so", agent, "--until=echo boo; test -s made")
    first, second = place.prompt(1), place.prompt(2)
    for words in (
        "make it so",
        "`echo boo; test -s made`",
        "Tabs, not spaces.",
        "One is one.",
        "boo",
        "iteration 1 of",
    ):
        assert words in first
    assert "iteration 2 of" in second
    assert "exited with 1" in second


def test_a_session_is_gone_on_with_only_when_asked(place: Place) -> None:
    said = 'echo \'{"session": "s-1"}\' > "$RALPH_RESULT_FILE"'
    agent = place.script(said, '[ "$RALPH_ITERATION" = 1 ] || echo x > made')
    assert place.run("make it", agent, MAKE, "--context=continue").returncode == 0
    assert place.prompt(2).startswith("[RALPH LOOP - ITERATION 2/200]")
    (place.root / "made").unlink()
    assert place.run("make it", agent, MAKE).returncode == 0
    assert place.prompt(2).startswith("# Task")


def test_a_loop_that_turns_in_circles_is_told(place: Place) -> None:
    place.run("make it", place.script("true"), "--until=echo $$; false", "-n5")
    assert "The same failure came up several times in a row" in place.prompt(4)


def test_a_tree_of_a_thousand_changes_does_not_swell_the_journal(place: Place) -> None:
    done = place.run("make it", place.script("seq 3000 | xargs touch; echo x > made"), MAKE)
    assert done.returncode == 0
    (observed,) = place.events("iteration.observed")
    assert len(observed["delta"]) == 1000
    assert (place.directory() / "state.json").stat().st_size < 32 * 1024


def test_what_the_first_agent_call_does_not_need_is_not_loaded_before_it_nor_the_guard_without_a_room(
    tmp_path: Path,
) -> None:
    """Where nothing of the tree is kept, the guard has nothing to compare; the journal says so all the same."""
    (tmp_path / ".git").mkdir()
    script = (
        "import sys\n"
        "from untilproven.cli.main import run\n"
        "from untilproven.runtime import attempt\n"
        "unwanted = {'ast_grep_py', 'pyexpat', 'tomllib', 'untilproven.guard.judging'}\n"
        "before, work = [], attempt.run\n"
        "def noted(driver, number):\n"
        "    before.append(sorted(unwanted & sys.modules.keys()))\n"
        "    work(driver, number)\n"
        "attempt.run = noted\n"
        "code = run(['run', 'it', '--agent-cmd=touch made', '--until=test -f done', '--sandbox=none', '-n1', '-q'])\n"
        "print(code, before, 'untilproven.guard.judging' in sys.modules)\n"
    )
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert ran.stdout.splitlines()[-1:] == ["4 [[]] False"], ran.stdout + ran.stderr
    (loop,) = (tmp_path / ".aiwg/ralph/loops").iterdir()
    lines = [json.loads(line) for line in (loop / "events.jsonl").read_text().splitlines()]
    assert [line["skipped"] for line in lines if line["type"] == "guard.finished"] == [
        "without a room nothing is kept of the tree as it was"
    ]
