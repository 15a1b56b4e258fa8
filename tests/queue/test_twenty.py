"""Twenty tasks, three at a time: what a whole run leaves, exactly; and the same although it is killed ten times."""

import json
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET, UnsetType

from runtime.queues import Queue, started
from untilproven.config.trust import trust_commands
from untilproven.model.task import Command, TaskLimits
from untilproven.store.tasks import book_of

TESTS = "def test_a():\n    assert True\n\n\ndef test_b():\n    assert 1 + 1 == 2\n"
WEAKER = "def test_a():\n    assert True\n"
CENTS = 0.03

Steps = list[dict[str, Any]]


def writes(path: str, content: str = "done\n") -> Steps:
    return [{"usage": {"cost_usd": CENTS}}, {"write": path, "content": content}]


def edits(line: int, word: str) -> Steps:
    return [{"usage": {"cost_usd": CENTS}}, {"run": f"sed -i '{line}s/.*/{word}/' shared"}]


class Given:
    """A task, what its agent does in each iteration, and what is to come of it."""

    def __init__(
        self,
        *scenes: Steps,
        status: str,
        until: str = "",
        blocked_by: tuple[str, ...] = (),
        limits: TaskLimits | UnsetType = UNSET,
        iterations: int = 1,
        because: str = "",
    ) -> None:
        self.scenes, self.status, self.until = scenes, status, until
        self.blocked_by, self.limits = blocked_by, limits
        self.iterations, self.because = iterations, because


def makes(number: int, *blocked_by: str) -> Given:
    path = f"made/{number:02d}"
    return Given(writes(path), status="done", until=f"test -e {path}", blocked_by=blocked_by)


def gives_up(*scenes: Steps, because: str, iterations: int, limits: TaskLimits | UnsetType = UNSET) -> Given:
    return Given(
        *scenes, status="blocked", until="test -e never", limits=limits, because=because, iterations=iterations
    )


def after(*numbers: int) -> tuple[str, ...]:
    return tuple(f"RALPH-{number:03d}" for number in numbers)


GIVEN = {
    **{number: makes(number) for number in range(1, 6)},
    6: makes(6, *after(1)),
    7: makes(7, *after(6)),
    8: makes(8, *after(2, 3)),
    9: gives_up(
        [{"usage": {"cost_usd": CENTS}}, {"result": {"status": "failed", "error": "this cannot be done"}}],
        because="the agent failed 3 times in a row",
        iterations=3,
    ),
    10: gives_up(writes("junk"), because="the limit of iterations", iterations=2, limits=TaskLimits(max_iterations=2)),
    11: gives_up(
        [{"usage": {"cost_usd": CENTS}}, {"hang": "until-stopped"}],
        because="the limit of time",
        iterations=1,
        limits=TaskLimits(max_time=3),
    ),
    12: gives_up(writes("junk"), because="$0.02 is left", iterations=1, limits=TaskLimits(max_cost=0.05)),
    13: gives_up(
        [{"usage": {"cost_usd": CENTS}}, {"result": {"status": "blocked", "blocker": "which colour?"}}],
        because="it waits for a human: which colour?",
        iterations=1,
    ),
    14: gives_up(
        writes("test_app.py", WEAKER), because="dishonest work was refused 3 times in a row", iterations=3
    ),
    15: Given(status="pending", until="test -e made/15", blocked_by=after(13)),
    16: Given(status="pending", until="test -e made/16", blocked_by=after(14)),
    17: Given(writes("half"), writes("whole"), status="done", until="test -e half -a -e whole", iterations=2),
    18: Given(edits(1, "first"), status="done", until="grep -q first shared"),
    19: Given(edits(20, "last"), status="done", until="grep -q last shared"),
    20: Given(writes("made/20"), status="done", until="grep -q first shared && grep -q last shared && test -e made/20",
              blocked_by=after(18, 19)),
}  # fmt: skip
NAMES = {number: f"RALPH-{number:03d}" for number in GIVEN}
SPENT = {number: round(given.iterations * CENTS, 2) for number, given in GIVEN.items() if given.status != "pending"}


class Twenty(Queue):
    @property
    def words(self) -> tuple[str, ...]:
        cassettes = f"--agent=replay:{self.place.beside}/cassettes/{{task}}.json"
        return (cassettes, "--sandbox=overlay", "--no-auto-test", "--parallel=3")


@pytest.fixture
def queue(tmp_path: Path) -> Twenty:
    queue = Twenty(tmp_path)
    queue.place.write("test_app.py", TESTS)
    queue.place.write("shared", "".join(f"{number}\n" for number in range(20)))
    queue.git("add", "shared", "test_app.py")
    queue.git("commit", "-qm", "the project")
    (tmp_path / "cassettes").mkdir()
    book = book_of(queue.place.project)
    trust_commands(queue.place.root, [given.until for given in GIVEN.values()])
    for number, given in GIVEN.items():
        check, before = Command(command=given.until), given.blocked_by or UNSET
        book.create(title=f"task {number}", completion=check, blocked_by=before, limits=given.limits)
        cassette = {"version": 1, "then": "repeat-last" if given.scenes else "error"}
        scenes = [{"steps": steps} for steps in given.scenes]
        (tmp_path / f"cassettes/{NAMES[number]}.json").write_text(json.dumps(cassette | {"iteration": scenes}))
    return queue


