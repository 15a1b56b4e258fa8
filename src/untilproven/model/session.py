"""Source 001: the loop inside an interactive session, one record per session."""

from msgspec import UNSET, UnsetType

from untilproven.model.fields import Ordinal, Timestamp
from untilproven.model.wire import Record


class SessionLoopState(Record, frozen=True, kw_only=True, rename="camel"):
    active: bool
    iteration: Ordinal
    max_iterations: Ordinal
    completion_promise: str
    started_at: Timestamp
    prompt: str
    session_id: str
    last_iteration_at: Timestamp | UnsetType = UNSET
    description: str | UnsetType = UNSET
