"""What a run of the queue, those who work in it and those who look on are to each other."""

from collections.abc import Callable
from typing import Protocol, TextIO

import msgspec

from untilproven.contract import Watcher
from untilproven.model.task import Task
from untilproven.queue.record import Used
from untilproven.store.writer import LoopWriter


class Teller(Protocol):
    """Whoever looks on at a run of the queue."""

    def begins(self, task: Task, loop_id: str) -> None: ...
    def ended(self, task: Task, loop_id: str) -> None: ...
    def passed_over(self, task: Task, why: str) -> None: ...
    def note(self, words: str) -> None: ...
    def watchers(self, log: TextIO | None = None) -> tuple[Watcher, ...]:
        """Who looks on at one loop: here, or by way of its log."""


class Stopped(msgspec.Struct, frozen=True):
    """Why the run is over, and what its process returns."""

    exit_code: int
    why: str


def interrupted(exit_code: int) -> Stopped:
    """By a signal, between two tasks or with some of them set aside."""
    return Stopped(exit_code, "interrupted; `ralph work` goes on from here")


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """A loop that is to be begun for a task."""

    task: Task
    make: Callable[[], LoopWriter]
    before: Used
    """What the loop had used before this run."""
    cost_usd: float
    """The most that it may spend."""
