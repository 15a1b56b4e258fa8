"""Carrying out what was decided about one task, step by step."""

from collections.abc import Callable
from datetime import datetime

from msgspec import UNSET

from untilproven.core.text import cut
from untilproven.model.learning import StatusChange, TrackerConflict
from untilproven.model.task import Link, Task, Update
from untilproven.model.tracker import Kind
from untilproven.queue.trackers import words
from untilproven.queue.trackers.contract import Draft, Issue, Tracker
from untilproven.queue.trackers.deciding import (
    Change,
    Conflict,
    Join,
    Make,
    Move,
    Plan,
    Rewrite,
    Say,
    Seen,
    Step,
    words_of,
)
from untilproven.queue.trackers.operating import Op, Ops
from untilproven.store import clock
from untilproven.store.layout import Project
from untilproven.store.learning import learning_of, progress_of
from untilproven.store.tasks import book_of

_QUOTED = 4000
"""How much of a text that was overruled is kept, in bytes."""


class Doing:
    """Our side through the book of tasks, theirs through operations that are done once."""

    def __init__(self, project: Project, tracker: Tracker, ops: Ops, now: clock.Clock) -> None:
        self._project = project
        self._tracker = tracker
        self._ops = ops
        self._now = now
        self._book = book_of(project, now)

    def step(self, plan: Plan, step: Step) -> Issue | None:
        """Do it; the issue that it is about."""
        task, issue = plan.task, plan.issue
        match step:
            case Make():
                return self._make(task)
            case Change():
                self._change(task, step)
            case Conflict():
                self._record(task, step)
        if issue is not None:
            self._there(task, issue, step)
        return issue

    def as_is(self, issue: Issue) -> Seen:
        """As an issue stands whose task does not differ from it."""
        return Seen(issue.state, words_of(self._tracker, issue.title, issue.body), ours=issue.state)

    def _there(self, task: Task, issue: Issue, step: Step) -> None:
        match step:
            case Join():
                self._link(task, issue)
            case Rewrite(title=title):
                body = words.marked(step.body, self._tracker.marker(task))
                self._once(task, "update", step.fingerprint, lambda: self._tracker.update(issue.key, title, body))
            case Move(to=to, why=why):
                self._once(task, "transition", step.fingerprint, lambda: self._tracker.move(issue.key, to, why))
            case Say():
                self._say(task, issue, step)

    def _once(self, task: Task, kind: Kind, fingerprint: str, do: Callable[[], None]) -> None:
        """Done twice, it has the same result: there is nothing to look for before."""

        def done() -> bool:
            do()
            return True

        self._ops.once(self._op(task, kind, fingerprint), done, lambda _: None)

    def _op(self, task: Task, kind: Kind, fingerprint: str) -> Op:
        return Op(task_id=task.id, kind=kind, fingerprint=fingerprint, tracker=self._tracker.name)

    def _make(self, task: Task) -> Issue:
        marker = self._tracker.marker(task)
        draft = Draft(task=task, title=words.title_of(task.title), body=words.told(task), marker=marker)
        op = self._op(task, "create", words.fingerprint(self._tracker.name, marker))
        issue = self._ops.once(op, lambda: self._tracker.create(draft), lambda since: self._tracker.made(marker, since))
        self._link(task, issue)
        return issue

    def _link(self, task: Task, issue: Issue) -> None:
        external = self._tracker.external_id(issue.key)
        self._book.append(Link(id=task.id, external_id=external, external_url=issue.url or UNSET))
        self._ops.remember((task.id, external, self.as_is(issue)))

    def _say(self, task: Task, issue: Issue, step: Say) -> None:
        mark = words.fingerprint(task.id, step.fingerprint)

        def there(_since: datetime) -> bool | None:
            return self._tracker.commented(issue.key, mark) or None

        def say() -> bool:
            self._tracker.comment(issue.key, words.marked(step.text, mark))
            return True

        self._ops.once(self._op(task, "comment", step.fingerprint), say, there)

    def _change(self, task: Task, step: Change) -> None:
        """In one append, and only if nobody has decided otherwise meanwhile."""
        updates = [Update(id=task.id, changes=dict(one), source="tracker") for one in step.updates]
        self._book.append(*updates, expect={task.id: task.status})
        moves = [one["status"] for one in step.updates if "status" in one]
        if moves and moves[-1] is not task.status:
            progress_of(self._project).append(
                StatusChange(task_id=task.id, from_=task.status, to=moves[-1], reason=step.why, timestamp=self._now())
            )

    def _record(self, task: Task, step: Conflict) -> None:
        learning_of(self._project).append(
            TrackerConflict(
                task_id=task.id,
                tracker=self._tracker.name,
                external_id=task.external_id,
                field=step.field,
                resolution=step.resolution,
                ours=cut(step.ours, _QUOTED),
                theirs=cut(step.theirs, _QUOTED),
                timestamp=self._now(),
            )
        )
