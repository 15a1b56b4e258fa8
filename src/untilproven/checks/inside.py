"""Files of the tree, reached without following a link and without leaving the tree."""

import contextlib
import os
import stat
from pathlib import Path, PurePosixPath

from untilproven.errors import Damaged, Foreign, UsageError
from untilproven.store import files

_SMALL = 4 * files.MIB


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


def regular(root: Path, path: PurePosixPath) -> os.stat_result | None:
    """What is known of a regular file; None if there is none or a link leads to it."""
    with contextlib.ExitStack() as opened:
        try:
            directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            opened.callback(os.close, directory)
            for part in path.parts[:-1]:
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                directory = os.open(part, flags, dir_fd=directory)
                opened.callback(os.close, directory)
            found = os.stat(path.name, dir_fd=directory, follow_symlinks=False)
        except OSError:
            return None
    return found if stat.S_ISREG(found.st_mode) else None


def text_of(path: Path) -> str | None:
    """What a small file says; None if it is missing, a link, or too large to be what it should be."""
    try:
        return files.read(path, _SMALL).decode("utf-8", "replace")
    except (OSError, Damaged, Foreign):
        return None
