"""Removing what an agent left: of any depth, with any modes, without following a link."""

import os
from itertools import count
from pathlib import Path

from untilproven.workspace.overlay.beneath import DIRECTORY

_OURS = 0o700
_SHALLOW = 16
"""So many directories are open at once."""


def remove(path: Path) -> None:
    """Remove a file or a whole tree that nobody uses any more; what does not exist is removed already."""
    try:
        parent = os.open(path.parent, DIRECTORY)
    except FileNotFoundError:
        return
    try:
        remove_below(parent, path.name)
    finally:
        os.close(parent)


def remove_below(parent: int, name: str) -> None:
    """The same for a name in an open directory."""
    try:
        os.unlink(name, dir_fd=parent)
    except IsADirectoryError:
        _empty(parent, name)
        os.rmdir(name, dir_fd=parent)
    except FileNotFoundError:
        return


def _empty(parent: int, name: str, depth: int = 0) -> None:
    top = _entered(parent, name)
    try:
        inner = _directories_once_files_are_gone(top)
        if depth == _SHALLOW:
            _empty_deep(top, inner)
            return
        for here in inner:
            _empty(top, here, depth + 1)
            os.rmdir(here, dir_fd=top)
    finally:
        os.close(top)


def _empty_deep(top: int, waiting: list[str]) -> None:
    """Directories below move up, one after the other: so no path becomes too long and no stack too deep."""
    number, token = count(), os.urandom(4).hex()
    while waiting:
        here = waiting.pop()
        inner = _entered(top, here)
        try:
            for below in _directories_once_files_are_gone(inner):
                waiting.append(f"{token}-{next(number)}")
                os.chmod(below, _OURS, dir_fd=inner)  # to be moved, it must be writable itself
                os.rename(below, waiting[-1], src_dir_fd=inner, dst_dir_fd=top)
        finally:
            os.close(inner)
        os.rmdir(here, dir_fd=top)


def _entered(parent: int, name: str) -> int:
    try:
        fd = os.open(name, DIRECTORY, dir_fd=parent)
    except PermissionError:
        os.chmod(name, _OURS, dir_fd=parent)
        return os.open(name, DIRECTORY, dir_fd=parent)
    if os.fstat(fd).st_mode & _OURS != _OURS:
        os.fchmod(fd, _OURS)
    return fd


def _directories_once_files_are_gone(directory: int) -> list[str]:
    found = []
    with os.scandir(directory) as listing:
        for item in list(listing):
            if item.is_dir(follow_symlinks=False):
                found.append(item.name)
            else:
                os.unlink(item.name, dir_fd=directory)
    return found
