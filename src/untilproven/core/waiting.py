"""What a loop that does not go on is waiting for."""

from untilproven.model.events import StatusChanged
from untilproven.model.fields import PauseReason
from untilproven.model.status import Status


def needs_a_human(change: StatusChanged) -> bool:
    """Whether it waits for somebody who does not know yet: not for time, and not because somebody asked for it."""
    return (
        change.to is Status.PAUSED
        and bool(change.pause_reason)
        and change.pause_reason is not PauseReason.USER
        and not change.resume_at
    )
