"""`ralph work`: source 002's loop over real tasks, in real rooms, with real commits."""

import json
import signal
import time
from pathlib import Path

import pytest

from runtime.queues import AGENT, PATIENCE, Queue, started, wait_for
from untilproven.config.trust import trust_commands


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    return Queue(tmp_path)


def test_tasks_are_done_in_order_and_each_commit_has_its_status(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.add("make b", "--file-exists=b.txt", "--priority=3")
    queue.add("make c", "--until=test -e c.txt", "--blocked-by=RALPH-001", "--priority=9")
    done = queue.work()
    assert done.returncode == 0, done.stdout + done.stderr
    assert queue.subjects() == ["RALPH-002: make b", "RALPH-001: make a", "RALPH-003: make c"]
    for commit, task in (("HEAD~2", "RALPH-002"), ("HEAD~1", "RALPH-001"), ("HEAD", "RALPH-003")):
        lines = [json.loads(line) for line in queue.committed(".aiwg/ralph/tasks.jsonl", commit).splitlines()]
        assert (lines[-1]["id"], lines[-1]["changes"]["status"]) == (task, "done")
        assert f"Ralph-Task: {task}" in queue.git("log", "-1", "--format=%B", commit)
    assert queue.git("status", "--porcelain").splitlines() == [" M README"]
    assert queue.place.ralph("verify", "HEAD").returncode == 0


def test_a_task_that_fails_leaves_no_trace_but_its_record(queue: Queue) -> None:
    queue.add("spoil it", "--until=test -e never", "--max-iterations=2")
    queue.add("make a", "--until=test -e a.txt")
    done = queue.work()
    assert done.returncode == 1, done.stdout + done.stderr
    assert queue.statuses() == {"RALPH-001": "blocked", "RALPH-002": "done"}
    assert "limit of iterations" in queue.tasks()["RALPH-001"]["blocker"]
    assert not (queue.place.root / "junk.txt").exists()
    assert queue.git("status", "--porcelain").splitlines() == [" M README"]
    assert queue.subjects()[1] == "RALPH-002: make a"
    loop = queue.tasks()["RALPH-001"]["loop"]
    assert queue.place.ralph("restore", loop, "best", "--dry-run").stdout.count("junk.txt") == 1


def test_what_would_wait_for_a_human_is_blocked_and_the_rest_goes_on(queue: Queue) -> None:
    queue.add("ask me", "--until=test -e never")
    queue.add("make a", "--until=test -e a.txt")
    done = queue.work()
    assert done.returncode == 1, done.stdout + done.stderr
    assert queue.statuses() == {"RALPH-001": "blocked", "RALPH-002": "done"}
    assert "which colour?" in queue.tasks()["RALPH-001"]["blocker"]
    before = queue.tasks()["RALPH-001"]["loop"]
    queue.place.ralph("task", "unblock", "RALPH-001")
    assert queue.work().returncode == 1
    after = queue.tasks()["RALPH-001"]["loop"]
    state = json.loads((queue.place.root / f".aiwg/ralph/loops/{after}/state.json").read_text())
    assert state["resumed_from"] == before


def test_commands_that_came_with_the_repository_are_not_run(queue: Queue) -> None:
    line = {"id": "T-1", "title": "make a", "completion": {"type": "command", "command": "touch /var/tmp/pwned"}}
    queue.place.write("tasks.jsonl", json.dumps(line) + "\n")
    done = queue.work()
    assert done.returncode == 1
    assert "nobody has trusted" in done.stdout
    assert "says why" not in done.stdout, "the list does not know of trust"
    assert queue.statuses() == {"T-1": "pending"}
    assert queue.subjects() == []


def test_a_task_that_nothing_can_prove_is_not_done_by_word(queue: Queue) -> None:
    queue.add("make a")
    done = queue.work()
    assert done.returncode == 1, done.stdout + done.stderr
    assert queue.statuses() == {"RALPH-001": "blocked"}
    assert "nothing says when it is done" in queue.tasks()["RALPH-001"]["blocker"]


def test_an_agent_that_cannot_start_blocks_no_task(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    done = queue.place.ralph("work", "--agent-cmd=/nowhere/agent", "--sandbox=overlay")
    assert done.returncode in {2, 6}, done.stdout + done.stderr
    assert queue.statuses() == {"RALPH-001": "pending"}


@pytest.mark.parametrize("words", [("--max-tasks=1",), ("--queue-max-tasks=1",), ("--max-tasks=1", "--parallel=2")])
def test_the_limit_of_a_run_ends_it_with_its_own_code(queue: Queue, words: tuple[str, ...]) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.add("make b", "--until=test -e b.txt")
    done = queue.work(*words)
    assert done.returncode == 4, done.stdout + done.stderr
    assert queue.statuses() == {"RALPH-001": "done", "RALPH-002": "pending"}
    assert queue.work().returncode == 0


def test_a_failure_can_end_the_run_or_be_tried_once_more(queue: Queue) -> None:
    queue.add("spoil it", "--until=test -e never", "--max-iterations=1")
    queue.add("make a", "--until=test -e a.txt")
    assert queue.work("--on-failure=stop").returncode == 1
    assert queue.statuses() == {"RALPH-001": "blocked", "RALPH-002": "pending"}
    queue.place.ralph("task", "unblock", "RALPH-001")
    assert queue.work("--on-failure=retry").returncode == 1
    assert queue.statuses() == {"RALPH-001": "blocked", "RALPH-002": "done"}
    lines = (queue.place.root / ".aiwg/ralph/tasks.jsonl").read_text().splitlines()
    begun = [line for line in lines if '"RALPH-001"' in line and '"in_progress"' in line]
    assert len(begun) == 3


def test_dry_run_shows_the_order_and_the_checks_and_runs_nothing(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.add("make b", "--until=test -e b.txt", "--priority=1")
    done = queue.work("--dry-run")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "RALPH-002  make b",
        "    test -e b.txt",
        "RALPH-001  make a",
        "    test -e a.txt",
    ]
    assert queue.statuses() == {"RALPH-001": "pending", "RALPH-002": "pending"}


def test_one_task_alone(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.add("make b", "--until=test -e b.txt")
    assert queue.work("--task=RALPH-002").returncode == 0
    assert queue.statuses() == {"RALPH-001": "pending", "RALPH-002": "done"}
    assert queue.work("--task=RALPH-009").returncode == 2


def test_a_second_run_at_the_same_time_is_refused(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.acts("sleep 3\n" + AGENT)
    with started(queue) as first:
        wait_for(queue, "in_progress")
        assert queue.work().returncode == 7
        assert first.wait(PATIENCE) == 0
    assert queue.statuses() == {"RALPH-001": "done"}


@pytest.mark.parametrize("side_by_side", [1, 2])
def test_a_killed_run_goes_on_with_the_task_it_was_at(queue: Queue, side_by_side: int) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.add("make b", "--until=test -e b.txt")
    queue.acts('test -e "$HOME/quick" || sleep 60\n' + AGENT)
    with started(queue, f"--parallel={side_by_side}") as first:
        wait_for(queue, "in_progress")
        time.sleep(0.5)
        first.send_signal(signal.SIGKILL)
        first.wait()
    before = queue.tasks()["RALPH-001"]["loop"]
    queue.acts(AGENT)
    done = queue.work()
    assert done.returncode == 0, done.stdout + done.stderr
    assert queue.tasks()["RALPH-001"]["loop"] == before
    assert sorted(queue.subjects()) == ["RALPH-001: make a", "RALPH-002: make b"]


def test_side_by_side_each_has_its_commit_and_nothing_else(queue: Queue) -> None:
    names = "abcdef"
    for name in names:
        queue.add(f"make {name}", f"--until=test -e {name}.txt")
    done = queue.work("--parallel=3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(queue.subjects()) == [f"RALPH-00{place}: make {name}" for place, name in enumerate(names, start=1)]
    for place, name in enumerate(names, start=1):
        commit = queue.git("log", "--format=%H", f"--grep=^Ralph-Task: RALPH-00{place}$").strip()
        changed = queue.git("show", "--format=", "--name-only", commit).split()
        assert [path for path in changed if path.endswith(".txt")] == [f"{name}.txt"]
        last = json.loads(queue.committed(".aiwg/ralph/tasks.jsonl", commit).splitlines()[-1])
        assert last["id"] == f"RALPH-00{place}" or '"done"' in queue.committed(".aiwg/ralph/tasks.jsonl", commit)
    assert queue.git("status", "--porcelain").splitlines() == [" M README"]


def test_two_that_change_the_same_file_are_merged_and_checked_again(queue: Queue) -> None:
    queue.place.write("list", "".join(f"{number}\n" for number in range(20)))
    queue.git("add", "list")
    queue.git("commit", "-qm", "a list")
    queue.acts(
        'prompt=$(cat)\ncase "$prompt" in\n'
        '*first*) sed -i "1s/.*/first/" list;;\n*last*) sed -i "20s/.*/last/" list;;\nesac\nsleep 1\n'
    )
    queue.add("change the first", "--until=grep -q first list")
    queue.add("change the last", "--until=grep -q last list")
    done = queue.work("--parallel=2")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (queue.place.root / "list").read_text().splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("first", "last", 20)
    assert queue.committed("list").splitlines() == lines
    assert sorted(queue.subjects()) == ["RALPH-001: change the first", "RALPH-002: change the last", "a list"]


def test_trust_is_for_the_project_it_was_given_in(queue: Queue, tmp_path: Path) -> None:
    trust_commands(tmp_path / "elsewhere", ["true"])
    queue.place.write(
        "tasks.jsonl", '{"id": "T-1", "title": "x", "completion": {"type": "command", "command": "true"}}\n'
    )
    assert "nobody has trusted" in queue.work().stdout


def test_ctrl_c_ends_the_run_though_the_task_at_hand_is_proven_by_its_iteration(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.add("make b", "--until=test -e b.txt")
    queue.acts("sleep 3\n" + AGENT)
    with started(queue) as run:
        wait_for_iteration(queue)
        run.send_signal(signal.SIGINT)
        assert run.wait(PATIENCE) == 130
    assert queue.statuses() == {"RALPH-001": "done", "RALPH-002": "pending"}
    queue.acts(AGENT)
    assert queue.work().returncode == 0


def wait_for_iteration(queue: Queue) -> None:
    deadline = time.monotonic() + PATIENCE
    journals = (queue.place.root / ".aiwg/ralph/loops").glob
    while not any(b"iteration.started" in path.read_bytes() for path in journals("*/events.jsonl")):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_is_wrong_with_one_task_does_not_keep_the_others(queue: Queue) -> None:
    place = {"type": "file_exists", "path": "never"}
    lines = [
        {"id": "T-1", "title": "no line", "completion": {"type": "command", "command": " "}},
        {"id": "T-2", "title": "too much", "spec": "spec.md", "completion": place, "limits": {"maxIterations": 1}},
        {"id": "T-3", "title": "make a", "completion": {"type": "file_exists", "path": "a.txt"}},
    ]
    queue.place.write("spec.md", "x" * (5 * 1024 * 1024))
    queue.place.write("tasks.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    trust_commands(queue.place.root, [" "])
    done = queue.work()
    assert queue.statuses() == {"T-1": "pending", "T-2": "blocked", "T-3": "done"}, done.stdout + done.stderr
    assert "T-1 cannot be checked" in done.stdout
    prompts = queue.place.root / ".aiwg/ralph/loops" / queue.tasks()["T-2"]["loop"] / "prompts"
    assert any("could not be read" in path.read_text() for path in prompts.iterdir())


def test_who_is_passed_over_is_told_what_to_do(queue: Queue) -> None:
    queue.add("make a")
    queue.place.write(
        ".aiwg/ralph/tasks.jsonl",
        (queue.place.root / ".aiwg/ralph/tasks.jsonl").read_text()
        + '{"id": "T-1", "title": "x", "completion": {"type": "command", "command": "true"}}\n',
    )
    said = queue.work().stdout
    assert "ralph task edit RALPH-001 --until CMD, then ralph task unblock RALPH-001" in said
    assert "look at it and allow it: ralph trust" in said
    assert "ralph task list says why" in said


@pytest.mark.parametrize("on_failure", ["continue", "retry"])
def test_a_run_that_goes_on_takes_up_what_was_unblocked_meanwhile(queue: Queue, on_failure: str) -> None:
    queue.add("spoil it", "--until=test -e junk.txt", "--max-iterations=1", "--priority=9")
    queue.add("make a", "--until=test -e a.txt")
    queue.acts('case "$(cat)" in *"make "*) sleep 60;; esac\n')
    with started(queue, f"--on-failure={on_failure}") as run:
        deadline = time.monotonic() + PATIENCE
        while queue.statuses() != {"RALPH-001": "blocked", "RALPH-002": "in_progress"}:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        run.kill()
        run.wait()
    queue.place.ralph("task", "unblock", "RALPH-001")
    queue.acts(AGENT)
    done = queue.work(f"--on-failure={on_failure}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert queue.statuses() == {"RALPH-001": "done", "RALPH-002": "done"}


def test_no_loop_goes_on_with_a_task_that_another_works_on_or_nobody_wants(queue: Queue) -> None:
    queue.add("spoil it", "--until=test -e never", "--max-iterations=1")
    assert queue.work().returncode == 1
    old = queue.tasks()["RALPH-001"]["loop"]
    queue.place.ralph("task", "unblock", "RALPH-001")
    queue.acts("sleep 60\n")
    with started(queue):
        wait_for(queue, "in_progress")
        refused = queue.place.ralph("resume", old, "--max-iterations=5")
        assert (refused.returncode, "works on RALPH-001" in refused.stderr) == (7, True), refused.stderr
    queue.place.ralph("task", "cancel", "RALPH-001")
    refused = queue.place.ralph("resume", old, "--max-iterations=5")
    assert (refused.returncode, "RALPH-001 is cancelled" in refused.stderr) == (2, True), refused.stderr
    loops = [path.name for path in (queue.place.root / ".aiwg/ralph/loops").iterdir()]
    assert len(loops) == 2, "a loop was begun that nobody runs"


def test_a_loop_that_was_never_here_keeps_no_task_from_being_worked_on(queue: Queue) -> None:
    made = {"type": "file_exists", "path": "a.txt"}
    line = {"id": "T-1", "title": "make a", "status": "blocked", "loop": "../../x", "completion": made}
    queue.place.write("tasks.jsonl", json.dumps(line) + "\n")
    unblocked = queue.place.ralph("task", "unblock", "T-1")
    assert unblocked.returncode == 0, unblocked.stderr
    done = queue.work()
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("written", [None, b"", b'{"v": 1, "ts": "2026-'])
def test_a_task_whose_runner_was_killed_before_its_loop_had_begun_is_begun_anew(
    queue: Queue, written: bytes | None
) -> None:
    queue.add("make a", "--until=test -e a.txt")
    task = queue.tasks()["RALPH-001"] | {"status": "in_progress", "loop": "ralph-001-make-a-44f967e1"}
    queue.place.write("tasks.jsonl", json.dumps(task) + "\n")
    loop = queue.place.root / ".aiwg/ralph/loops" / task["loop"]
    (loop / "iterations").mkdir(parents=True)
    if written is not None:
        (loop / "events.jsonl").write_bytes(written)
    done = queue.work()
    assert done.returncode == 0, done.stdout + done.stderr
    assert queue.statuses() == {"RALPH-001": "done"}
    assert not loop.exists()


def test_a_loop_that_cannot_be_read_keeps_its_own_task_alone(queue: Queue) -> None:
    queue.add("spoil it", "--until=test -e never", "--max-iterations=1", "--priority=9")
    queue.work()
    queue.place.ralph("task", "unblock", "RALPH-001")
    loop = queue.place.root / ".aiwg/ralph/loops" / queue.tasks()["RALPH-001"]["loop"]
    for path in loop.rglob("*"):
        if path.is_file():
            path.write_bytes(b"\0" * path.stat().st_size)
    queue.add("make a", "--until=test -e a.txt")
    done = queue.work()
    assert queue.statuses() == {"RALPH-001": "pending", "RALPH-002": "done"}, done.stdout + done.stderr
    assert "cannot be read" in done.stdout
