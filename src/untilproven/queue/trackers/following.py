"""A run of the queue tells the tracker how tasks end, and never fails because of it."""

from untilproven.config.settings import Settings
from untilproven.errors import RalphError
from untilproven.queue.contract import Teller
from untilproven.queue.trackers.choosing import tracker_of
from untilproven.queue.trackers.deciding import Way
from untilproven.queue.trackers.syncing import Sync
from untilproven.store.layout import Project

_LOCK_SECONDS = 5.0


def follow(project: Project, settings: Settings, teller: Teller) -> None:
    """Say there what has ended here; what does not work is noted, and done by the next sync."""
    typed = settings.value("queue.tracker")
    try:
        label = settings.value("queue.tracker_label")
        tracker = tracker_of(project, typed, label, base=project.root, patient=False)
        outcome = Sync(project, tracker, Way(pull=False)).follow_up(lock_seconds=_LOCK_SECONDS)
    except RalphError as error:
        teller.note(f"{typed} was not told: {error.message}; the next sync does it")
        return
    for one in outcome.failed:
        teller.note(f"{typed} was not told of {one.task}: {one.text}; the next sync does it")
