"""learning.jsonl and progress.jsonl, beside tasks.jsonl."""

from collections.abc import Iterable
from datetime import datetime
from typing import get_args

from untilproven.core.noticing import anomaly_of, identity, noticed
from untilproven.model.hooks import Anomaly
from untilproven.model.learning import AnomalyDetected, Learnt, Progress, TaskCompleted
from untilproven.store.layout import Project
from untilproven.store.lines import Lines
from untilproven.store.tasks import book_of


def learning_of(project: Project) -> Lines[Learnt]:
    book = book_of(project)
    return Lines(book.learning, book.lock.with_name("learning.lock"), get_args(Learnt), identity)


def progress_of(project: Project) -> Lines[Progress]:
    book = book_of(project)
    return Lines(book.progress, book.lock.with_name("progress.lock"), get_args(Progress), identity)


def record_end(
    project: Project, ended: TaskCompleted, progress: Iterable[Progress], now: datetime
) -> tuple[Anomaly, ...]:
    """Write down how a task ended, and what that teaches; whatever of it is written already is not written again.

    Returns what looks wrong and was not told before.
    """
    progress_of(project).append(*progress)
    learning = learning_of(project)
    learning.append(ended)
    new = learning.append(*noticed(learning.read().records, now))
    return tuple(anomaly_of(record) for record in new if isinstance(record, AnomalyDetected))
