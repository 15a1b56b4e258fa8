"""A copy of a layer, marks and all, to go back to."""

import os
import stat
from pathlib import Path

from untilproven.workspace.descent import Descent
from untilproven.workspace.overlay import attributes, copying
from untilproven.workspace.overlay.beneath import opened

_NEVER_CHANGED = "objects/"
"""What git keeps there is written once and then only removed: a second name for it is as good as a copy."""


def copy_layer(source: Path, target: Path) -> None:
    """Copy a layer of git's own directory; the target must not exist. No program may be at work in it."""
    modes: list[tuple[str, int]] = []
    target.mkdir(mode=0o700)
    top = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with Descent(source) as descent:
            for path, found in descent:
                if isinstance(found, OSError):
                    raise found
                copied = opened(top, path)
                try:
                    attributes.copy_all(found, copied)
                    descent.below(_copy(found, copied, path, modes))
                finally:
                    os.close(copied)
        for path, mode in reversed(modes):
            directory = opened(top, path)
            try:
                os.fchmod(directory, mode)
            finally:
                os.close(directory)
    finally:
        os.close(top)


def _copy(source: int, target: int, path: str, modes: list[tuple[str, int]]) -> list[str]:
    inner = []
    with os.scandir(source) as listing:
        items = [(item.name, item.stat(follow_symlinks=False)) for item in listing]
    for name, found in items:
        here = f"{path}/{name}" if path else name
        if stat.S_ISDIR(found.st_mode):
            copying.make_directory(target, name, found)
            modes.append((here, stat.S_IMODE(found.st_mode)))
            inner.append(here)
        elif attributes.is_whiteout(found):
            os.mknod(name, stat.S_IFCHR, 0, dir_fd=target)
        elif here.startswith(_NEVER_CHANGED) and stat.S_ISREG(found.st_mode):
            os.link(name, name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
        elif stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
            copying.copy(source, name, target, name)
    return inner
