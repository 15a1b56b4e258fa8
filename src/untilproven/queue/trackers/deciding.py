"""What has to happen so that tasks and issues agree. Nothing here does anything.

An issue and its task are compared with how they stood when they were last brought together: what differs from that was
changed since, there or here. On status the tracker wins, within what a task may become; but nothing is done by its
word, and nothing is reopened by ours. On words the side wins that the task came from.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.model.task import Task, TaskStatus
from untilproven.model.tracker import CLOSED, IssueState
from untilproven.queue.trackers import words
from untilproven.queue.trackers.contract import Issue, Tracker

CLAIMED = "claimed-done"
"""The tag of a task that its tracker calls done, and that nobody has proven here."""
UNPROVEN = "done-unproven"
"""The tag of a task that is done by its tracker's word."""
FINAL = frozenset({TaskStatus.DONE, TaskStatus.CANCELLED})
_OURS = {
    TaskStatus.DISCOVERED: IssueState.OPEN,
    TaskStatus.PENDING: IssueState.OPEN,
    TaskStatus.IN_PROGRESS: IssueState.STARTED,
    TaskStatus.REVIEW: IssueState.STARTED,
    TaskStatus.BLOCKED: IssueState.BLOCKED,
    TaskStatus.DONE: IssueState.DONE,
    TaskStatus.CANCELLED: IssueState.DROPPED,
}
_SHOWN = frozenset({TaskStatus.PENDING, TaskStatus.IN_PROGRESS, TaskStatus.BLOCKED})
"""What is open here, came from nowhere else, and is more than a note gets an issue."""


class Way(msgspec.Struct, frozen=True, kw_only=True):
    pull: bool = True
    push: bool = True
    accept_done: bool = False
    """Take the tracker's word for what is done."""


class Seen(msgspec.Struct, frozen=True):
    """An issue's state and words, and what its task amounted to then."""

    state: IssueState
    words: str
    ours: IssueState = IssueState.OPEN


class Change(msgspec.Struct, frozen=True, kw_only=True, tag="change"):
    """Of a task, here."""

    updates: tuple[dict[str, Any], ...]
    why: str


class Make(msgspec.Struct, frozen=True, kw_only=True, tag="create"):
    """An issue for a task."""


class Join(msgspec.Struct, frozen=True, kw_only=True, tag="link"):
    """A task and the issue that was made for it."""


class Rewrite(msgspec.Struct, frozen=True, kw_only=True, tag="update"):
    title: str
    body: str
    fingerprint: str


class Say(msgspec.Struct, frozen=True, kw_only=True, tag="comment"):
    text: str
    fingerprint: str


class Move(msgspec.Struct, frozen=True, kw_only=True, tag="transition"):
    to: IssueState
    why: str
    fingerprint: str


class Conflict(msgspec.Struct, frozen=True, kw_only=True, tag="conflict"):
    """Both sides have changed it."""

    field: Literal["status", "description"]
    resolution: Literal["tracker", "ours"]
    ours: str
    theirs: str


class Note(msgspec.Struct, frozen=True, kw_only=True, tag="note"):
    """For a human to decide."""

    text: str


Step = Change | Make | Join | Rewrite | Say | Move | Conflict | Note


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What has to happen about one task, in this order; and how its issue stands then."""

    task: Task
    issue: Issue | None = None
    steps: tuple[Step, ...] = ()
    seen: Seen | None = None


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What is known before anything is decided."""

    tasks: Mapping[str, Task]
    issues: Mapping[str, Issue]
    seen: Mapping[str, Seen]
    done: Collection[str]
    """Keys of operations that have succeeded."""
    running: Collection[str] = ()
    """Tasks that somebody works on at this moment."""
    unproven: Collection[str] = ()
    """Tasks that are done by somebody's word."""
    proofs: Mapping[str, str] = {}
    """What is to be said about how work on a task ended."""


def key_of(task_id: str, kind: str, fingerprint: str) -> str:
    return f"{task_id}:{kind}:{fingerprint}"


