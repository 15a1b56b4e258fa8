"""Which task is next (source 002), what the others wait for, and who waits in a circle."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from untilproven.model.task import Task, TaskStatus

Tasks = Mapping[str, Task]

CLOSED = frozenset({TaskStatus.DONE, TaskStatus.CANCELLED})
_WORKABLE = frozenset({TaskStatus.PENDING, TaskStatus.IN_PROGRESS})
_LAST = datetime.max.replace(tzinfo=UTC)
_NAMED = 3


def order(tasks: Tasks) -> list[Task]:
    """Those that can be worked on now, the first one first."""
    return sorted(_ready(tasks), key=rank)


def pick(tasks: Tasks) -> Task | None:
    """The task that is next, if one can be worked on."""
    return min(_ready(tasks), key=rank, default=None)


def rank(task: Task) -> tuple[bool, float, datetime, str]:
    """In progress, highest priority, oldest (those without a date last), and then by id: no two tasks are equal."""
    return task.status is not TaskStatus.IN_PROGRESS, -task.priority, task.created_at or _LAST, task.id


def why_blocked(task: Task, tasks: Tasks) -> str:
    """Why it cannot be worked on now, in words; empty if nothing keeps it."""
    return Waiting(tasks).why(task)


class Waiting:
    """Who waits for whom, from both sides of each relation. Make it once for many questions."""

    def __init__(self, tasks: Tasks) -> None:
        self.tasks = tasks
        self.blockers: dict[str, dict[str, None]] = {}
        self.subtasks: dict[str, dict[str, None]] = {}
        for task in tasks.values():
            if task.blocked_by:
                self.blockers.setdefault(task.id, {}).update(dict.fromkeys(task.blocked_by))
            for other in task.blocks or ():
                self.blockers.setdefault(other, {})[task.id] = None
            if task.parent:
                self.subtasks.setdefault(task.parent, {})[task.id] = None
            if task.subtasks:
                self.subtasks.setdefault(task.id, {}).update(dict.fromkeys(task.subtasks))

    def why(self, task: Task) -> str:
        reasons = [f"blocked: {task.blocker or 'nobody said why'}"] if task.status is TaskStatus.BLOCKED else []
        if unfinished := self.unfinished_blockers(task.id):
            reasons.append("waits for " + _listed([self._described(blocker) for blocker in unfinished]))
        if unfinished := self.unfinished_subtasks(task.id):
            reasons.append("waits for its subtasks " + _listed([self._described(subtask) for subtask in unfinished]))
        return "; ".join(reasons)

    def unfinished_blockers(self, task_id: str) -> list[str]:
        """Only what is done blocks no more: what was cancelled, or nobody knows, was not done."""
        return [blocker for blocker in self.blockers.get(task_id, ()) if not self._is(blocker, (TaskStatus.DONE,))]

    def unfinished_subtasks(self, task_id: str) -> list[str]:
        """A subtask that was cancelled is not part of the work any more."""
        return [subtask for subtask in self.subtasks.get(task_id, ()) if not self._is(subtask, CLOSED)]

    def waits_for(self, task_id: str) -> list[str]:
        """All that comes before it, finished or not."""
        return [*{**self.blockers.get(task_id, {}), **self.subtasks.get(task_id, {})}]

    def _is(self, task_id: str, statuses: Iterable[TaskStatus]) -> bool:
        task = self.tasks.get(task_id)
        return task is not None and task.status in statuses

    def _described(self, task_id: str) -> str:
        task = self.tasks.get(task_id)
        if task is None:
            return f"{task_id}, which nobody knows"
        if task.status is TaskStatus.CANCELLED:
            return f"{task_id}, which was cancelled and so never done"
        return f"{task_id} ({task.status})"


def cycles(tasks: Tasks) -> list[list[str]]:
    """Tasks that wait for each other in a circle, so that none of them can ever be worked on: `[A, B, A]`."""
    waiting = Waiting(tasks)
    unfinished = {
        task.id: [*waiting.unfinished_blockers(task.id), *waiting.unfinished_subtasks(task.id)]
        for task in tasks.values()
        if task.status not in CLOSED
    }
    return [shortest(unfinished, min(knot), min(knot), knot) for knot in _knots(unfinished)]


def knotted(tasks: Tasks) -> dict[str, set[str]]:
    """Each task that waits for itself in the end, with all of those that it shares a circle with."""
    waiting = Waiting(tasks)
    knots = _knots({task_id: waiting.waits_for(task_id) for task_id in {**waiting.blockers, **waiting.subtasks}})
    return {member: knot for knot in knots for member in knot}


def shortest(waits: Mapping[str, Sequence[str]], start: str, end: str, within: set[str]) -> list[str]:
    """The shortest way from one task to another along what they wait for; a knot has one between any two."""
    came_from: dict[str, str] = {}
    frontier = [start]
    while end not in came_from:
        reached = []
        for task_id in frontier:
            for following in waits.get(task_id, ()):
                if following in within and following not in came_from:
                    came_from[following] = task_id
                    reached.append(following)
        if not reached:
            raise LookupError(f"no way from {start} to {end}")
        frontier = reached
    way = [end, came_from[end]]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]


def _ready(tasks: Tasks) -> list[Task]:
    waiting = Waiting(tasks)
    blockers, subtasks = waiting.blockers, waiting.subtasks
    return [
        task
        for task in tasks.values()
        if task.status in _WORKABLE
        and not (task.id in blockers and waiting.unfinished_blockers(task.id))
        and not (task.id in subtasks and waiting.unfinished_subtasks(task.id))
    ]


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _knots(waits: Mapping[str, Sequence[str]]) -> list[set[str]]:
    """The strongly connected parts (Tarjan), without recursion: a chain may have ten thousand links."""
    found: list[set[str]] = []
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    for root in waits:
        if root in number:
            continue
        work = [(root, iter(waits[root]))]
        number[root] = low[root] = len(number)
        path.append(root)
        on_path.add(root)
        while work:
            task_id, left = work[-1]
            for following in left:
                if following not in number:
                    number[following] = low[following] = len(number)
                    path.append(following)
                    on_path.add(following)
                    work.append((following, iter(waits.get(following, ()))))
                    break
                if following in on_path:
                    low[task_id] = min(low[task_id], number[following])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[task_id])
                if low[task_id] == number[task_id]:
                    knot = _cut_off(path, task_id)
                    on_path -= knot
                    if len(knot) > 1 or task_id in waits.get(task_id, ()):
                        found.append(knot)
    return found


def _cut_off(path: list[str], task_id: str) -> set[str]:
    place = len(path) - 1
    while path[place] != task_id:
        place -= 1
    knot = set(path[place:])
    del path[place:]
    return knot
