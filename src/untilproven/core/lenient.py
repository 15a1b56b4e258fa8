"""Taking apart an object that anybody may have written: what fits is taken, what does not is left as it was."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import UNSET, UnsetType

MOST = 2**31
MOST_MILLISECONDS = 2**40
"""Some 34 years."""

DEEPEST = 100
"""What is nested deeper may be read here and then be too deep for a reader that stands deeper itself."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Pile:
    """Values are taken by key; `left` is what nobody had a use for."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.left = dict(raw)

    def text(self, *keys: str) -> str | UnsetType:
        for key in keys:
            if isinstance(self.left.get(key), str) and self.left[key]:
                return str(self.left.pop(key))
        return UNSET

    def lines(self, key: str) -> str | UnsetType:
        """One text, or the texts of a list; the list itself is left too, because joining it cannot be undone."""
        value = self.left.get(key)
        if isinstance(value, list):
            return "\n".join(item for item in value if isinstance(item, str)) or UNSET
        return self.text(key)

    def number(self, key: str, *, least: int, most: int = MOST) -> int | None:
        value = whole(self.left.get(key), least=least, most=most)
        if value is not None:
            del self.left[key]
        return value

    def moment(self, *keys: str) -> datetime | UnsetType:
        for key in keys:
            found = moment(self.left.get(key))
            if found is not None:
                del self.left[key]
                return found
        return UNSET


def whole(value: object, *, least: int, most: int = MOST) -> int | None:
    """A whole number in a believable range; true and false are none."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    return None


def moment(value: object) -> datetime | None:
    """ISO text, taken for UTC if it names no zone; or milliseconds since 1970."""
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip())
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        except (ValueError, OverflowError):
            return None
    since = whole(value, least=1, most=2 * MOST_MILLISECONDS)
    return None if since is None else _EPOCH + timedelta(milliseconds=since)


def too_deep(value: object, limit: int = DEEPEST) -> bool:
    """Whether lists and objects are nested deeper than that."""
    level: list[object] = [value]
    for _ in range(limit):
        level = [item for outer in level for item in _inner(outer)]
    return bool(level)


def _inner(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