def linked(tasks: Iterable[Task], tracker: Tracker) -> dict[str, Task]:
    """The task of each issue, by the issue's key. An issue that was opened again may have two: the one that is open."""
    found: dict[str, Task] = {}
    for task in tasks:
        key = tracker.key_of(task.external_id) if task.external_id else ""
        if key and not (key in found and task.status in FINAL):
            found[key] = task
    return found


def decide(tracker: Tracker, known: Known, way: Way) -> tuple[list[Plan], list[Issue]]:
    """What has to happen about the tasks that are here, and the issues that become new ones."""
    theirs = linked(known.tasks.values(), tracker)
    plans, new, joined = [], [], set[str]()
    marks = {issue.marker: issue for issue in known.issues.values() if issue.marker and issue.key not in theirs}
    for task in known.tasks.values():
        if task.external_id is not UNSET or task.status not in _SHOWN:
            continue
        issue = marks.get(tracker.marker(task))
        if issue:
            joined.add(issue.key)
            plans.append(Plan(task=task, issue=issue, steps=(Join(),)))
        elif way.push and "create" in tracker.can:
            plans.append(Plan(task=task, steps=(Make(),)))
    for key, task in theirs.items():
        issue = known.issues.get(key)
        plans.append(_Pair(tracker, known, way, task, issue).plan() if issue else _without_issue(task))
        if issue and way.pull and _opened_again(task, issue, known.seen.get(task.id)):
            new.append(issue)
    if way.pull:
        unknown = (one for key, one in known.issues.items() if key not in theirs and key not in joined)
        new += [issue for issue in unknown if issue.wanted and issue.state not in CLOSED]
    return [plan for plan in plans if plan.steps or plan.seen], new


def state_of(task: Task, holds: Collection[IssueState]) -> IssueState | None:
    """What its issue should say, if the tracker can say it."""
    state = _OURS[task.status]
    if state in holds:
        return state
    return None if state in CLOSED else IssueState.OPEN


def words_of(tracker: Tracker, title: str, body: str) -> str:
    return words.fingerprint(title, body if "update" in tracker.can else "")


def is_told(tracker: Tracker, task: Task, key: str, seen: Seen | None, done: Collection[str]) -> bool:
    """Whether the tracker has heard how the task ended; also if it has not ended."""
    if task.status not in {*FINAL, TaskStatus.BLOCKED}:
        return True
    where = tracker.external_id(key)
    known = seen is not None and seen.ours is _OURS[task.status]
    if task.blocker in _echoes(where) or "comment" not in tracker.can or not task.loop:
        return known
    return known and key_of(task.id, "comment", _status_mark(task, where)) in done


def _status_mark(task: Task, where: str) -> str:
    return words.fingerprint(where, task.status, task.loop or "", task.blocker or "")


def _without_issue(task: Task) -> Plan:
    if task.status in FINAL:
        return Plan(task=task)
    gone = f"{task.external_id} is gone: it was deleted, renamed or moved; `ralph task cancel {task.id}` if it is over"
    return Plan(task=task, steps=(Note(text=gone),))


def _opened_again(task: Task, issue: Issue, seen: Seen | None) -> bool:
    """What was cancelled is over for good: an issue that is opened again after that is a new task."""
    was_closed = seen is not None and seen.state in CLOSED
    return task.status is TaskStatus.CANCELLED and was_closed and issue.state not in CLOSED and issue.wanted


