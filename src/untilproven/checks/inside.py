"""Which file of the tree a name means; and small files that are read before there is a room."""

from pathlib import Path, PurePosixPath

from untilproven.errors import Damaged, Foreign, UsageError
from untilproven.store import files

SMALL = 4 * files.MIB
"""A file of settings that is larger is none."""


class Outside(UsageError):
    """A path that does not name a file of the tree."""


def relative(root: Path, path: str) -> PurePosixPath:
    """The path from the root on, or `Outside`."""
    named = PurePosixPath(path)
    if named.is_absolute():
        if not named.is_relative_to(root):
            raise Outside(f"{path} is not in {root}", hint="name a file of the project, from its root on")
        named = named.relative_to(root)
    if ".." in named.parts or not named.parts or "\0" in path:
        raise Outside(f"{path!r} does not name a file of the project", hint="name it from the project's root on, no ..")
    return named


def text_of(path: Path) -> str | None:
    """What a small file says; None if it is missing, a link, or too large to be what it should be."""
    try:
        return files.read(path, SMALL).decode("utf-8", "replace")
    except (OSError, Damaged, Foreign):
        return None
