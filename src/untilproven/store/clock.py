"""The time, as the rest of the store asks for it; tests bring their own."""

from collections.abc import Callable
from datetime import UTC, datetime

__all__ = ["UTC", "Clock", "from_timestamp", "now"]

Clock = Callable[[], datetime]


def now() -> datetime:
    return datetime.now(UTC)


def from_timestamp(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
