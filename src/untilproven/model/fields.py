"""Field types that the documents share."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

LOOP_ID_PATTERN = r"^ralph-[a-z0-9-]+-[a-f0-9]{8}$"
# msgspec searches, and Python's `$` also matches before a newline at the end: the look-ahead makes it a full match.
LoopId = Annotated[str, Meta(pattern=LOOP_ID_PATTERN + r"(?!\n)", max_length=128)]
Version = Annotated[str, Meta(pattern=r"^2\.\d+\.\d+$(?!\n)", max_length=32)]
StateFile = Annotated[str, Meta(pattern=r"^\.aiwg/ralph/loops/[^/]+/state\.json$(?!\n)")]

Timestamp = Annotated[datetime, Meta(tz=True)]
Count = Annotated[int, Meta(ge=0)]
Ordinal = Annotated[int, Meta(ge=1)]
Percent = Annotated[float, Meta(ge=0, le=100)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Mode(StrEnum):
    """How far an execution can be repeated."""

    STRICT = "strict"
    SEEDED = "seeded"
    LOGGED = "logged"
    DEFAULT = "default"


class Severity(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Decision(StrEnum):
    """What a human can say at a gate."""

    APPROVE = "approve"
    REJECT = "reject"
    ABORT = "abort"


class PauseReason(StrEnum):
    USER = "user"
    GATE = "gate"
    USAGE_LIMIT = "usage_limit"
    BROKEN_CHECK = "broken_check"
    BLOCKED = "blocked"
