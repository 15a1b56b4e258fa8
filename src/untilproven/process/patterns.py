"""Paths by pattern: `*` within a name, `**` across directories; every other character is itself."""

from collections.abc import Callable
from typing import NamedTuple

from untilproven.core.globs import matches

__all__ = ["Listing", "find", "matches"]

_NOT_ENTERED = frozenset({".git", "node_modules"})
"""By `**`: they are large, and nothing in them is the project's own. By their names they are."""
_MOST = 20_000


class Listing(NamedTuple):
    """The names in one directory."""

    files: list[str]
    directories: list[str]


def find(pattern: str, listing: Callable[[str], Listing]) -> list[str]:
    """The files that are meant, in order; only directories that can hold one are listed."""
    found: set[str] = set()
    seen: set[tuple[str, int]] = set()
    parts = pattern.split("/")
    waiting = [("", 0)]
    while waiting and len(found) < _MOST:
        here = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        directory, at = here
        part, is_last = parts[at], at == len(parts) - 1
        names = listing(directory)
        prefix = f"{directory}/" if directory else ""
        if part == "**":
            waiting += [(f"{prefix}{name}", at) for name in names.directories if name not in _NOT_ENTERED]
            if is_last:
                found.update(f"{prefix}{name}" for name in names.files)
            else:
                waiting.append((directory, at + 1))
        elif is_last:
            found.update(f"{prefix}{name}" for name in names.files if matches(part, name))
        else:
            waiting += [(f"{prefix}{name}", at + 1) for name in names.directories if matches(part, name)]
    return sorted(found)
