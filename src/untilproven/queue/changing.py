"""What a file says differently about a task that is here already; what was added here stays."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from untilproven.core.tasks import commands, completions
from untilproven.model.task import Origin, Task, TaskStatus, Update
from untilproven.queue.reading import Source

_WORDS = ("title", "description", "acceptanceCriteria", "priority", "spec", "limits", "parent")
"""What an entry that has changed decides; by its name in JSON."""
_STEPS = {
    TaskStatus.DISCOVERED: {TaskStatus.PENDING, TaskStatus.CANCELLED},
    TaskStatus.PENDING: {TaskStatus.CANCELLED},
    TaskStatus.BLOCKED: {TaskStatus.CANCELLED},
}
"""From which status here a file can bring a task to which: it can begin and drop one, and never finish it."""


def origin(task: Task, path: str, line: int) -> Origin:
    """Where an entry stands, and what it says, so that an edit made here is not undone by a file that is as it was."""
    said = msgspec.json.encode(msgspec.to_builtins(replace(task, source=msgspec.UNSET)), order="sorted")
    return Origin(type="spec", path=path, line=line, sha=hashlib.sha256(said).hexdigest()[:16])


def change_of(before: Task, wanted: Task, source: Source, known: Mapping[str, Task]) -> Update | None:
    """The one update that brings a task to what its entry says now, if there is anything to bring."""
    changes: dict[str, Any] = {}
    if not (before.source and wanted.source and before.source.sha == wanted.source.sha):
        changes = _said(before, wanted, source, known)
    if wanted.status in _STEPS.get(before.status, ()):
        changes["status"] = wanted.status.value
    if not changes:
        return None
    return Update(id=before.id, changes=changes | {"source": msgspec.to_builtins(wanted.source)}, source="manual")


def _said(before: Task, wanted: Task, source: Source, known: Mapping[str, Task]) -> dict[str, Any]:
    joined = replace(
        wanted,
        completion=tuple(dict.fromkeys((*completions(before), *completions(wanted)))),
        never_touch=_joined(before.never_touch, wanted.never_touch),
        tags=_joined(before.tags, wanted.tags),
        blocks=_joined(before.blocks, wanted.blocks),
        blocked_by=_joined(_blockers_from_elsewhere(before, source, known), wanted.blocked_by),
    )
    old, new = msgspec.to_builtins(replace(before, completion=completions(before))), msgspec.to_builtins(joined)
    said = {key: new[key] for key in _WORDS if key in new and new[key] != old.get(key)}
    lists = ("completion", "neverTouch", "tags", "blocks", "blockedBy")
    return said | {key: new[key] for key in lists if [*new[key]] != [*old.get(key, ())]}


def _blockers_from_elsewhere(before: Task, source: Source, known: Mapping[str, Task]) -> tuple[str, ...]:
    """Without those of the same file: one of them that it no longer names is gone."""
    return tuple(one for one in before.blocked_by or () if one not in known or not source.has(known[one]))


def kept_commands(before: Task, wanted: Task) -> Iterable[str]:
    """A check is never taken away by a file; it is said that it stays."""
    if kept := [line for line in commands(before) if line not in commands(wanted)]:
        yield (
            f"{before.id} must still pass {', '.join(kept)}, which the file does not ask for; "
            f"`ralph task edit {before.id} --until ...` changes that"
        )


def _joined(old: Iterable[str] | msgspec.UnsetType, more: Iterable[str] | msgspec.UnsetType) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*(old or ()), *(more or ()))))
