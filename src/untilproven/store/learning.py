"""learning.jsonl and progress.jsonl, beside tasks.jsonl; and what all three are to say of a task that has ended."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import get_args

import msgspec

from untilproven.core.noticing import anomaly_of, identity, noticed
from untilproven.model.hooks import Anomaly
from untilproven.model.learning import AnomalyDetected, Learnt, Progress, TaskCompleted
from untilproven.model.task import TaskStatus, Update
from untilproven.store import files
from untilproven.store.layout import STATE_DIRECTORY, Project
from untilproven.store.lines import Lines
from untilproven.store.tasks import book_of


def learning_of(project: Project) -> Lines[Learnt]:
    book = book_of(project)
    return Lines(book.learning, book.lock.with_name("learning.lock"), get_args(Learnt), identity)


def progress_of(project: Project) -> Lines[Progress]:
    book = book_of(project)
    return Lines(book.progress, book.lock.with_name("progress.lock"), get_args(Progress), identity)


class End(msgspec.Struct, frozen=True, kw_only=True):
    """What the queue's files are to say of a task that has ended; none of it is written yet.

    A commit can have it before the files do: whoever finds the commit then brings it to the files.
    """

    lines: dict[str, list[bytes]]
    """What comes to each file, by its path below the project's root."""
    files: dict[str, bytes]
    """The files as they are then."""
    anomalies: tuple[Anomaly, ...] = ()
    """What looks wrong, and nobody was told of before."""


def ended(
    project: Project,
    update: Update,
    progress: Iterable[Progress],
    learnt: TaskCompleted | None,
    now: datetime,
    was: TaskStatus = TaskStatus.IN_PROGRESS,
) -> End:
    """The end of a task: its status, what became of its iterations, what that teaches. Whatever of
    it is written already is not written again."""
    book, learning = book_of(project), learning_of(project)
    before, status = book.drafted(update, expect={update.id: was})
    told = progress_of(project).drafted(*progress)
    new: tuple[Learnt, ...] = ()
    if learnt:
        new = (learnt, *noticed([*learning.read().records, learnt], now))
    taught = learning.drafted(*new)
    drafts = {
        book.path: (before, status),
        book.progress: (told.before, told.lines),
        book.learning: (taught.before, taught.lines),
    }
    return End(
        lines={_below(project, path): _split(lines) for path, (_, lines) in drafts.items()},
        files={_below(project, path): data + lines for path, (data, lines) in drafts.items() if data or lines}
        | _ignored(project),
        anomalies=tuple(anomaly_of(record) for record in taught.new if isinstance(record, AnomalyDetected)),
    )


def write(project: Project, lines: Mapping[str, list[bytes]]) -> None:
    """Bring these lines to the files that they are for, the status last: once it is there, all of it is."""
    book = book_of(project)
    for path, file in ((book.learning, learning_of(project)), (book.progress, progress_of(project)), (book.path, book)):
        file.adopt(*lines.get(_below(project, path), ()))


def queue_files(project: Project) -> tuple[str, ...]:
    """Their paths below the project's root."""
    book = book_of(project)
    return tuple(_below(project, path) for path in (book.path, book.progress, book.learning))


def _below(project: Project, path: Path) -> str:
    return path.relative_to(project.root).as_posix()


def _split(lines: bytes) -> list[bytes]:
    return [line for line in lines.split(b"\n") if line]


def _ignored(project: Project) -> dict[str, bytes]:
    """What keeps the rest of our directory out of git comes along, if the tasks are there."""
    path = f"{STATE_DIRECTORY}/.gitignore"
    if not queue_files(project)[0].startswith(STATE_DIRECTORY) or not (project.root / path).is_file():
        return {}
    return {path: files.read(project.root / path)}