def test_twenty_tasks_side_by_side(queue: Twenty) -> None:
    done = queue.work()
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    expect_the_outcome(queue, said)
    spent = {line["taskId"]: line["costUsd"] for line in learnt(queue)}
    assert spent == {NAMES[number]: pytest.approx(cost) for number, cost in SPENT.items()}


def test_twenty_tasks_although_the_run_is_killed_ten_times(queue: Twenty) -> None:
    moments = random.Random(7)
    for _ in range(10):
        with started(queue) as work:
            try:
                work.wait(moments.uniform(0.3, 3.0))
            except subprocess.TimeoutExpired:
                work.send_signal(signal.SIGKILL)
    done = queue.work()
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    expect_the_outcome(queue, said, within=(11, 12))
    spent = {line["taskId"]: line.get("costUsd", 99) for line in learnt(queue)}
    assert all(spent[NAMES[number]] >= cost - 1e-9 for number, cost in SPENT.items())


def learnt(queue: Queue) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in queue.committed(".aiwg/ralph/learning.jsonl").splitlines()]
    return [line for line in lines if line["type"] == "task_completed"]


def expect_the_outcome(queue: Twenty, said: str, *, within: tuple[int, ...] = ()) -> None:
    """Of the tasks `within` a limit on what they use, a kill takes away some of it: they come no further, if as far."""
    tasks = queue.tasks()
    assert {name: task["status"] for name, task in tasks.items()} == {
        NAMES[number]: given.status for number, given in GIVEN.items()
    }, said
    for number, given in GIVEN.items():
        assert number in within or given.because in tasks[NAMES[number]].get("blocker", "")
    expect_the_history(queue)
    expect_the_receipts(queue, within)
    assert sorted(line["taskId"] for line in learnt(queue)) == [NAMES[number] for number in SPENT]
    assert queue.git("status", "--porcelain").splitlines() == [" M README"]
    assert (queue.place.root / "test_app.py").read_text() == TESTS
    shared = (queue.place.root / "shared").read_text().splitlines()
    assert (shared[0], shared[-1], len(shared)) == ("first", "last", 20)
    assert json.loads(queue.place.ralph("status", "--json").stdout)["loops"] == []


def expect_the_history(queue: Twenty) -> None:
    """One commit for each task that ended, and in it the status, what became of it, and its work alone."""
    expected = {NAMES[number]: given.status for number, given in GIVEN.items() if given.status != "pending"}
    found: dict[str, str] = {}
    commits = queue.git("log", "--reverse", "--format=%H", "HEAD").split()[2:]
    for commit in commits:
        message = queue.git("log", "-1", "--format=%B", commit)
        [name] = [line.partition(": ")[2] for line in message.splitlines() if line.startswith("Ralph-Task: ")]
        assert name not in found, f"{name} was committed twice"
        lines = queue.committed(".aiwg/ralph/tasks.jsonl", commit).splitlines()
        updates = [json.loads(line)["changes"] for line in lines if json.loads(line).get("id") == name]
        found[name] = [change["status"] for change in updates if "status" in change][-1]
        assert f'"taskId":"{name}"' in queue.committed(".aiwg/ralph/learning.jsonl", commit)
        changed = queue.git("show", "--format=", "--name-only", commit).split()
        work = {path for path in changed if not path.startswith(".aiwg/")}
        assert work == work_of(int(name[-3:])), name
    assert found == expected
    order = list(found)
    for earlier, later in ((1, 6), (6, 7), (2, 8), (3, 8), (18, 20), (19, 20)):
        assert order.index(NAMES[earlier]) < order.index(NAMES[later])


def work_of(number: int) -> set[str]:
    if GIVEN[number].status != "done":
        return set()
    return {17: {"half", "whole"}, 18: {"shared"}, 19: {"shared"}}.get(number, {f"made/{number:02d}"})


def expect_the_receipts(queue: Twenty, within: tuple[int, ...]) -> None:
    tasks = queue.tasks()
    for number, given in GIVEN.items():
        if given.status == "pending":
            assert "loop" not in tasks[NAMES[number]]
            continue
        loop = queue.place.root / f".aiwg/ralph/loops/{tasks[NAMES[number]]['loop']}"
        receipt = json.loads((loop / "receipt.json").read_text())
        state = json.loads((loop / "state.json").read_text())
        proof = "red-to-green" if given.status == "done" else None
        status = "completed" if given.status == "done" else "failed"
        assert (receipt["status"], receipt.get("proof"), state["status"]) == (status, proof, status), number
        assert receipt["iterations"] == given.iterations or number in within, number
    loops = [path.name for path in (queue.place.root / ".aiwg/ralph/loops").iterdir()]
    assert len(loops) == len(SPENT), "a loop was begun for nothing"
