"""How a loop ends: the receipt is written, the status is final, the slot is free."""

from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from untilproven.core import verdict
from untilproven.core.receipt import receipt
from untilproven.model import commands, events, wire
from untilproven.model.receipt import Proof
from untilproven.model.state import LoopMetrics, LoopState
from untilproven.model.status import Status
from untilproven.model.task import TaskStatus
from untilproven.store import clock, files
from untilproven.store.journal import scan
from untilproven.store.layout import LoopDirectory

if TYPE_CHECKING:
    from untilproven.runtime.driver import Driver


_STATUS = {
    Status.COMPLETED: TaskStatus.DONE,
    Status.FAILED: TaskStatus.BLOCKED,
    Status.ABORTED: TaskStatus.CANCELLED,
}
"""How a task ended, in source 002's words."""


def deliver(driver: "Driver", happened: tuple[events.Event, ...]) -> int:
    """The work is done. A kill on the way is made good by whoever takes over: every step can be done again."""
    for change in happened:
        if isinstance(change, events.StatusChanged):
            driver.writer.move(change)
    driver.tell()
    last = driver.course.last
    judged = verdict.judge(driver.course, last) if last else None
    _end(
        driver,
        events.StatusChanged(to=Status.COMPLETED, reason=judged.reason if judged else UNSET),
        exit_code=0,
        proof=judged.proof if judged else None,
    )
    return 0


def finish(driver: "Driver", command: commands.Finish, happened: tuple[events.Event, ...]) -> int:
    """It ends without being done: by a limit, a failing agent, or the user."""
    change = events.StatusChanged(to=command.status, reason=command.reason, error=command.error)
    if happened:
        driver.record(*happened)
    _end(driver, change, exit_code=command.exit_code, proof=None)
    return command.exit_code


def _end(driver: "Driver", change: events.StatusChanged, *, exit_code: int, proof: Proof | None) -> None:
    state, loop = driver.state, driver.writer.loop
    metrics = state.metrics or LoopMetrics()
    finished = events.LoopFinished(
        status=change.to,
        exit_code=exit_code,
        iterations=state.iteration,
        reason=change.reason,
        proof=proof.value if proof else UNSET,
        best_iteration=state.best_iteration.iteration if state.best_iteration else UNSET,
        cost_usd=metrics.total_cost_usd,
        tokens=metrics.total_tokens,
        undelivered=True if driver.cast.workspace.undelivered else UNSET,
    )
    if not driver.course.committed:  # the commit names the receipt it was made with
        write_receipt(loop, state, change, proof)
    driver.writer.move(change, after=[finished])
    driver.wishes.granted()
    driver.tell()
    if driver.course.plan.task_id:
        _settle_task(driver)
    ended = replace(driver.hooks_task, status=_STATUS[change.to])
    driver.cast.hooks.on_task_end(ended, change.to is Status.COMPLETED)


def _settle_task(driver: "Driver") -> None:
    """The task of the queue ends after its loop: whoever finds it in progress sees from the loop how it ended."""
    from untilproven.runtime import queued  # noqa: PLC0415  only loops of the queue

    def note(words: str) -> None:
        for watcher in driver.cast.watchers:
            watcher.noted(words)

    end = queued.settle(driver.cast.project, driver.writer.loop, driver.state, note)
    driver.alarm(end.anomalies if end else ())


def write_receipt(
    loop: LoopDirectory, state: LoopState, change: events.StatusChanged, proof: Proof | None = None
) -> None:
    """What was asked, claimed and proven; written before the loop is said to have ended."""
    entries = (found for found in scan(loop.journal, loop.loop_id) if isinstance(found, events.Entry))
    reason = change.reason or ""
    written = receipt(entries, state, finished_at=clock.now(), status=change.to, reason=reason, proof=proof)
    files.replace(loop.receipt, wire.encode(written) + b"\n", durable=True)
