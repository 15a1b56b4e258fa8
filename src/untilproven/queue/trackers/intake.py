"""Issues that become tasks: each under an id that is free, all in one append."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import UNSET
from msgspec.structs import replace

from untilproven.core.tasks import commands
from untilproven.errors import TaskRefused
from untilproven.model.task import Create, Origin, Task, TaskStatus
from untilproven.model.tracker import IssueState
from untilproven.queue.trackers.contract import Issue, Tracker
from untilproven.queue.trackers.deciding import FINAL, echo, linked
from untilproven.store import clock
from untilproven.store.tasks import TaskBook

_OURS = re.compile(r"RALPH-(\d{1,18})")
_TRIES = 5

Taken = tuple[Task, Issue]


def take_in(book: TaskBook, tracker: Tracker, issues: Sequence[Issue], now: clock.Clock) -> list[Taken]:
    """Write a task for each, and return them."""
    related = True
    for left in reversed(range(_TRIES)):
        tasks = book.read().by_id
        here = {key for key, task in linked(tasks.values(), tracker).items() if task.status not in FINAL}
        new = [issue for issue in issues if issue.key not in here]
        if not new:
            return []
        made = _made(tracker, new, tasks, now(), related=related)
        try:
            book.append(*(Create(task=task) for task in made))
        except TaskRefused:
            if not left:
                raise
            # Somebody took one of the ids meanwhile; or else the issues wait for each other.
            related = any(task.id in book.read().by_id for task in made)
            continue
        return [*zip(made, new, strict=True)]
    raise AssertionError("the last try returns or raises")


def commands_of(taken: Iterable[Taken]) -> tuple[str, ...]:
    """What these tasks would run, once somebody has trusted it."""
    return tuple(dict.fromkeys(line for task, _ in taken for line in commands(task)))


def _made(
    tracker: Tracker, issues: Sequence[Issue], tasks: Mapping[str, Task], moment: datetime, *, related: bool
) -> list[Task]:
    ids = _ids(issues, tasks)
    known = {key: task.id for key, task in linked(tasks.values(), tracker).items()} | ids
    made = []
    for place, issue in enumerate(issues):
        task = _task(tracker, issue, ids[issue.key], moment + timedelta(microseconds=place))
        blockers = tuple(dict.fromkeys(known[key] for key in issue.blocked_by if key in known and key != issue.key))
        made.append(replace(task, blocked_by=blockers) if blockers and related else task)
    return made


def _task(tracker: Tracker, issue: Issue, task_id: str, moment: datetime) -> Task:
    """The moments keep the order of the tracker."""
    free = issue.state is IssueState.OPEN
    return Task(
        id=task_id,
        title=issue.title,
        status=TaskStatus.PENDING if free else TaskStatus.BLOCKED,
        blocker=UNSET if free else echo(issue.state, tracker.external_id(issue.key)),
        created_at=moment,
        type=issue.type,
        description=issue.body or UNSET,
        source=Origin(type="spec", path=tracker.source),
        completion=issue.completion,
        acceptance_criteria=issue.acceptance_criteria,
        priority=issue.priority,
        external_id=tracker.external_id(issue.key),
        external_url=issue.url or UNSET,
    )


def _ids(issues: Iterable[Issue], tasks: Mapping[str, Task]) -> dict[str, str]:
    found: dict[str, str] = {}
    taken = set(tasks)
    following = max((int(one[1]) for name in tasks if (one := _OURS.fullmatch(name))), default=0) + 1
    for issue in issues:
        if issue.own_id and issue.own_id not in taken and not _OURS.fullmatch(issue.own_id):
            found[issue.key] = issue.own_id
        else:
            found[issue.key] = f"RALPH-{following:03d}"
            following += 1
        taken.add(found[issue.key])
    return found
