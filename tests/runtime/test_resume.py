"""Going on with a loop that stopped, wherever and however it did: nothing is lost, nothing counts twice."""

import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from process.scenes import wait_for
from runtime.loops import HELD, Place, ended
from runtime.scenes import kept_requests
from untilproven.runtime.control import requests
from untilproven.runtime.control.requests import new_request
from untilproven.store.survey import check_stale_loops

DOOMED = """
import importlib, os, signal, sys
where, turn, *words = sys.argv[1:]
module, _, name = where.partition(":")
owner = importlib.import_module(f"untilproven.{module}")
*path, name = name.split(".")
for part in path:
    owner = getattr(owner, part)
call, left = getattr(owner, name), int(turn)
def doomed(*args, **more):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return call(*args, **more)
setattr(owner, name, doomed)
from untilproven.cli.main import run
sys.exit(run(words))
"""
"""`ralph`, killed when it is about to do something for the nth time."""

DONE = "--until=test -s three"
NUMBERED = ({"write": "one", "content": "1"}, {"write": "two", "content": "2"}, {"write": "three", "content": "3"})
LONG = "make three\n" + "and take your time\n" * 500


@pytest.fixture(autouse=True)
def place(tmp_path: Path, own_porch: Path) -> Place:
    return Place(tmp_path)


