"""What is written to learning.jsonl and progress.jsonl passes its schema; names and times as the source has them."""

from typing import Any

import jsonschema
import msgspec
import pytest

from core.ended import NOW, ended
from untilproven.core.noticing import noticed
from untilproven.model import schema, wire
from untilproven.model.iteration import Complete, Failed
from untilproven.model.learning import (
    Activity,
    ExecutionBlocked,
    ImprovementProposed,
    IterationDone,
    Lesson,
    Proposal,
    Scope,
    StatusChange,
    TrackerConflict,
)
from untilproven.model.task import TaskStatus

LOOP = "ralph-fix-0000000a"
LEARNT = [
    ended(1),
    ended(
        2,
        estimate=2.5,
        task_type="bug",
        complexity="simple",
        lines_changed=3,
        proof="red-to-green",
        blockers=("x",),
        duration_seconds=1.5,
        cost_usd=0.5,
        lessons=("note-1",),
    ),
    *noticed([ended(number, success=False, blockers=("gone",)) for number in range(2)], NOW),
    Lesson(id="note-1", text="x", scope=Scope(globs=("a/*",), task_types=("bug",)), source="human", created_at=NOW),
    ImprovementProposed(
        id="learn-1",
        target="AGENTS.md",
        section="s",
        change="c",
        diff="d",
        rationale="r",
        evidence=("RALPH-001",),
        branch="ralph/learn-1",
        commit="a" * 40,
        timestamp=NOW,
    ),
    TrackerConflict(
        task_id="RALPH-001",
        tracker="github:octocat/hello",
        external_id="github:octocat/hello#1",
        field="description",
        resolution="ours",
        ours="a",
        theirs="b",
        timestamp=NOW,
    ),
]
WENT = [
    IterationDone(task_id="RALPH-001", loop_id=LOOP, iteration=1, result=Complete(), timestamp=NOW),
    IterationDone(
        task_id="RALPH-001",
        loop_id=LOOP,
        iteration=2,
        result=Failed(error="x"),
        cost=0.5,
        task_cost_so_far=1.5,
        timestamp=NOW,
    ),
    StatusChange(
        task_id="RALPH-001", from_=TaskStatus.IN_PROGRESS, to=TaskStatus.BLOCKED, reason="limit", timestamp=NOW
    ),
    ExecutionBlocked(task_id="RALPH-001", reason="10 iterations are over", limit="iterations", timestamp=NOW),
    Activity(message="the run began", timestamp=NOW),
    Proposal(branch="ralph/learn-1", proposals=("learn-1",), timestamp=NOW),
]


def problems(name: str, value: Any) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(schema.schema(name)).iter_errors(value)]


@pytest.mark.parametrize(
    ("name", "record"), [*(("learning", one) for one in LEARNT), *(("progress", one) for one in WENT)]
)
def test_every_line_passes_its_schema_and_is_read_back_as_it_was(name: str, record: wire.Record) -> None:
    line = wire.encode(record)
    assert problems(name, msgspec.json.decode(line)) == []
    assert wire.decode(type(record), line) == record
    assert wire.to_builtins(record) == msgspec.json.decode(line)


def test_names_and_times_are_the_sources() -> None:
    plain = wire.to_builtins(LEARNT[0])
    assert plain["type"] == "task_completed"
    assert plain["timestamp"].endswith("Z")
    assert {"taskId", "loopId", "actual", "iterations", "filesChanged", "success", "blockers"} <= plain.keys()
    assert {"costUsd", "estimate", "proof", "linesChanged"}.isdisjoint(plain)  # not known is left out
    assert wire.to_builtins(WENT[2]).keys() == {"type", "taskId", "from", "to", "reason", "timestamp"}
    assert wire.to_builtins(WENT[1])["taskCostSoFar"] == 1.5


def test_a_time_without_a_zone_and_a_type_of_another_file_are_refused() -> None:
    plain = wire.to_builtins(WENT[4])
    with pytest.raises(msgspec.ValidationError, match="timezone"):
        wire.from_builtins(Activity, plain | {"timestamp": "2026-02-02T21:00:00"})
    assert problems("learning", plain)
    assert problems("progress", wire.to_builtins(LEARNT[0]))
