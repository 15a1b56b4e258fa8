"""A value in a file, and where it stands there; and the fields of an entry, or the line on which one is wrong."""

from typing import Any

import msgspec

from untilproven.core.naming import quoted
from untilproven.core.text import text as storable
from untilproven.queue.formats.contract import Misread

_LARGEST = 1e9
"""Of a number that means something here."""


class Node(msgspec.Struct):
    value: "bool | int | float | str | list[Node] | dict[str, Node] | None"
    start: int
    end: int
    line: int
    column: int = 0
    key_start: int = -1
    """Where its key begins, if it is a member of an object."""


def plain(found: Node) -> Any:
    """The value without its places."""
    match found.value:
        case dict(members):
            return {key: plain(one) for key, one in members.items()}
        case list(items):
            return [plain(one) for one in items]
    return found.value


def entries(root: Node, key: str) -> list[Node]:
    """The objects in the list under a key of the file's outermost object."""
    if not isinstance(root.value, dict):
        raise Misread(f'an object with a list "{key}" belongs here', root.line)
    found = root.value.get(key)
    if found is None or not isinstance(found.value, list):
        raise Misread(f'there is no list "{key}"', (found or root).line)
    for entry in found.value:
        if not isinstance(entry.value, dict):
            raise Misread(f'an entry of "{key}" is not an object', entry.line)
    return found.value


def member(entry: Node, key: str) -> Node | None:
    """A field that is there and not null."""
    found = entry.value.get(key) if isinstance(entry.value, dict) else None
    return None if found is None or found.value is None else found


def text(entry: Node, key: str) -> str:
    """Text, or a number as text, as ids sometimes are; empty if it is missing."""
    found = member(entry, key)
    if found is None:
        return ""
    if isinstance(found.value, str):
        return storable(found.value).strip()
    if isinstance(found.value, int) and not isinstance(found.value, bool):
        return str(found.value)
    raise Misread(f'"{key}" is not text', found.line)


def title(entry: Node, key: str = "title") -> str:
    found = " ".join(text(entry, key).split())
    if not found:
        raise Misread(f'an entry has no "{key}"', entry.line)
    return found


def texts(entry: Node, key: str) -> tuple[str, ...]:
    """A list of texts, or a single one; without what is empty."""
    found = member(entry, key)
    if found is None:
        return ()
    if not isinstance(found.value, list):
        return tuple(filter(None, [text(entry, key)]))
    return tuple(filter(None, (text(Node({key: one}, one.start, one.end, one.line), key) for one in found.value)))


def number(entry: Node, key: str) -> float | None:
    found = member(entry, key)
    if found is None:
        return None
    value = found.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
        raise Misread(f'"{key}" is not a number', found.line)
    return float(value)


def flag(entry: Node, key: str) -> bool:
    found = member(entry, key)
    if found is None:
        return False
    if not isinstance(found.value, bool):
        raise Misread(f'"{key}" is neither true nor false', found.line)
    return found.value


def one_of(entry: Node, key: str, allowed: tuple[str, ...]) -> str:
    """A word of a list; the first, if it is missing."""
    found = text(entry, key).lower() or allowed[0]
    if found not in allowed:
        where = member(entry, key) or entry
        raise Misread(f'"{key}" is {quoted(found)}, and can be {", ".join(allowed)}', where.line)
    return found
