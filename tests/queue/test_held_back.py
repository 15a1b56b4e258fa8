"""Work of the queue that was held back: nobody waits for it, and a human can let it through the next morning."""

import json
from pathlib import Path

import pytest

from runtime.queues import AGENT, Queue

TESTS = "def test_a():\n    assert True\n\n\ndef test_b():\n    assert 1 + 1 == 2\n"
DELETES = 'printf "def test_a():\\n    assert True\\n" > test_it.py; echo done > done.txt\n'


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    queue = Queue(tmp_path)
    queue.place.write("test_it.py", TESTS)
    queue.git("add", "test_it.py")
    queue.git("commit", "-qm", "tests")
    queue.acts(f'case "$(cat)" in\n*tidy*) {DELETES};;\n*) echo a > a.txt;;\nesac\n')
    queue.add("tidy up", "--until=test -e done.txt", "--priority=1")
    queue.add("make a", "--until=test -e a.txt")
    done = queue.work()
    assert done.returncode == 1, done.stdout + done.stderr
    return queue


def test_work_that_was_held_back_blocks_its_task_and_can_be_let_through(queue: Queue) -> None:
    assert queue.statuses() == {"RALPH-001": "blocked", "RALPH-002": "done"}
    assert "refused 3 times in a row" in queue.tasks()["RALPH-001"]["blocker"]
    assert (queue.place.root / "test_it.py").read_text() == TESTS
    before = queue.tasks()["RALPH-001"]["loop"]
    assert [gate["loop_id"] for gate in json.loads(queue.place.ralph("gate", "list", "--json").stdout)] == [before]

    queue.acts("echo the agent must not be asked again >&2; exit 9\n")
    approved = queue.place.ralph("gate", "approve", before, "--why", "test_b was no use")
    assert approved.returncode == 0, approved.stderr
    assert queue.statuses()["RALPH-001"] == "pending"
    done = queue.work()
    assert done.returncode == 0, done.stdout + done.stderr
    assert queue.statuses()["RALPH-001"] == "done"
    after = queue.tasks()["RALPH-001"]["loop"]
    state = json.loads((queue.place.root / f".aiwg/ralph/loops/{after}/state.json").read_text())
    assert (state["resumed_from"], state["iteration"]) == (before, 3)
    assert "test_b" not in queue.committed("test_it.py")
    assert queue.committed("done.txt") == "done\n"
    assert queue.subjects()[-1] == "RALPH-001: tidy up"
    receipt = json.loads((queue.place.root / f".aiwg/ralph/loops/{after}/receipt.json").read_text())
    assert receipt["decided"][-1]["decision"] == "approve"


def test_to_let_the_task_go_on_is_to_refuse_what_was_held_back(queue: Queue) -> None:
    queue.acts(AGENT.replace('*"spoil"*) echo junk > junk.txt', "*tidy*) echo done > done.txt"))
    assert queue.place.ralph("task", "unblock", "RALPH-001").returncode == 0
    assert json.loads(queue.place.ralph("gate", "list", "--json").stdout) == []
    done = queue.work()
    assert done.returncode == 0, done.stdout + done.stderr
    assert queue.committed("test_it.py") == TESTS
    assert queue.committed("done.txt") == "done\n"
