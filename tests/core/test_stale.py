from datetime import timedelta

import pytest
from msgspec import UNSET

from support import MOMENT
from untilproven.core.stale import Liveness, is_stale
from untilproven.model.status import Status

OLD = MOMENT - timedelta(seconds=300)
FRESH = MOMENT - timedelta(seconds=299)


def stale(**changed: object) -> bool:
    facts: dict[str, object] = {
        "status": Status.RUNNING,
        "liveness": Liveness.DEAD,
        "heartbeat": OLD,
        "state_written": OLD,
        **changed,
    }
    return is_stale(
        facts["status"],  # type: ignore[arg-type]
        facts["liveness"],  # type: ignore[arg-type]
        now=MOMENT,
        heartbeat=facts["heartbeat"],  # type: ignore[arg-type]
        state_written=facts["state_written"],  # type: ignore[arg-type]
    )


def test_silent_for_300_seconds_dead_and_not_written_is_stale() -> None:
    assert stale()


@pytest.mark.parametrize(
    "changed",
    [
        {"heartbeat": FRESH},
        {"state_written": FRESH},
        {"liveness": Liveness.ALIVE},
        {"status": Status.PAUSED},
        {"status": Status.CRASHED},
        {"status": Status.COMPLETED},
    ],
)
def test_one_sign_of_life_is_enough_not_to_be_stale(changed: dict[str, object]) -> None:
    assert not stale(**changed)


def test_an_orphan_without_heartbeat_is_stale() -> None:
    assert stale(liveness=Liveness.ORPHANED, heartbeat=UNSET)


def test_a_process_that_cannot_be_seen_is_no_sign_of_life_the_lock_decides() -> None:
    assert stale(liveness=Liveness.UNKNOWN)


def test_a_heartbeat_from_the_far_future_is_no_sign_of_life() -> None:
    """The clock was set back: the beat is old, whatever its number says."""
    future = MOMENT + timedelta(hours=1)
    assert stale(heartbeat=future, state_written=future)
    assert not stale(heartbeat=MOMENT + timedelta(seconds=10))
