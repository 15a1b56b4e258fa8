"""tracker-ops.jsonl: what was done at trackers from here. It stays on this machine."""

from typing import get_args

from untilproven.model.tracker import TrackerLine
from untilproven.store.layout import Project
from untilproven.store.lines import Lines
from untilproven.store.lock import FileLock
from untilproven.store.tasks import book_of

_NAME = "tracker-ops"


def tracker_ops_of(project: Project) -> Lines[TrackerLine]:
    beside = book_of(project).lock
    return Lines(
        beside.with_name(f"{_NAME}.jsonl"), beside.with_name(f"{_NAME}.lock"), get_args(TrackerLine), lambda _: None
    )


def sync_lock(project: Project, seconds: float) -> FileLock:
    """One sync at a time: two would not see what the other is about to create."""
    return FileLock(
        book_of(project).lock.with_name("tracker-sync.lock"), timeout=seconds, what="the sync with a tracker"
    )
