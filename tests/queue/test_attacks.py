"""What happens to a run of the queue while nobody looks: files that change under it, repositories in odd states."""

import json
import time
from pathlib import Path

import pytest

from runtime.queues import AGENT, PATIENCE, Queue, started, wait_for

SLOW = "sleep 2\n" + AGENT


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    return Queue(tmp_path)


def test_a_checkout_of_the_task_file_while_it_is_worked_on_loses_nothing(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.git("add", ".aiwg")
    queue.git("commit", "-qm", "tasks")
    queue.acts(SLOW)
    with started(queue) as work:
        while not [*(queue.place.root / ".aiwg/ralph/loops").glob("*/prompts/*")]:
            time.sleep(0.02)
        queue.git("checkout", "--", ".aiwg/ralph/tasks.jsonl")
        assert queue.statuses() == {"RALPH-001": "pending"}
        assert work.wait(PATIENCE) == 0
    assert queue.statuses() == {"RALPH-001": "done"}
    assert queue.subjects()[-1] == "RALPH-001: make a"


@pytest.mark.parametrize("side_by_side", [1, 2])
def test_a_task_that_is_taken_away_meanwhile_is_not_committed(queue: Queue, side_by_side: int) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.add("make b", "--until=test -e b.txt", "--priority=-1")
    queue.add("make c", "--until=test -e c.txt", "--blocked-by=RALPH-002")
    queue.acts(SLOW)
    with started(queue, f"--parallel={side_by_side}") as work:
        wait_for(queue, "in_progress")
        assert queue.place.ralph("task", "cancel", "RALPH-001").returncode == 0
        assert work.wait(PATIENCE) == 0
    assert queue.statuses() == {"RALPH-001": "cancelled", "RALPH-002": "done", "RALPH-003": "done"}
    assert queue.subjects() == ["RALPH-002: make b", "RALPH-003: make c"]
    assert not (queue.place.root / "a.txt").exists()


@pytest.mark.parametrize("words", ["--until=test -e strict.txt", "--never-touch=a.*"])
def test_a_task_that_must_be_proven_otherwise_meanwhile_is_not_done_by_what_it_was_begun_with(
    queue: Queue, words: str
) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.acts(SLOW)
    with started(queue) as work:
        wait_for(queue, "in_progress")
        assert queue.place.ralph("task", "edit", "RALPH-001", words).returncode == 0
        assert work.wait(PATIENCE) == 1
    assert queue.statuses() == {"RALPH-001": "blocked"}
    assert "changed since it was begun" in queue.tasks()["RALPH-001"]["blocker"]
    assert not (queue.place.root / "a.txt").exists()
    queue.place.ralph("task", "edit", "RALPH-001", "--until=test -e a.txt", "--never-touch=")
    queue.place.ralph("task", "unblock", "RALPH-001")
    assert queue.work().returncode == 0


def test_a_task_that_is_done_by_somebodys_word_is_worked_on_no_more(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.acts("sleep 60\n")
    with started(queue) as work:
        wait_for(queue, "in_progress")
        time.sleep(0.5)
        work.kill()
        work.wait()
    assert queue.place.ralph("task", "done", "RALPH-001").returncode == 0
    queue.acts(AGENT)
    done = queue.work()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "proven" not in done.stdout, done.stdout
    assert "RALPH-001 is done by now" in done.stdout
    assert queue.subjects() == []


def test_other_words_for_a_task_that_is_worked_on_do_not_disturb_it(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt", "--file-exists=a.txt", "--never-touch=b.*")
    queue.acts(SLOW)
    with started(queue) as work:
        wait_for(queue, "in_progress")
        assert queue.place.ralph("task", "edit", "RALPH-001", "--description=soon", "--priority=3").returncode == 0
        assert work.wait(PATIENCE) == 0
    assert queue.statuses() == {"RALPH-001": "done"}


def test_a_task_that_vanishes_meanwhile_is_not_committed_either(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.acts(SLOW)
    with started(queue) as work:
        wait_for(queue, "in_progress")
        (queue.place.root / ".aiwg/ralph/tasks.jsonl").write_text("{this is damaged\n")
        assert work.wait(PATIENCE) == 0
    assert queue.subjects() == []
    assert not (queue.place.root / "a.txt").exists()


def test_a_task_that_is_added_meanwhile_is_worked_on_and_stays_in_the_file(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.acts(SLOW)
    with started(queue) as work:
        wait_for(queue, "in_progress")
        queue.add("make b", "--until=test -e b.txt")
        assert work.wait(PATIENCE) == 0
    assert queue.statuses() == {"RALPH-001": "done", "RALPH-002": "done"}


def test_a_detached_head_and_a_hook_of_the_users(queue: Queue) -> None:
    queue.git("checkout", "-q", "--detach")
    hook = queue.place.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    queue.add("make a", "--until=test -e a.txt")
    done = queue.work()
    assert done.returncode == 0, done.stdout + done.stderr
    assert queue.subjects() == ["RALPH-001: make a"]
    assert queue.git("branch", "--contains", "HEAD", "--format=%(refname)").splitlines()[0].startswith("(HEAD detached")


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    queue.git("update-ref", "-d", "HEAD")
    queue.git("rm", "-qf", "--cached", "-r", ".")
    queue.add("make a", "--until=test -e a.txt")
    queue.add("spoil it", "--until=test -e never", "--max-iterations=1")
    done = queue.work()
    assert done.returncode == 1, done.stdout + done.stderr
    assert queue.git("log", "--reverse", "--format=%s").splitlines() == [
        "RALPH-001: make a",
        "RALPH-002 is blocked: the limit of iterations is reached",
    ]


def test_without_a_repository_tasks_are_done_and_nothing_is_committed(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    (queue.place.root / ".git").rename(tmp_path / "gone")
    queue.add("make a", "--until=test -e a.txt")
    queue.add("spoil it", "--until=test -e never", "--max-iterations=1")
    done = queue.work()
    assert done.returncode == 1, done.stdout + done.stderr
    assert queue.statuses() == {"RALPH-001": "done", "RALPH-002": "blocked"}
    assert (queue.place.root / "a.txt").read_text() == "a\n"
    asked = queue.work("--commit")
    assert asked.returncode in {1, 2}


def test_what_cannot_be_committed_now_is_not_called_done_and_is_committed_later(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    (queue.place.root / ".git/MERGE_HEAD").write_text(queue.git("rev-parse", "HEAD"))
    done = queue.work()
    assert done.returncode == 8, done.stdout + done.stderr
    assert queue.statuses() == {"RALPH-001": "in_progress"}
    (queue.place.root / ".git/MERGE_HEAD").unlink()
    queue.acts("exit 9\n")
    assert queue.work().returncode == 0
    assert queue.statuses() == {"RALPH-001": "done"}
    assert queue.subjects() == ["RALPH-001: make a"]


@pytest.mark.parametrize("side_by_side", [1, 3])
def test_without_a_free_slot_nothing_begins(queue: Queue, side_by_side: int) -> None:
    queue.add("make a", "--until=test -e a.txt")
    hold_four(queue)
    done = queue.work(f"--parallel={side_by_side}")
    assert done.returncode == 7, done.stdout + done.stderr
    assert queue.statuses() == {"RALPH-001": "pending"}


def hold_four(queue: Queue) -> None:
    """Four loops that wait for a human."""
    agent = queue.agent.with_name("asks.sh")
    agent.write_text('#!/bin/sh\necho \'{"status":"blocked","blocker":"?"}\' > "$RALPH_RESULT_FILE"\n')
    agent.chmod(0o755)
    for number in range(4):
        words = [f"--agent-cmd={agent}", f"--share={agent}", "--until=test -e x", "--sandbox=overlay"]
        assert queue.place.ralph("run", f"wait {number}", *words, "--no-auto-test").returncode == 8


def test_four_that_were_killed_at_once_go_on_in_their_own_slots(queue: Queue) -> None:
    for name in "abcd":
        queue.add(f"make {name}", f"--until=test -e {name}.txt")
    queue.acts("sleep 30\n" + AGENT)
    with started(queue, "--parallel=4") as work:
        deadline = time.monotonic() + PATIENCE
        while len([*(queue.place.root / ".aiwg/ralph/loops").glob("*/prompts/*")]) < 4:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        work.kill()
    queue.acts(AGENT)
    before = {name: task["loop"] for name, task in queue.tasks().items()}
    done = queue.work("--parallel=4")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {name: task["loop"] for name, task in queue.tasks().items()} == before


def test_the_money_of_a_run_holds_side_by_side(queue: Queue) -> None:
    """Each may spend 2 of the run's 3 dollars: two at once could spend 4."""
    spend = '{"status":"continue","reason":"more","usage":{"cost_usd":1}}'
    queue.acts(f"echo '{spend}' > $RALPH_RESULT_FILE; sleep 1\n")
    for _ in range(3):
        queue.add("never", "--until=test -e never")
    done = queue.work("--parallel=3", "--queue-max-cost=3", "--task-max-cost=2")
    assert done.returncode == 4, done.stdout + done.stderr
    lines = (queue.place.root / ".aiwg/ralph/learning.jsonl").read_text().splitlines()
    ends = [json.loads(line) for line in lines if "task_completed" in line]
    assert sum(end["costUsd"] for end in ends) == 3


def test_a_run_whose_cost_cannot_be_known_does_not_go_on_as_if_it_were_nothing(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.add("make b", "--until=test -e b.txt")
    done = queue.work("--queue-max-cost=3")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "nobody knows how much" in done.stdout
    assert queue.statuses()["RALPH-002"] == "pending"


@pytest.mark.parametrize(("title", "until", "code"), [("make a", "test -e a.txt", 0), ("spoil it", "test -e never", 1)])
def test_the_end_of_a_task_that_only_its_commit_tells_of_is_taken_from_there(
    queue: Queue, title: str, until: str, code: int
) -> None:
    """As it is when the run is killed right after the commit."""
    queue.add(title, f"--until={until}", "--max-iterations=1")
    assert queue.work().returncode == code
    before = queue.git("rev-parse", "HEAD")
    files = {
        path: path.read_bytes()
        for path in (queue.place.root / f".aiwg/ralph/{name}.jsonl" for name in ("tasks", "progress", "learning"))
    }
    for path, data in files.items():
        path.write_bytes(b"".join(data.splitlines(keepends=True)[:-1] if path.name == "tasks.jsonl" else []))
    assert queue.statuses() == {"RALPH-001": "in_progress"}
    assert queue.work().returncode == code
    assert {path: path.read_bytes() for path in files} == files
    assert queue.git("rev-parse", "HEAD") == before
    assert queue.git("status", "--porcelain").splitlines() == [" M README"]


def test_a_queue_that_goes_back_to_an_earlier_commit_does_the_later_work_again(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt")
    queue.add("make b", "--until=test -e b.txt")
    assert queue.work().returncode == 0
    tasks = queue.place.root / ".aiwg/ralph/tasks.jsonl"
    later = tasks.read_bytes().splitlines(keepends=True)[:-1]
    queue.git("reset", "-q", "--hard", "HEAD~1")
    assert queue.statuses() == {"RALPH-001": "done", "RALPH-002": "pending"}
    tasks.write_bytes(b"".join(later))  # as another task's commit would have had it
    assert queue.statuses() == {"RALPH-001": "done", "RALPH-002": "in_progress"}
    done = queue.work()
    assert done.returncode == 0, done.stdout + done.stderr
    assert queue.subjects() == ["RALPH-001: make a", "RALPH-002: make b"]
    assert queue.committed("b.txt") == "b\n"
