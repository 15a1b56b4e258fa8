"""Where something goes that may be the user's and is in the way: never lost, and told of."""

import contextlib
import os
from pathlib import Path

from untilproven.workspace.overlay import copying
from untilproven.workspace.overlay.beneath import DIRECTORY

_PRIVATE = 0o700
_LONGEST = 200


class Aside:
    """A directory with what was put aside, under the paths it had."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self.paths: list[str] = []

    def put(self, directory: int, name: str, path: str) -> None:
        """A second name for it, or a copy where that cannot be."""
        target = self._target(path)
        target.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        parent = os.open(target.parent, DIRECTORY)
        try:
            as_name = _free(parent, target.name)
            try:
                os.link(name, as_name, src_dir_fd=directory, dst_dir_fd=parent, follow_symlinks=False)
            except OSError:
                copying.copy(directory, name, parent, as_name)
        finally:
            os.close(parent)
        self.paths.append(path)

    def _target(self, path: str) -> Path:
        """A path that is too long, or has a file where it needs a directory, becomes a flat one."""
        wanted = self._place / path
        if len(os.fsencode(wanted)) < os.pathconf("/", "PC_PATH_MAX") - _LONGEST:
            with contextlib.suppress(OSError):
                wanted.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
                return wanted
        return self._place / f"{len(self.paths)}-{os.fsdecode(os.fsencode(path)[-_LONGEST:]).replace('/', '_')}"


def _free(parent: int, name: str) -> str:
    """A name that nothing has there: what was put aside before stays too."""
    for number in range(1, 10_000):
        wanted = name if number == 1 else f"{name[:_LONGEST]}.{number}"
        try:
            os.stat(wanted, dir_fd=parent, follow_symlinks=False)
        except FileNotFoundError:
            return wanted
    raise FileExistsError(name)
