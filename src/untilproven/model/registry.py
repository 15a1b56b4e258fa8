"""Source 004: which loops are active, at most four of them."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from untilproven.model.fields import Count, LoopId, Ordinal, StateFile, Timestamp, Version
from untilproven.model.status import Status
from untilproven.model.wire import Record

REGISTRY_VERSION = "2.0.0"
MAX_CONCURRENT_LOOPS: Literal[4] = 4
CAP_REASON = "Beyond 4 loops, error rate increases 17.2x (REF-086)"
HEARTBEAT_SECONDS = 60
STALE_SECONDS = 300
STALE_CHECK_SECONDS = 300
LOCK_TIMEOUT_SECONDS = 5.0


class ActiveLoop(Record, frozen=True, kw_only=True):
    loop_id: LoopId
    status: Literal["running", "paused", "completing", "crashed"]
    iteration: Count
    started_at: Timestamp
    task: str | UnsetType = UNSET
    completion_criteria: str | UnsetType = UNSET
    last_active: Timestamp | UnsetType = UNSET
    pid: int | UnsetType = UNSET
    owner: str | UnsetType = UNSET
    working_directory: str | UnsetType = UNSET
    state_file: StateFile | UnsetType = UNSET
    max_iterations: Ordinal | UnsetType = UNSET
    timeout_minutes: int | UnsetType = UNSET

    @property
    def state(self) -> Status:
        return Status(self.status)


class Registry(Record, frozen=True, kw_only=True):
    version: Version
    max_concurrent_loops: Literal[4]
    active_loops: Annotated[tuple[ActiveLoop, ...], Meta(max_length=MAX_CONCURRENT_LOOPS)]
    registry_path: str | UnsetType = UNSET
    last_updated: Timestamp | UnsetType = UNSET


def communication_paths(loops: int) -> int:
    """How many pairs of loops could get in each other's way (source 004: n*(n-1)/2)."""
    return loops * (loops - 1) // 2
