"""The loop's states and the only moves between them (source 000)."""

from enum import StrEnum


class Status(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETING = "completing"
    COMPLETED = "completed"
    FAILED = "failed"
    ABORTED = "aborted"
    CRASHED = "crashed"


MOVES: dict[Status, frozenset[Status]] = {
    Status.RUNNING: frozenset({Status.PAUSED, Status.COMPLETING, Status.ABORTED, Status.CRASHED, Status.FAILED}),
    Status.PAUSED: frozenset({Status.RUNNING, Status.ABORTED}),
    Status.COMPLETING: frozenset({Status.COMPLETED, Status.FAILED, Status.CRASHED}),
    Status.COMPLETED: frozenset(),
    Status.FAILED: frozenset(),
    Status.ABORTED: frozenset(),
    Status.CRASHED: frozenset(),
}

TERMINAL = frozenset(status for status, moves in MOVES.items() if not moves)
REGISTERED = frozenset({Status.RUNNING, Status.PAUSED, Status.COMPLETING, Status.CRASHED})
"""What an entry of the registry may be; everything else leaves it in the step that ends the loop."""
HAS_PROCESS = frozenset({Status.RUNNING, Status.COMPLETING})
"""States in which somebody must be alive; only these can turn out to be stale."""
CONTINUABLE = frozenset({Status.CRASHED, Status.FAILED, Status.ABORTED})
"""Ended loops that a new loop may take over from."""
