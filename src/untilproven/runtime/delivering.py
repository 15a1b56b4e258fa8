"""Before work is delivered: one task at a time, and only what the checks have seen."""

from datetime import timedelta
from typing import TYPE_CHECKING

from untilproven.errors import Busy
from untilproven.model import commands, events
from untilproven.model.fields import PauseReason
from untilproven.model.status import Status
from untilproven.store import clock
from untilproven.store.lock import FileLock

if TYPE_CHECKING:
    from untilproven.runtime.driver import Driver

_TURN_SECONDS = 0.25
_TURN_AT_MOST = 5.0


class Delivery:
    """Of several tasks one is delivered and committed at a time: what the checks saw last is what is committed."""

    def __init__(self, driver: "Driver") -> None:
        self._driver = driver
        path = driver.cast.project.state.path / "delivery.lock"
        self._lock = FileLock(path, timeout=_TURN_SECONDS, what="the delivery of another task")

    def release(self) -> None:
        """Let others have their turn."""
        self._lock.release()

    def can_begin(self) -> bool:
        """Whether nothing is in the way; what is in the way, or what it led to, is recorded."""
        return self._is_our_turn() and not (self._moved() or self._undelivered() or self._waits_to_commit())

    def wait_for_turn(self) -> None:
        """To write how a task ended that delivers nothing. Whoever cannot wait does not: the next commit has it."""
        until = clock.now() + timedelta(seconds=_TURN_AT_MOST)
        while self._has_to_wait():
            if self._driver.wishes.current().do != "none" and clock.now() >= until:
                return

    def _is_our_turn(self) -> bool:
        """False if somebody wants something else of the loop meanwhile."""
        while self._has_to_wait():
            if self._driver.wishes.current().do != "none":
                return False
        return True

    def _has_to_wait(self) -> bool:
        """Only tasks of the queue take turns."""
        if not self._driver.course.plan.task_id or self._lock.held:
            return False
        try:
            self._lock.acquire()
        except Busy:
            self._driver.hurry()
            return True
        return False

    def _moved(self) -> bool:
        """Whether somebody changed the tree after the checks had seen it; then they are run once more."""
        course, workspace = self._driver.course, self._driver.cast.workspace
        last = course.last
        if not self._is_running or course.moved or not workspace.can_discard or self._is_settled():
            return False
        if last is None or last.observed is None:
            return False
        tree = workspace.tree(fresh=True)
        if tree == last.observed.tree:
            return False
        self._driver.record(events.TreeChanged(iteration=last.number, tree=tree))
        return True

    @property
    def _is_running(self) -> bool:
        return self._driver.state.status is Status.RUNNING

    def _is_settled(self) -> bool:
        """Whether the task of the queue is done with, and what others did to the tree since has no part in it."""
        task_id = self._driver.course.plan.task_id
        if not task_id or not self._is_running:
            return False
        from untilproven.runtime import queued  # noqa: PLC0415  only loops of the queue

        return queued.is_done(self._driver.cast.project, task_id, self._driver.state.loop_id)

    def _undelivered(self) -> bool:
        """Whether the work cannot come to the user's tree yet: others changed the same, or the checks have not seen it
        together with what others did."""
        last, workspace = self._driver.course.last, self._driver.cast.workspace
        if not self._is_running or last is None or self._is_settled():
            return False
        conflicts = workspace.deliver()
        if conflicts is None:
            self._driver.record(events.TreeChanged(iteration=last.number, tree=workspace.tree()))
            return True
        self._driver.open_gate(last.number, conflicts)
        return bool(conflicts)

    def _waits_to_commit(self) -> bool:
        """Whether somebody has to see to something before the work can be committed; the loop is paused then."""
        course = self._driver.course
        if not course.plan.commit or course.committed or course.last is None or not self._is_running:
            return False
        from untilproven.runtime.committing import commit_work  # noqa: PLC0415  few loops commit

        why = commit_work(self._driver, course.last)
        if why:
            self._driver.pause(commands.Pause(reason=PauseReason.BLOCKED, words=why), ())
        return bool(why)
