"""A sync: look at both sides, decide, and do it, so that it can be done again whatever came between."""

from collections.abc import Mapping, Sequence

from untilproven.errors import RalphError
from untilproven.model.task import Task, TaskStatus
from untilproven.model.tracker import CLOSED
from untilproven.queue.proven import is_proven
from untilproven.queue.trackers import intake
from untilproven.queue.trackers.contract import Off, Tracker
from untilproven.queue.trackers.deciding import FINAL, Join, Known, Make, Plan, Way, decide, is_told, linked
from untilproven.queue.trackers.doing import Doing
from untilproven.queue.trackers.operating import Ops
from untilproven.queue.trackers.proving import proofs_of, running
from untilproven.queue.trackers.telling import Done, Outcome, told, told_new
from untilproven.store import clock
from untilproven.store.layout import Project
from untilproven.store.tasks import book_of
from untilproven.store.tracker_ops import sync_lock, tracker_ops_of

LOCK_SECONDS = 30.0


class Sync:
    """One tracker and the tasks of one project. What fails is said, and done by the next sync."""

    def __init__(self, project: Project, tracker: Tracker, way: Way, *, now: clock.Clock = clock.now) -> None:
        self._project = project
        self._tracker = tracker
        self._way = way
        self._now = now
        self._book = book_of(project, now)
        self.outcome = Outcome(tracker=tracker.name)

    def rehearse(self) -> Outcome:
        """Look and decide, and do nothing."""
        self.outcome.dry_run = True
        self._begin()
        self._decide(self._book.read().by_id, whole=True)
        self.outcome.done = [told(self._tracker, plan, step, plan.issue) for plan in self._plans for step in plan.steps]
        self.outcome.done += [told_new(self._tracker, "", issue) for issue in self._new]
        return self.outcome

    def run(self, *, lock_seconds: float = LOCK_SECONDS) -> Outcome:
        """All of it; one task that fails does not keep the others."""
        self._book.append()  # makes the place where the lock lies
        with sync_lock(self._project, lock_seconds):
            self._begin()
            self._decide(self._book.read().by_id, whole=True)
            self._take_in()
            self._do(self._plans)
            self._tell_of_new_ones()
        return self.outcome

    def follow_up(self, *, lock_seconds: float) -> Outcome:
        """Only tell the tracker of tasks that it knows, and that have ended here since it was last told."""
        with sync_lock(self._project, lock_seconds):
            self._begin()
            tasks = {name: task for name, task in self._book.read().by_id.items() if self._is_untold(task)}
            if tasks:
                self._decide(tasks, whole=False)
                self._do(self._plans)
        return self.outcome

    def _begin(self) -> None:
        self._ops = Ops(tracker_ops_of(self._project), self._now)
        self._doing = Doing(self._project, self._tracker, self._ops, self._now)
        for one in self._ops.damage:
            self.outcome.warnings.append(f"tracker-ops.jsonl: line {one.line} is left out: {one.reason}")

    def _is_untold(self, task: Task) -> bool:
        key = self._tracker.key_of(task.external_id) if task.external_id else ""
        return bool(key) and not is_told(self._tracker, task, key, self._ops.seen.get(task.id), self._ops.done)

    def _decide(self, tasks: Mapping[str, Task], *, whole: bool) -> None:
        """`whole` also looks for issues that may become tasks."""
        theirs = linked(tasks.values(), self._tracker)
        unsettled = [key for key, task in theirs.items() if not self._is_settled(task)]
        issues = self._tracker.find(unsettled, new=whole)
        asked = {task.id: task for key, task in theirs.items() if key in issues or key in unsettled}
        free = {task.id: task for task in tasks.values() if not task.external_id}
        known = Known(
            tasks=free | asked,
            issues=issues,
            seen=self._ops.seen,
            done=self._ops.done,
            running=running(self._project, asked.values()),
            unproven={name for name, task in asked.items() if not is_proven(self._project, task)},
            proofs=proofs_of(self._project, asked.values()),
        )
        self._plans, self._new = decide(self._tracker, known, self._way)

    def _is_settled(self, task: Task) -> bool:
        """Over here and there: nobody asks about it any more, unless it comes up in a list."""
        seen = self._ops.seen.get(task.id)
        return task.status in FINAL and seen is not None and seen.state in CLOSED

    def _take_in(self) -> None:
        taken = intake.take_in(self._book, self._tracker, self._new, self._now)
        self._ops.remember(*((task.id, str(task.external_id), self._doing.as_is(issue)) for task, issue in taken))
        self.outcome.done += [told_new(self._tracker, task.id, issue) for task, issue in taken]
        self.outcome.commands = intake.commands_of(taken)

    def _tell_of_new_ones(self) -> None:
        """An issue is open when it is made; its task may be further."""
        made = {plan.task.id for plan in self._plans if _is_new(plan)}
        tasks = {name: task for name, task in self._book.read().by_id.items() if name in made and task.external_id}
        if tasks:
            self._decide(tasks, whole=False)
            self._do(self._plans)

    def _do(self, plans: Sequence[Plan]) -> None:
        for plan in plans:
            try:
                self._one(plan)
            except RalphError as error:
                self.outcome.failed.append(
                    Done(action="failed", text=error.message, task=plan.task.id, issue=str(plan.task.external_id or ""))
                )
                if isinstance(error, Off):
                    self.outcome.warnings.append("what is left was not tried: the next sync does it")
                    return

    def _one(self, plan: Plan) -> None:
        for step in plan.steps:
            issue = self._doing.step(plan, step)
            self.outcome.done.append(told(self._tracker, plan, step, issue))
        if plan.seen and plan.issue:
            self._ops.remember((plan.task.id, self._tracker.external_id(plan.issue.key), plan.seen))


def _is_new(plan: Plan) -> bool:
    return plan.task.status is not TaskStatus.PENDING and isinstance(plan.steps[0] if plan.steps else None, Make | Join)