class _Pair:
    """A task and its issue."""

    def __init__(self, tracker: Tracker, known: Known, way: Way, task: Task, issue: Issue) -> None:
        self._tracker, self._known, self._way = tracker, known, way
        self._task, self._issue = task, issue
        self._seen = known.seen.get(task.id)
        self._base = self._seen.state if self._seen else IssueState.OPEN
        self._ours = _OURS[task.status]
        self._ours_changed = self._ours is not (self._seen.ours if self._seen else IssueState.OPEN)
        self._where = tracker.external_id(issue.key)

    def plan(self) -> Plan:
        said = words_of(self._tracker, self._issue.title, self._issue.body)
        self._after = Seen(self._issue.state, said, self._ours)
        steps = (*self._words(), *self._status())
        return Plan(
            task=self._task,
            issue=self._issue,
            steps=steps,
            seen=self._after if self._after != self._seen else None,
        )

    def _status(self) -> Iterator[Step]:
        if self._task.status in FINAL:
            yield from self._final()
        elif self._issue.state is not self._base:
            if not self._way.pull or self._task.id in self._known.running:
                self._after = replace(self._after, state=self._base)  # it is still to be taken over
                if self._way.pull:
                    yield Note(text=f"{self._where} is {self._issue.state} now; {self._task.id} is being worked on")
            else:
                yield from self._taken_over()
        elif self._issue.state in CLOSED:
            if CLAIMED in (self._task.tags or ()):
                yield from self._accepted()
            else:
                yield Note(text=f"{self._where} is closed and {self._task.id} is {self._task.status}: open it again?")
        else:
            yield from self._told()

    def _accepted(self) -> Iterator[Step]:
        """It was set aside because it was only claimed; now somebody takes the tracker's word."""
        if self._way.accept_done and self._way.pull and self._issue.state is IssueState.DONE:
            updates, why = _followed(self._task, IssueState.DONE, self._where, accept_done=True)
            yield Change(updates=updates, why=why)
            self._after = replace(self._after, ours=IssueState.DONE)

    def _final(self) -> Iterator[Step]:
        reopened = self._base in CLOSED and self._issue.state not in CLOSED
        if reopened and self._task.status is TaskStatus.DONE:
            yield self._conflict("status", "ours", str(self._task.status), str(self._issue.state))
            yield Note(text=f"{self._where} was opened again; {self._task.id} is done for good: add another task")
        elif self._issue.state not in CLOSED and not reopened:
            yield from self._told()

    def _told(self) -> Iterator[Step]:
        """Our status, there, if it is news."""
        task, to = self._task, state_of(self._task, self._tracker.holds)
        if not self._way.push:
            if self._ours_changed and self._seen:
                self._after = replace(self._after, ours=self._seen.ours)
            elif self._ours_changed:
                self._after = replace(self._after, ours=IssueState.OPEN)
            return
        if self._tracker.wants_proof and task.id in self._known.unproven:
            return
        mark = _status_mark(task, self._where)
        said = "" if task.blocker in _echoes(self._where) else self._known.proofs.get(task.id, "")
        if said and "comment" in self._tracker.can and self._is_new("comment", mark):
            yield Say(text=said, fingerprint=mark)
        if self._ours_changed and to is not None and to is not self._issue.state:
            yield Move(to=to, why=_why(task), fingerprint=mark)
            self._after = replace(self._after, state=to)

    def _taken_over(self) -> Iterator[Step]:
        """Their status, here."""
        task, theirs = self._task, self._issue.state
        updates, why = _followed(task, theirs, self._where, accept_done=self._way.accept_done)
        ours = state_of(task, self._tracker.holds)
        if self._ours_changed and ours not in {self._base, theirs}:
            yield self._conflict("status", "tracker" if updates else "ours", str(task.status), str(theirs))
        if updates:
            yield Change(updates=updates, why=why)
            self._after = replace(self._after, ours=_OURS[TaskStatus(updates[-1]["status"])])
        elif why:
            yield Note(text=why)

    def _words(self) -> Iterator[Step]:
        if self._task.status in FINAL:
            return
        task, issue = self._task, self._issue
        theirs = self._after.words
        base = self._seen.words if self._seen else ""
        if task.source and task.source.path == self._tracker.source:
            yield from self._their_words(theirs, base)
            return
        title, body = words.title_of(task.title), words.told(task)
        ours = words_of(self._tracker, title, body)
        if ours == theirs or "update" not in self._tracker.can:
            return
        if base not in {"", theirs}:
            yield self._conflict("description", "ours", f"{title}\n\n{body}", f"{issue.title}\n\n{issue.body}")
        mark = words.fingerprint(self._where, ours, theirs)
        if self._way.push and self._is_new("update", mark):
            yield Rewrite(title=title, body=body, fingerprint=mark)
            self._after = replace(self._after, words=ours)
        elif not self._way.push:
            self._after = replace(self._after, words=base)

    def _their_words(self, theirs: str, base: str) -> Iterator[Step]:
        task, issue = self._task, self._issue
        ours = words_of(self._tracker, task.title, task.description or "")
        if theirs in {ours, base}:
            return
        if not self._way.pull:
            self._after = replace(self._after, words=base)
            return
        if base not in {"", ours}:
            ours_said = f"{task.title}\n\n{task.description or ''}"
            yield self._conflict("description", "tracker", ours_said, f"{issue.title}\n\n{issue.body}")
        changed: dict[str, Any] = {"title": issue.title}
        if "update" in self._tracker.can:
            changed["description"] = issue.body or None
        yield Change(updates=(changed,), why="its words were changed there")

    def _is_new(self, kind: str, mark: str) -> bool:
        return key_of(self._task.id, kind, mark) not in self._known.done

    def _conflict(
        self, field: Literal["status", "description"], won: Literal["tracker", "ours"], ours: str, theirs: str
    ) -> Conflict:
        return Conflict(field=field, resolution=won, ours=ours, theirs=theirs)


