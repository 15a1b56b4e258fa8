"""What a long queue costs: picking the next of 10,000 tasks, listing them, taking in 1,000. `make bench-queue`.

The smallest of several runs is shown: what takes longer is the machine's, not ours.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support import make_project
from targets import cpu, end, machine, target
from untilproven.core import picking
from untilproven.store.layout import Project
from untilproven.store.tasks import book_of

TASKS, TAKEN_IN = 10_000, 1_000
ROUNDS = 7
RALPH = str(Path(__file__).parents[1] / ".venv-user" / "bin" / "ralph")


def queue(project: Project) -> None:
    """A queue with a past: a third of it done, a tenth waiting for another, priorities, checks."""
    lines = []
    for number in range(TASKS):
        task = {
            "id": f"RALPH-{number:05d}",
            "title": f"Make part {number} of the thing do what its specification says",
            "description": "What is to be done, in some words. " * 4,
            "status": "pending",
            "priority": number % 5,
            "createdAt": f"2026-01-{number % 28 + 1:02d}T00:00:00Z",
            "completion": {"type": "command", "command": f"pytest -q tests/test_{number}.py"},
        }
        if number % 10 == 9:
            task["blockedBy"] = [f"RALPH-{number - 1:05d}"]
        lines.append(task)
    lines += [
        {"op": "update", "id": f"RALPH-{number:05d}", "changes": {"status": status}}
        for number in range(0, TASKS, 3)
        for status in ("in_progress", "done")
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path = book_of(project).path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    tasks = book_of(project).read()
    assert not tasks.damage, tasks.damage[0]
    assert len(tasks.by_id) == TASKS
    print(f"{TASKS} tasks, {len(lines)} lines, {len(text) / 2**20:.1f} MiB")


def least(act: Callable[[], float]) -> float:
    return min(act() for _ in range(ROUNDS))


def bench_picking(project: Project) -> None:
    """As `ralph work` does it between two tasks: others may have added something, so the file is read again."""
    book = book_of(project)

    def pick() -> float:
        begun = time.process_time()
        assert picking.pick(book.read().by_id)
        return (time.process_time() - begun) * 1000

    print(f"  picking the first                       {pick():6.1f} ms of CPU")
    taken = least(pick)
    print(f"  picking the next                        {taken:6.1f} ms of CPU   {target('picking', taken, 50)}")


def bench_commands(project: Project) -> None:
    for words, most in ((("task", "next"), None), (("task", "list"), 300), (("task", "list", "--all"), None)):
        name = f"ralph {' '.join(words)}"
        taken = least(partial(cpu, RALPH, *words, cwd=project.root))
        print(f"  {name:<38}  {taken:6.1f} ms of CPU   {target(name, taken, most) if most else ''}")


def bench_import(directory: Path) -> None:
    """1,000 stories of a prd.json, in a project that has none, and the same file again."""
    stories = [
        {"id": f"US-{number:04d}", "title": f"Story {number}", "acceptanceCriteria": ["it works"], "passes": False}
        for number in range(TAKEN_IN)
    ]
    project = make_project(directory / "taking-in")
    (project.root / "prd.json").write_text(json.dumps({"project": "x", "userStories": stories}))
    for name in (f"{TAKEN_IN} tasks of a prd.json taken in", "the same file again"):
        taken = cpu(RALPH, "task", "import", "prd.json", cwd=project.root)
        assert len(book_of(project).read().by_id) == TAKEN_IN
        print(f"  {name:<38}  {taken:6.1f} ms of CPU")


def main() -> None:
    print(f"Machine: {machine()}")
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_STATE_HOME"] = f"{place}/state"
        project = make_project(Path(place) / "project")
        queue(project)
        bench_picking(project)
        bench_commands(project)
        bench_import(Path(place))
    end()


if __name__ == "__main__":
    main()
