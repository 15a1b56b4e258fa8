"""For whoever does not look on: somebody is told when a human is needed, and when the loop has ended."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from untilproven.config.settings import Settings
from untilproven.core.decide import LIMIT
from untilproven.core.waiting import needs_a_human
from untilproven.model import events
from untilproven.model.fields import PauseReason
from untilproven.model.hooks import HookCall, HookOutcome
from untilproven.model.plan import Plan
from untilproven.model.state import LoopState
from untilproven.model.status import Status
from untilproven.runtime.hooks.log import append
from untilproven.store import clock
from untilproven.store.layout import LoopDirectory

GATE, BLOCK, LIMITED, END = "gate", "block", "limit", "end"


class Notifier:
    """A watcher. Whatever becomes of telling is logged beside the hooks, and nothing of it reaches the loop."""

    def __init__(self, plan: Plan, loop: LoopDirectory, root: Path, warn: Callable[[str], None]) -> None:
        self._plan, self._loop, self._root, self._warn = plan, loop, root, warn

    def happened(self, entry: events.Entry, state: LoopState) -> None:
        match entry.event:
            case events.StatusChanged() as change if needs_a_human(change):
                at_gate = change.pause_reason is PauseReason.GATE
                occasion, kind = ("gate.opened", GATE) if at_gate else ("loop.paused", BLOCK)
                self.tell(occasion, change.reason or "", state.iteration, kind)
            case events.LoopFinished() as end if self._plan.task_id:
                self._task_ended(end, str(self._plan.task_id))
            case events.LoopFinished() as end:
                self.tell("loop.finished", _ended(end), end.iterations, END, *_limited(end))

    def _task_ended(self, end: events.LoopFinished, task_id: str) -> None:
        """The queue tells of its own end; of its tasks, those that need somebody."""
        if end.status is not Status.COMPLETED:
            self.tell("task.blocked", f"{task_id} {_ended(end)}", end.iterations, BLOCK, *_limited(end))

    def tell(self, occasion: str, message: str, iteration: int, *kinds: str) -> None:
        """If the user wants to know of one of these kinds."""
        if not any(kind in self._plan.notify_on for kind in kinds):
            return
        name = self._loop.loop_id
        outcomes = _told(self._plan.notify, name, occasion, message.replace("LOOP", name), self._root, self._warn)
        call = HookCall(timestamp=clock.now(), hook_name="notify", loop_id=name, iteration=iteration, outcomes=outcomes)
        with contextlib.suppress(OSError):  # a full disk is the journal's business to report
            append(self._loop.hook_log, call)

    def tick(self) -> None:
        """Only what is recorded is told."""

    def noted(self, words: str) -> None:
        """Said to whoever looks on, and not to others."""

    def close(self) -> None:
        """Everybody was told to the end."""


def notifier_of(state: LoopState, loop: LoopDirectory, root: Path, warn: Callable[[str], None]) -> Notifier | None:
    """None if the user wants no notice: only what the loop was started with is ever run."""
    return Notifier(state.plan, loop, root, warn) if state.plan and state.plan.notify else None


def tell_of_run(settings: Settings, exit_code: int, message: str, root: Path, warn: Callable[[str], None]) -> None:
    """A run of the queue is over."""
    kinds = {END, LIMITED} if exit_code == LIMIT else {END}
    if not kinds.isdisjoint(settings.notify_on):
        _told(settings.notify, "queue", "work.finished", message, root, warn)


def tell_of_block(settings: Settings, task_id: str, why: str, root: Path, warn: Callable[[str], None]) -> None:
    """A task of the queue needs somebody before a loop can be begun for it."""
    if BLOCK in settings.notify_on:
        _told(settings.notify, "queue", "task.blocked", f"{task_id} is blocked: {why}", root, warn)


def _told(
    channels: Sequence[str], about: str, occasion: str, message: str, root: Path, warn: Callable[[str], None]
) -> tuple[HookOutcome, ...]:
    from untilproven.runtime.channels import Notice, tell  # noqa: PLC0415  not before somebody is told

    outcomes = tuple(tell(channel, Notice(about, occasion, message), root) for channel in channels)
    for outcome in outcomes:
        if outcome.error:
            warn(f"nobody was notified: {outcome.error}")
    return outcomes


def _ended(end: events.LoopFinished) -> str:
    return f"{end.status.value}: {end.reason}" if end.reason else end.status.value


def _limited(end: events.LoopFinished) -> tuple[str, ...]:
    return (LIMITED,) if end.exit_code == LIMIT else ()