def _why(task: Task) -> str:
    return f"{task.id} is {task.status}" + (f": {task.blocker}" if task.blocker else "")


def _followed(
    task: Task, theirs: IssueState, where: str, *, accept_done: bool
) -> tuple[tuple[dict[str, Any], ...], str]:
    """What a task becomes when its issue becomes this, and why; nothing, and why not; or nothing at all."""
    match theirs:
        case IssueState.DROPPED:
            return ({"status": TaskStatus.CANCELLED},), f"{where} was closed as not planned"
        case IssueState.DONE if accept_done:
            return _done(task), f"{where} was closed as done, and you take its word"
        case IssueState.DONE:
            why = echo(theirs, where)
            return _set_aside(task, why, _tags(task, CLAIMED)), why
        case IssueState.OPEN:
            if task.status is not TaskStatus.BLOCKED:
                return (), ""
            back = {"status": TaskStatus.PENDING, "tags": [tag for tag in task.tags or () if tag != CLAIMED] or None}
            return (back,), f"{where} was opened again"
        case IssueState.STARTED | IssueState.BLOCKED:
            if task.status is not TaskStatus.PENDING:
                return (), ""
            why = echo(theirs, where)
            return _set_aside(task, why, {}), why


def echo(state: IssueState, where: str) -> str:
    """Why a task is blocked of which only the tracker says so."""
    match state:
        case IssueState.STARTED:
            return f"somebody else works on {where}"
        case IssueState.BLOCKED:
            return f"{where} is blocked"
    return f"{where} was closed as done, which is not proven here"


def _echoes(where: str) -> frozenset[str]:
    return frozenset(echo(state, where) for state in (IssueState.STARTED, IssueState.BLOCKED, IssueState.DONE))


def _set_aside(task: Task, why: str, more: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """A human can let it go on, and so can whoever opens the issue again."""
    blocked = {"status": TaskStatus.BLOCKED, "blocker": why, **more}
    match task.status:
        case TaskStatus.REVIEW:
            return ()
        case TaskStatus.DISCOVERED:
            return {"status": TaskStatus.PENDING}, blocked
    return () if task.blocker == why else (blocked,)


def _done(task: Task) -> tuple[dict[str, Any], ...]:
    ways = {
        TaskStatus.DISCOVERED: (TaskStatus.PENDING, TaskStatus.IN_PROGRESS),
        TaskStatus.BLOCKED: (TaskStatus.PENDING, TaskStatus.IN_PROGRESS),
        TaskStatus.PENDING: (TaskStatus.IN_PROGRESS,),
    }
    steps = [{"status": step} for step in ways.get(task.status, ())]
    return (*steps, {"status": TaskStatus.DONE, **_tags(task, UNPROVEN)})


def _tags(task: Task, tag: str) -> dict[str, Any]:
    kept = [one for one in task.tags or () if one not in {CLAIMED, UNPROVEN}]
    return {"tags": [*kept, tag]}
