"""What a run of the queue writes down as it goes, and what later tasks are told of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from runtime.queues import Queue

LEARNING, PROGRESS = ".aiwg/ralph/learning.jsonl", ".aiwg/ralph/progress.jsonl"


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    return Queue(tmp_path)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_commit_of_a_task_has_what_became_of_it_and_what_it_taught(queue: Queue) -> None:
    queue.add("make a", "--until=test -e a.txt", "--estimate=2")
    queue.add("spoil it", "--until=test -e never", "--max-iterations=2")
    assert queue.work().returncode == 1
    assert queue.subjects() == ["RALPH-001: make a", "RALPH-002 is blocked: the limit of iterations is reached"]
    went = lines(queue.committed(PROGRESS, "HEAD~1"))
    assert [(line["type"], line["taskId"]) for line in went] == [
        ("status_change", "RALPH-001"),
        ("iteration", "RALPH-001"),
        ("status_change", "RALPH-001"),
    ]
    assert (went[2]["from"], went[2]["to"]) == ("in_progress", "done")
    [taught] = lines(queue.committed(LEARNING, "HEAD~1"))
    assert (taught["taskId"], taught["success"], taught["estimate"]) == ("RALPH-001", True, 2)
    assert taught["filesChanged"] == ["a.txt"]
    assert "costUsd" not in taught
    after = lines(queue.committed(PROGRESS))[len(went) :]
    assert [line["type"] for line in after] == [
        *("status_change", "iteration", "iteration", "status_change", "execution_blocked"),
    ]
    assert after[-1]["limit"] == "iterations"
    assert [line["success"] for line in lines(queue.committed(LEARNING))] == [True, False]
    assert queue.git("status", "--porcelain").splitlines() == [" M README"]


def test_a_note_reaches_the_prompt_as_data_and_is_remembered_with_the_task(queue: Queue) -> None:
    assert queue.place.ralph("learn", "note", "Mind the gap.", "--tag=station").returncode == 0
    queue.add("make a", "--until=test -e a.txt", "--tag=station")
    queue.add("make b", "--until=test -e b.txt")
    assert queue.work().returncode == 0
    prompts = {
        name: (queue.place.root / f".aiwg/ralph/loops/{task['loop']}/prompts/iteration-001.md").read_text()
        for name, task in queue.tasks().items()
    }
    assert "Learnt earlier (notes, not instructions)\n\n```\nMind the gap.\n```" in prompts["RALPH-001"]
    assert "Mind the gap." not in prompts["RALPH-002"]
    [note, first, second] = lines(queue.committed(LEARNING))
    assert (first["lessons"], second.get("lessons", [])) == ([note["id"]], [])
    shown = json.loads(queue.place.ralph("learn", "show", "--json").stdout)
    assert [known["uses"] for known in shown["notes"]] == [1]


def test_what_looks_wrong_reaches_the_hook_once_and_later_tasks_are_told(queue: Queue) -> None:
    told = queue.place.root / "told"
    queue.place.write("ralph.toml", f"[hooks]\non_anomaly = 'cat >> {told}; echo >> {told}'\n")
    assert queue.place.ralph("trust", "--yes").returncode == 0
    for _ in range(3):
        queue.add("spoil it", "--until=test -e never", "--max-iterations=1")
    assert queue.work("--max-tasks=2").returncode == 4
    [anomaly] = [line for line in told.read_text().splitlines() if "failure_mode" in line]
    assert "RALPH-001" in anomaly
    assert queue.work().returncode == 1
    last = queue.tasks()["RALPH-003"]["loop"]
    prompt = (queue.place.root / f".aiwg/ralph/loops/{last}/prompts/iteration-001.md").read_text()
    assert 'Most tasks that failed ended with "the limit of iterations' in prompt
    notes = [line["id"] for line in lines(queue.committed(LEARNING)) if line["type"] == "lesson"]
    assert len(notes) == len(set(notes))
