"""The book of tasks: what each line of tasks.jsonl does to it, and which line may not follow.

Reading is patient, for the file may come from another hand or from a merge: who a task names need not be there, and a
circle is no more than a reason to wait. `core/task_rules.py` is stricter with what is about to be written.
"""

from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType, convert, defstruct
from msgspec.structs import fields, replace

from untilproven.core.naming import quoted
from untilproven.errors import NoSuchTask, TaskRefused
from untilproven.model import wire
from untilproven.model.task import (
    MOVES,
    Command,
    Completion,
    Create,
    Link,
    Operation,
    Relate,
    Task,
    TaskStatus,
    Update,
    Validate,
)
from untilproven.model.task import TestPassing as Tests

Line = Task | Operation

_FIELDS = {field.encode_name: field for field in fields(Task) if field.encode_name not in {"id", wire.RESERVED}}
_RECORDS = frozenset({"source", "completion", "limits"})
"""Fields with keys of their own, some of which may be unknown."""
_Part = defstruct("_Part", [(field.name, field.type, UNSET) for field in _FIELDS.values()], rename="camel")
_RELATIONS = frozenset({"blocks", "blocked_by", "parent", "subtasks"})


class Book:
    """Tasks by id, as the lines taken so far leave them. A line that is refused changes nothing, but for a second task
    under an id that is taken: then neither can be worked on."""

    def __init__(self) -> None:
        self.tasks: dict[str, Task] = {}
        self._created: dict[str, Task] = {}
        self._twice: set[str] = set()
        self._naming: dict[str, set[str]] | None = None

    def take(self, line: Line) -> None:
        """Do what a line says, or raise `TaskRefused`."""
        match line:
            case Task():
                self._whole(line)
            case Create():
                self._create(line)
            case Update():
                self._update(line)
            case Link():
                task = self._known(line.id)
                url = task.external_url if line.external_url is UNSET else line.external_url
                self._put(replace(_touched(task, line.timestamp), external_id=line.external_id, external_url=url))
            case Relate(relation="blocks"):
                self._blocks(line.id, line.target_id, line.timestamp)
            case Relate(relation="blockedBy"):
                self._blocks(line.target_id, line.id, line.timestamp)
            case Relate(relation="parent"):
                self._adopts(line.id, line.target_id, line.timestamp)
            case Relate(relation="subtask"):
                self._adopts(line.target_id, line.id, line.timestamp)

    def _whole(self, task: Task) -> None:
        """The last one with an id wins; but what is final stays so."""
        before = self.tasks.get(task.id)
        if before and before.status is not task.status and task.status not in _REACHABLE[before.status]:
            raise _no_such_move(before, task.status)
        self._put(_settled(task, UNSET))

    def _create(self, line: Create) -> None:
        task = line.task
        if task.id in self.tasks:
            if task in (self._created.get(task.id), self.tasks[task.id]):
                return
            self._is_two(task.id)
        self._put(_settled(task if task.created_at else replace(task, created_at=line.timestamp), line.timestamp))
        self._created[task.id] = task

    def _is_two(self, task_id: str) -> None:
        """Two branches gave one id to two tasks: what is said about it may mean either, so it is done for neither."""
        why = f"two tasks are called {task_id}"
        hint = "give one of them another id in tasks.jsonl, in all of its lines"
        self._twice.add(task_id)
        self._put(replace(self.tasks[task_id], status=TaskStatus.BLOCKED, blocker=f"{why}: {hint}", completed_at=UNSET))
        raise TaskRefused(f"ids are unique: {why}", hint=hint)

    def _update(self, line: Update) -> None:
        before = self._known(line.id)
        changed = _fields(before, line.changes)
        changed.setdefault("updated_at", line.timestamp or before.updated_at)
        after = replace(before, **changed)
        if after.status is not before.status and after.status not in MOVES[before.status]:
            raise _no_such_move(before, after.status)
        if after.status is not TaskStatus.BLOCKED and changed.get("blocker"):
            raise TaskRefused(
                f"a blocker says why a task is blocked, and {line.id} is {after.status}",
                hint=f'ralph task block {line.id} --why "..."',
            )
        self._put(_settled(after, line.timestamp))
        if not _RELATIONS.isdisjoint(changed):
            self._other_sides(after, changed)

    def _other_sides(self, task: Task, changed: dict[str, Any]) -> None:
        """What an update takes out of one side of a relation is taken out of the other, too."""
        for other in [self.tasks[name] for name in self._who_names(task.id)]:
            new: dict[str, Any] = {}
            if "blocked_by" in changed and other.id not in (task.blocked_by or ()):
                new["blocks"] = _without(other.blocks, task.id)
            if "blocks" in changed and other.id not in (task.blocks or ()):
                new["blocked_by"] = _without(other.blocked_by, task.id)
            if "parent" in changed and other.id != task.parent:
                new["subtasks"] = _without(other.subtasks, task.id)
            if "subtasks" in changed and other.parent == task.id and other.id not in (task.subtasks or ()):
                new["parent"] = UNSET
            if new:
                self._put(replace(other, **new))
        for name in task.subtasks or () if "subtasks" in changed else ():
            if name in self.tasks:
                self._adopts(task.id, name, UNSET)

    def _blocks(self, blocker: str, blocked: str, at: datetime | UnsetType) -> None:
        for task in self._either(blocker, blocked):
            if task.id == blocker:
                self._put(replace(_touched(task, at), blocks=_with(task.blocks, blocked)))
            if task.id == blocked:
                task = self.tasks[blocked]  # noqa: PLW2901  it may block itself
                self._put(replace(_touched(task, at), blocked_by=_with(task.blocked_by, blocker)))

    def _adopts(self, parent: str, child: str, at: datetime | UnsetType) -> None:
        """A task has one parent: the one that it had is left."""
        known = self._either(parent, child)
        for other in [self.tasks[name] for name in self._who_names(child)]:
            if other.id != parent and other.subtasks and child in other.subtasks:
                self._put(replace(other, subtasks=_without(other.subtasks, child)))
        for task in known:
            if task.id == parent:
                self._put(replace(_touched(task, at), subtasks=_with(task.subtasks, child)))
            if task.id == child:
                self._put(replace(_touched(self.tasks[child], at), parent=parent))

    def _known(self, task_id: str) -> Task:
        if task_id not in self.tasks:
            raise no_such_task(task_id)
        if task_id in self._twice:
            raise TaskRefused(f"{task_id}: {self.tasks[task_id].blocker}", hint="then say it again")
        return self.tasks[task_id]

    def _either(self, one: str, other: str) -> list[Task]:
        known = [self.tasks[name] for name in dict.fromkeys((one, other)) if name in self.tasks]
        if not known:
            raise no_such_task(one)
        return known

    def _put(self, task: Task) -> None:
        self.tasks[task.id] = task
        if self._naming is not None:
            _note_names(self._naming, task)

    def _who_names(self, task_id: str) -> set[str]:
        """The tasks that may have this one in a relation; made when it is first asked for, which is seldom."""
        if self._naming is None:
            self._naming = {}
            for task in self.tasks.values():
                _note_names(self._naming, task)
        return self._naming.get(task_id, set()) - {task_id}


