"""Which checkpoints are kept: the newest, and every one somebody may come back for."""

from collections.abc import Collection
from datetime import datetime, timedelta

import msgspec

KEPT_CHECKPOINTS = 5
KEPT_DAYS = 30


class Stored(msgspec.Struct, frozen=True):
    """What the retention rule needs to know of a checkpoint."""

    iteration: int
    created_at: datetime


def expired(checkpoints: Collection[Stored], *, now: datetime, best: int | None) -> list[Stored]:
    """Those to delete: all but the last 5, and of these what is over 30 days old.

    The very last one and the best iteration's stay whatever their age; tagged ones are for the caller to
    spare, since only reading a checkpoint tells its tags.
    """
    ordered = sorted(checkpoints, key=lambda stored: stored.iteration, reverse=True)
    limit = now - timedelta(days=KEPT_DAYS)
    return [
        stored
        for place, stored in enumerate(ordered)
        if place > 0 and stored.iteration != best and (place >= KEPT_CHECKPOINTS or stored.created_at < limit)
    ]
