"""Tasks side by side that change the same lines: the agent is told once, and then it is a human's."""

import time
from pathlib import Path

import pytest

from runtime.queues import PATIENCE, Queue, started

MEETS = """\
prompt=$(cat)
case "$prompt" in
*"task RALPH-001"*) name=first;;
*) name=second;;
esac
case "$prompt" in
*"What is to be done now"*) {again};;
*) echo "$name" > line; sleep 3;;
esac
"""


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    queue = Queue(tmp_path)
    queue.place.write("line", "nothing\n")
    queue.git("add", "line")
    queue.git("commit", "-qm", "a line")
    queue.add("write first", "--until=grep -q first line")
    queue.add("write second", "--until=grep -q second line")
    return queue


def test_a_conflict_goes_back_to_the_agent_which_brings_both_together(queue: Queue) -> None:
    queue.acts(MEETS.format(again='echo "$name" >> line'))
    done = queue.work("--parallel=2")
    assert done.returncode == 0, done.stdout + done.stderr
    both = (queue.place.root / "line").read_text().split()
    assert sorted(both) == ["first", "second"]
    assert queue.committed("line").split() == both
    assert queue.git("show", "HEAD~1:line").split() == both[:1]
    told = [
        prompt
        for prompt in (queue.place.root / ".aiwg/ralph/loops").glob("*/prompts/iteration-002.md")
        if f"Your version of line was:\n\n```\n{both[1]}\n```" in prompt.read_text()
    ]
    assert len(told) == 1
    assert queue.git("status", "--porcelain").splitlines() == [" M README"]


def test_a_conflict_that_comes_again_is_a_humans(queue: Queue) -> None:
    """While the agent works on the line, and again while it is to bring both together, the user changes it."""
    line, loops = queue.place.root / "line", queue.place.root / ".aiwg/ralph/loops"
    queue.acts("echo first > line\necho at work\nsleep 3\n")
    with started(queue, "--task=RALPH-001") as work:
        for number in (1, 2):
            wait_for_a_file(loops, f"*/outputs/iteration-00{number}.stdout.log")
            line.write_text(f"mine {number}\n")
        assert work.wait(PATIENCE) == 1
    task = queue.tasks()["RALPH-001"]
    assert task["status"] == "blocked"
    assert "you changed line while the agent worked on it: yours stays" in task["blocker"]
    assert line.read_text() == "mine 2\n"
    assert queue.committed("line") == "nothing\n"
    assert not [*loops.glob("*/prompts/iteration-003.md")]
    kept = Path(task["blocker"].partition("the agent's version is in ")[2])
    assert (kept / "line").read_text() == "first\n"


def wait_for_a_file(place: Path, pattern: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not [*place.glob(pattern)]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