def killed(place: Place, where: str, turn: int, *words: str) -> None:
    """Run `ralph` until it is about to do that for the nth time."""
    command = [sys.executable, "-P", "-c", DOOMED, where, str(turn), *words]
    done = subprocess.run(command, cwd=place.root, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr


def three(place: Place) -> tuple[str, ...]:
    """The words that start a loop of three iterations."""
    return ("run", LONG, place.cassette(*([step] for step in NUMBERED)), DONE, "--sandbox=none")


def counted(place: Place, loop_id: str = "") -> list[int]:
    return [event["iteration"] for event in place.events("iteration.finished", loop_id) if event["counted"]]


def successor(place: Place, old: str) -> str:
    (new,) = set(place.loops()) - {old}
    return new


@pytest.mark.parametrize(
    ("where", "turn", "discarded"),
    [
        ("store.registry:OpenRegistry.register_loop", 1, []),
        ("runtime.starting:driving", 1, []),
        ("runtime.driver:Driver.run", 1, []),
        ("runtime.checking:run", 1, []),
        ("core.evidence:finished", 1, []),
        ("runtime.attempt:run", 2, []),
        ("agents.replay:ReplayAgent.work", 2, [2]),
        ("runtime.attempt:_Attempt.observed", 2, [2]),
        ("runtime.checking:run", 3, [2]),
        ("core.evidence:finished", 3, [2]),
        ("runtime.settling:Settling.settle", 2, [2]),
        ("store.checkpoints:_write", 2, [3]),
        ("store.checkpoints:prune", 2, [3]),
        ("store.writer:write_record", 2, [3]),
        ("runtime.settling:Settling._look_for_anomalies", 3, []),
        ("runtime.closing:deliver", 1, []),
        ("runtime.closing:receipt", 1, []),
        ("store.writer:LoopWriter.move", 2, []),
    ],
)
def test_killed_anywhere_it_goes_on_and_comes_to_the_same(
    place: Place, where: str, turn: int, discarded: list[int]
) -> None:
    killed(place, where, turn, *three(place))
    done = place.ralph("resume", place.loop)
    assert done.returncode == 0, done.stdout + done.stderr
    assert counted(place) == [1, 2, 3]
    (adopted,) = place.events("loop.adopted")
    assert [adopted[key] for key in ("discarded_iteration",) if key in adopted] == discarded
    assert (place.receipt()["proof"], place.receipt()["iterations"]) == ("red-to-green", 3)
    assert (place.read()["status"], place.slots(), kept_requests()) == ("completed", [], [])
    assert [event["passed"] for event in place.events("check.finished") if event["iteration"] == 0] == [False]
    assert place.events()[-1]["type"] == "loop.finished"
    records = sorted((place.directory() / "iterations").iterdir())
    assert [json.loads(record.read_text())["number"] for record in records] == [1, 2, 3]
    points = sorted(path.name for path in (place.directory() / "checkpoints").glob("iteration-*"))
    assert points == [f"iteration-00{number}.json.gz" for number in (1, 2, 3)]


@pytest.mark.parametrize("where", ["store.writer:begin_journal", "store.vouch:Voucher.code"])
def test_killed_before_it_began_it_leaves_nothing_in_the_way(place: Place, where: str) -> None:
    killed(place, where, 1, *three(place))
    assert len(place.loops()) == 1
    assert place.ralph(*three(place)).returncode == 0
    assert (place.receipt()["task"][:10], counted(place)) == ("make three", [1, 2, 3])


def test_killed_after_its_end_it_holds_no_slot_and_is_not_begun_again(place: Place) -> None:
    killed(place, "store.registry:OpenRegistry.deregister_loop", 1, *three(place))
    assert place.read()["status"] == "completed"
    again = place.ralph("resume", place.loop)
    assert (again.returncode, "is completed" in again.stderr) == (1, True)
    assert json.loads(place.ralph("status", "--check-stale", "--json").stdout)["slots_used"] == 0
    assert place.slots() == []


def test_killed_again_and_again_it_still_counts_each_iteration_once(place: Place) -> None:
    killed(place, "runtime.attempt:_Attempt.observed", 2, *three(place))
    for _ in range(3):
        killed(place, "runtime.attempt:_Attempt.observed", 1, "resume", place.loop)
    assert place.ralph("resume", place.loop).returncode == 0
    assert counted(place) == [1, 2, 3]
    kept = {path.name for path in (place.directory() / "prompts").glob("iteration-002*")}
    assert kept == {"iteration-002.md", *(f"iteration-002.attempt-{number}.md" for number in (1, 2, 3, 4))}
    assert [event.get("discarded_iteration") for event in place.events("loop.adopted")] == [2, 2, 2, 2]


# A kill is nobody's decision


def test_a_kill_does_not_answer_for_a_human(place: Place) -> None:
    blocked = {"result": {"status": "blocked", "blocker": "which colour?"}}
    agent = place.cassette([NUMBERED[0], blocked], [NUMBERED[2]])
    killed(place, "runtime.driver:Driver.pause", 1, "run", "make it", agent, DONE, "--sandbox=none")
    paused = place.ralph("resume", place.loop)
    assert (paused.returncode, place.read()["pause_reason"], counted(place)) == (8, "blocked", [1])
    assert place.ralph("resume", place.loop).returncode == 0
    assert counted(place) == [1, 2]


def test_a_kill_does_not_forgive_an_agent_its_failures(place: Place) -> None:
    agent = place.cassette([{"exit": 7}], then="repeat-last")
    killed(place, "runtime.attempt:run", 3, "run", "make it", agent, DONE, "--sandbox=none")
    done = place.ralph("resume", place.loop)
    assert (done.returncode, place.read()["status"], counted(place)) == (6, "failed", [1, 2, 3])


@pytest.mark.parametrize("stop", ["kill", "pause"])
def test_the_control_is_not_made_again_once_there_was_work(place: Place, stop: str) -> None:
    """A check that could not be run at first, and would be green now, has still not been green before the work."""
    made = {"write": "check.sh", "content": "#!/bin/sh\ntest -s three\n", "mode": "755"}
    agent = place.cassette([made], [NUMBERED[2]])
    words = ("run", "write check.sh and three", agent, "--until=./check.sh", "--sandbox=none")
    killed(place, "runtime.attempt:_Attempt.observed", 2, *words)
    if stop == "pause":
        assert place.ralph("pause", place.loop).returncode == 0
    done = place.ralph("resume", place.loop)
    assert done.returncode == 0, done.stdout + done.stderr
    assert place.receipt()["proof"] == "red-to-green"
    assert [event["passed"] for event in place.events("check.finished") if event["iteration"] == 0] == [False]


# Continued by a new loop


@pytest.mark.parametrize("how", ["failed", "aborted", "crashed"])
def test_a_loop_that_ended_is_continued_by_a_new_one(place: Place, how: str) -> None:
    words = three(place)
    if how == "failed":
        assert place.ralph(*words, "-n2").returncode == 4
    else:
        killed(place, "runtime.attempt:run", 3, *words)
    old = place.loop
    if how == "aborted":
        assert place.ralph("abort", old).returncode == 0
    if how == "crashed":
        check_stale_loops(place.state, time=lambda: datetime.now(UTC) + timedelta(hours=1))
        assert place.slots() == [old]
    assert place.read(old)["status"] == how
    done = place.ralph("resume", old, "--max-iterations", "9")
    assert done.returncode == 0, done.stdout + done.stderr
    new = successor(place, old)
    assert (place.read(old)["resumed_as"], place.read(new)["resumed_from"]) == (new, old)
    assert (place.read(new)["iteration"], counted(place, new)) == (3, [3])
    assert place.read(new)["allowance"]["iterations"] == 9
    assert (place.receipt(new)["proof"], place.slots()) == ("red-to-green", [])
    again = place.ralph("resume", old)
    assert (again.returncode, f"{new} is completed" in again.stderr) == (1, True)


@pytest.mark.parametrize(
    "where",
    [
        "store.registry:OpenRegistry.register_loop",
        "model.events:LoopContinued",
        "runtime.starting:_bring_control",
        "runtime.driver:Driver.run",
    ],
)
def test_killed_while_it_takes_over_the_new_loop_goes_on_with_the_old_control(place: Place, where: str) -> None:
    assert place.ralph(*three(place), "-n2").returncode == 4
    old = place.loop
    place.write("three", "somebody else has made it meanwhile")
    killed(place, where, 1, "resume", old, "-n9")
    done = place.ralph("resume", old, "-n9")
    assert done.returncode == 0, done.stdout + done.stderr
    new = successor(place, old)
    assert (place.read(new)["iteration"], place.receipt(new)["proof"]) == (3, "red-to-green")
    assert place.read(old)["resumed_as"] == new
    assert place.slots() == []


def test_a_check_that_could_not_be_run_is_tried_again_by_the_loop_that_takes_over(place: Place) -> None:
    agent = place.cassette([NUMBERED[2]])
    tool = place.beside / "tool"
    until = f"--until={tool} && test -s three"
    assert place.run("make it", agent, until).returncode == 8
    old = place.loop
    assert place.ralph("abort", old).returncode == 0
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    done = place.ralph("resume", old)
    assert done.returncode == 0, done.stdout + done.stderr
    assert place.receipt(successor(place, old))["proof"] == "red-to-green"


def test_limits_can_be_raised_in_place_too(place: Place) -> None:
    words = three(place)
    killed(place, "runtime.attempt:_Attempt.observed", 1, *words, "-n1")
    assert place.ralph("resume", place.loop, "--max-iterations", "9").returncode == 0
    assert (place.read()["allowance"]["iterations"], place.read()["configuration"]["max_iterations"]) == (9, 9)
    assert counted(place) == [1, 2, 3]


# Who may go on


def test_of_two_who_resume_at_once_one_runs_it_and_the_other_is_refused(place: Place) -> None:
    agent = place.script(HELD, "echo x > three")
    with place.running("make it", agent, DONE) as first:
        place.holding()
        first.kill()
        first.wait()
    (place.beside / "holding").unlink()
    (place.beside / "go").unlink()
    with place.running(place.loop, verb="resume") as one, place.running(place.loop, verb="resume") as other:
        wait_for(lambda: one.poll() is not None or other.poll() is not None, "one of them is refused")
        refused, runs = (one, other) if one.poll() is not None else (other, one)
        code, _, why = ended(refused)
        assert (code, "locked by process" in why) == (7, True), why
        place.let_go()
        assert ended(runs)[0] == 0
    assert (counted(place), len(place.events("loop.adopted"))) == ([1], 1)


def test_a_completed_loop_is_not_taken_up(place: Place) -> None:
    assert place.ralph(*three(place)).returncode == 0
    before = place.events()
    done = place.ralph("resume", place.loop, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["kind"] == "illegal_transition"
    assert place.events() == before


def test_a_loop_that_came_with_a_copy_is_not_taken_up(place: Place) -> None:
    killed(place, "runtime.attempt:run", 2, *three(place))
    copy = Place(place.beside / "elsewhere")
    shutil.copytree(place.root, copy.root, dirs_exist_ok=True)
    done = copy.ralph("resume", copy.loop)
    assert (done.returncode, "was not started by you" in done.stderr) == (1, True)
    assert not (copy.root / "two").exists()
    assert copy.events() == place.events()


def test_a_task_that_was_changed_is_not_worked_on(place: Place) -> None:
    killed(place, "runtime.attempt:run", 2, *three(place))
    task = place.directory() / "task.md"
    task.write_text(LONG.replace("time", "money"))
    done = place.ralph("resume", place.loop)
    assert (done.returncode, "was changed or lost" in done.stderr) == (1, True)
    assert counted(place) == [1]
    task.write_text(LONG)
    assert place.ralph("resume", place.loop).returncode == 0


# Wishes that outlive the runner


def test_a_wish_to_pause_dies_with_the_runner_and_does_not_stop_who_resumes(place: Place) -> None:
    agent = place.script(HELD, "echo x > three")
    with place.running("make it", agent, DONE) as process:
        place.holding()
        assert place.ralph("pause", place.loop).returncode == 0
        assert kept_requests() != []
        process.kill()
        process.wait()
    done = place.ralph("resume", place.loop)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (kept_requests(), place.events("status.changed")[0]["to"]) == ([], "completing")


def test_a_wish_to_abort_is_obeyed_by_whoever_comes_next(place: Place) -> None:
    killed(place, "runtime.attempt:run", 2, *three(place))
    requests.leave(place.state, place.loop, new_request("abort"))
    done = place.ralph("resume", place.loop)
    assert (done.returncode, place.read()["status"]) == (1, "aborted"), done.stderr
    assert (place.slots(), kept_requests(), counted(place)) == ([], [], [1])


def test_a_loop_that_was_paused_goes_on_in_place(place: Place) -> None:
    killed(place, "runtime.attempt:run", 2, *three(place))
    assert place.ralph("pause", place.loop).returncode == 0
    assert (place.read()["pause_reason"], place.slots()) == ("user", [place.loop])
    assert place.ralph("resume", place.loop).returncode == 0
    assert [event["to"] for event in place.events("status.changed")] == ["paused", "running", "completing", "completed"]
    assert counted(place) == [1, 2, 3]


def test_no_bell_is_left_by_a_loop_that_was_killed_and_resumed(place: Place, own_porch: Path) -> None:
    killed(place, "runtime.attempt:run", 2, *three(place))
    assert len(os.listdir(own_porch)) == 1  # noqa: PTH208  names are enough
    assert place.ralph("resume", place.loop).returncode == 0
    assert os.listdir(own_porch) == []  # noqa: PTH208
