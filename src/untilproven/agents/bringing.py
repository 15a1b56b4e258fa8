"""`--agent-home user`: the user's own settings for an agent, copied into the directory it has for a loop.

It finds them anew in every iteration: what it changes in them stays in the room and lasts for one run.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from untilproven.errors import UsageError
from untilproven.store import files

_MOST_FILES = 5_000
_MOST_BYTES = 64 * files.MIB


class Kept(NamedTuple):
    """A file or directory of the user's, and its name in the agent's own directory."""

    users: Path
    name: str


def of(directory: Path, names: tuple[str, ...], under: str = "") -> tuple[Kept, ...]:
    """These names of one directory, in the same place or `under` another."""
    return tuple(Kept(directory / name, f"{under}{name}") for name in names)


def brought(kept: tuple[Kept, ...]) -> Iterator[tuple[str, bytes]]:
    """Every file, by its name in the agent's directory. Links are followed: the user made them."""
    count = size = 0
    for one in kept:
        for path, name in _files(one):
            try:
                content = path.read_bytes()
            except OSError:
                continue  # a link that leads nowhere, a socket
            count, size = count + 1, size + len(content)
            if count > _MOST_FILES or size > _MOST_BYTES:
                raise UsageError(
                    f"--agent-home user: {one.users} is too large to be copied for every iteration",
                    hint=f"it may have {_MOST_FILES} files and {_MOST_BYTES // files.MIB} MiB",
                )
            yield name, content


def _files(one: Kept) -> Iterator[tuple[Path, str]]:
    if one.users.is_file():
        yield one.users, one.name
        return
    seen: set[str] = set()
    for place, directories, names in os.walk(one.users, followlinks=True):
        if (real := os.path.realpath(place)) in seen:
            directories.clear()  # a link to where we come from
            continue
        seen.add(real)
        below = os.path.relpath(place, one.users)
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file():
                yield path, os.path.normpath(f"{one.name}/{below}/{name}")
