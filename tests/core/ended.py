"""Ends of tasks, as the queue writes them down."""

from datetime import timedelta
from typing import Any

from support import MOMENT
from untilproven.model.learning import TaskCompleted

NOW = MOMENT


def ended(number: int, *, days_ago: float = 1, **fields: Any) -> TaskCompleted:
    """The end of task RALPH-<number>, in a loop of its own unless the fields say otherwise."""
    given: dict[str, Any] = {
        "task_id": f"RALPH-{number:03d}",
        "loop_id": f"ralph-task-{number:08x}",
        "iterations": 2,
        "success": True,
        "timestamp": NOW - timedelta(days=days_ago, seconds=-number),
        **fields,
    }
    given.setdefault("actual", given["iterations"])
    files = given.get("files_changed", ())
    return TaskCompleted(files_changed_count=len(files), **given)
