"""When is a loop crashed, and not only quiet? All of it must say so."""

from datetime import datetime
from enum import StrEnum

from msgspec import UnsetType

from untilproven.model.registry import STALE_SECONDS
from untilproven.model.status import HAS_PROCESS, Status


class Liveness(StrEnum):
    """What is known about the process that ran a loop."""

    ALIVE = "alive"
    DEAD = "dead"
    ORPHANED = "orphaned"
    """No process is recorded."""
    UNKNOWN = "unknown"
    """It cannot be seen from here: another pid namespace, or state that is not ours. Then the loop's lock decides."""


def is_stale(
    status: Status,
    liveness: Liveness,
    *,
    now: datetime,
    heartbeat: datetime | UnsetType,
    state_written: datetime,
) -> bool:
    """No heartbeat for 300 s, no process known to be alive, and the state file is not fresh.

    Whoever acts on it takes the loop's lock first, which a living runner holds.
    """
    return (
        status in HAS_PROCESS
        and liveness is not Liveness.ALIVE
        and (not heartbeat or _old(now, heartbeat))
        and _old(now, state_written)
    )


def _old(now: datetime, moment: datetime) -> bool:
    """Far in the past; or far in the future, which only a clock that jumped back can show."""
    return abs((now - moment).total_seconds()) >= STALE_SECONDS