def completions(task: Task) -> tuple[Completion, ...]:
    """What completes a task, as a list."""
    if task.completion is UNSET:
        return ()
    return task.completion if isinstance(task.completion, tuple) else (task.completion,)


def commands(task: Task) -> list[str]:
    """The lines that would be run to see whether it is done."""
    found = []
    for one in completions(task):
        match one:
            case Command(command=str(line)) | Tests(command=str(line)) | Validate(script=line):
                found.append(line)
    return found


def no_such_task(task_id: str) -> NoSuchTask:
    return NoSuchTask(f"there is no task {quoted(task_id)}", hint="`ralph task list --all` shows them")


def named_by(task: Task) -> set[str]:
    """All that it has a relation with, from its side."""
    parent = (task.parent,) if task.parent else ()
    return {*parent, *(task.subtasks or ()), *(task.blocks or ()), *(task.blocked_by or ())}


def _note_names(naming: dict[str, set[str]], task: Task) -> None:
    for name in named_by(task):
        naming.setdefault(name, set()).add(task.id)


def _fields(task: Task, changes: dict[str, Any]) -> dict[str, Any]:
    """The fields of a task that these changes set, by their names here."""
    given: dict[str, Any] = {}
    found: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    for key, value in changes.items():
        field = _FIELDS.get(key)
        if field is None:
            unknown[key] = value
        elif value is not None:
            given[key] = value
        elif key in {"title", "status"}:
            raise TaskRefused(f"{task.id} cannot be without a {key}", hint="say which it has now")
        else:
            found[field.name] = field.default
    if unknown.pop("id", task.id) != task.id:
        raise TaskRefused(f"the id of {task.id} cannot change", hint="cancel it and create another")
    if unknown:
        kept = {key: value for key, value in {**(task.extra or {}), **unknown}.items() if value is not None}
        found["extra"] = kept or UNSET
    read = _read(task, given)
    for key in given:
        name = _FIELDS[key].name
        found[name] = getattr(read, name)
    return found


def _read(task: Task, given: dict[str, Any]) -> Any:
    try:
        if _RECORDS.isdisjoint(given):
            return convert(given, _Part)
        return wire.from_builtins(Task, {"id": task.id, "title": "", **given})
    except wire.UNREADABLE as error:
        hint = "`ralph schema task` says what fits"
        raise TaskRefused(f"{task.id} cannot be changed so: {error}", hint=hint) from error


def _settled(task: Task, at: datetime | UnsetType) -> Task:
    """With `completed_at` if it is done and only then, and with a blocker only as long as it is blocked."""
    if task.status is TaskStatus.DONE:
        if task.completed_at is UNSET and (at or task.updated_at):
            task = replace(task, completed_at=at or task.updated_at)
    elif task.completed_at is not UNSET:
        raise TaskRefused(
            f"completedAt is for a task that is done, and {task.id} is {task.status}",
            hint=f"`ralph task done {task.id}` says that it is done",
        )
    if task.blocker and task.status is not TaskStatus.BLOCKED:
        task = replace(task, blocker=UNSET)
    return task


def _no_such_move(task: Task, to: TaskStatus) -> TaskRefused:
    possible = sorted(MOVES[task.status])
    hint = f"from {task.status} it can become {', '.join(possible)}" if possible else f"{task.status} is final"
    return TaskRefused(f"{task.id} is {task.status} and cannot become {to}", hint=hint)


def _touched(task: Task, at: datetime | UnsetType) -> Task:
    return replace(task, updated_at=at) if at else task


def _with(names: tuple[str, ...] | UnsetType, name: str) -> tuple[str, ...]:
    known = names or ()
    return known if name in known else (*known, name)


def _without(names: tuple[str, ...] | UnsetType, name: str) -> tuple[str, ...] | UnsetType:
    return UNSET if names is UNSET else tuple(one for one in names if one != name)


def _reachable() -> dict[TaskStatus, set[TaskStatus]]:
    """Where a status can lead in several moves: a task that is written whole tells of the last one only."""
    found = {status: set(moves) for status, moves in MOVES.items()}
    for _ in MOVES:
        for reached in found.values():
            reached.update(*(MOVES[status] for status in reached))
    return found


_REACHABLE = _reachable()
