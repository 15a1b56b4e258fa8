"""What files were, from whichever loop of the same tree has kept it."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from untilproven.errors import Damaged, RalphError
from untilproven.workspace.entry import Entry
from untilproven.workspace.snapshots.record import Version
from untilproven.workspace.snapshots.shelf import Snapshots

_PRIVATE = 0o700


class Memory:
    """The snapshots of one loop and of all others; each is looked through once, when it is needed."""

    def __init__(self, root: Path, own: Snapshots) -> None:
        self._root = root
        self._own = own
        self._opened: list[Snapshots] = []
        self._left: list[str] | None = None

    def read(self, path: str, entry: Entry, limit: int) -> bytes | None:
        """What was in a file; None if nobody knows."""
        for one in self._all():
            with contextlib.suppress(Damaged, OSError):
                data = one.read(path, entry, limit)
                if data is not None:
                    return data
        return None

    def bring(self, entry: Entry, target: Path) -> bool:
        """Make a file or link as it was; False if nobody knows what was in it."""
        target.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        directory = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for one in self._all():
                with contextlib.suppress(Damaged, OSError):
                    one.bring(Version(entry), directory, target.name)
                    return True
        finally:
            os.close(directory)
        return False

    def close(self) -> None:
        for one in self._opened:
            if one is not self._own:
                one.close()
        self._opened, self._left = [], None

    def _all(self) -> Iterator[Snapshots]:
        yield from self._opened
        if self._left is None:
            self._left = self._others()
            yield self._looked_through(self._own)
        while self._left:
            with contextlib.suppress(RalphError, OSError):
                yield self._looked_through(Snapshots(self._root, self._left.pop()))

    def _looked_through(self, snapshots: Snapshots) -> Snapshots:
        snapshots.history()
        self._opened.append(snapshots)
        return snapshots

    def _others(self) -> list[str]:
        names = os.listdir(self._own.path.parent) if self._own.path.parent.is_dir() else []  # noqa: PTH208  names only
        return sorted(name for name in names if name != self._own.path.name and not name.startswith("."))
