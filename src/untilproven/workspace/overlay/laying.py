"""Making a layer anew: the same changes over the user's tree as it is now, and nothing more hidden than they name."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from untilproven.errors import Damaged
from untilproven.store import files
from untilproven.workspace.entry import Entry
from untilproven.workspace.overlay import copying
from untilproven.workspace.overlay.beneath import Beneath, split
from untilproven.workspace.overlay.stack import is_hidden
from untilproven.workspace.overlay.upper import Change

_OPEN = 0o700
_READABLE = 0o500
_ORDINARY = 0o755
_POWER = stat.S_ISUID | stat.S_ISGID
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def lay(
    changes: Mapping[str, Change], source: Path, upper: Path, root: Path, merged: Mapping[str, bytes] | None = None
) -> None:
    """Make a layer that shows these changes; its files are those of another layer, or have the bytes given."""
    with files.explained(upper):
        upper.parent.mkdir(mode=_OPEN, exist_ok=True)
        upper.mkdir(mode=_OPEN)
        with Beneath(source, force=True) as old, Beneath(upper) as new, Beneath(root) as tree:
            _Laying(old, new, tree, merged or {}).make(changes)


class _Laying:
    def __init__(self, old: Beneath, new: Beneath, tree: Beneath, merged: Mapping[str, bytes]) -> None:
        self._old = old
        self._new = new
        self._tree = tree
        self._merged = merged
        self._modes: dict[str, int] = {}

    def make(self, changes: Mapping[str, Change]) -> None:
        for path in sorted(changes):
            if is_hidden(path, changes):
                continue
            parent, name = split(path)
            self._make_way(parent)
            directory, ours = self._new.directory(parent), changes[path].ours
            if ours is None:
                os.mknod(name, stat.S_IFCHR, 0, dir_fd=directory)  # the overlay's mark of what is not there
            elif ours.is_directory:
                self._make_directory(path, ours.mode)
            elif path in self._merged:
                _write(directory, name, ours, self._merged[path])
            else:
                self._copy(path, ours)
        for path in sorted(self._modes, reverse=True):
            parent, name = split(path)
            mode = stat.S_IMODE(self._modes[path])
            os.chmod(name, mode, dir_fd=self._new.directory(parent))
            if mode & _READABLE != _READABLE and self._old.seen(path) is not None:
                os.chmod(name, mode, dir_fd=self._old.directory(parent))  # it was opened to be read

    def _make_way(self, path: str) -> None:
        """Directories on the way are as the user has them."""
        missing = []
        while path and path not in self._modes:
            missing.append(path)
            path = split(path)[0]
        for here in reversed(missing):
            found = self._tree.seen(here)
            if found is None or not stat.S_ISDIR(found.st_mode):
                found = self._old.seen(here)
            self._make_directory(here, found.st_mode if found and stat.S_ISDIR(found.st_mode) else _ORDINARY)

    def _make_directory(self, path: str, mode: int) -> None:
        parent, name = split(path)
        directory = self._new.directory(parent)
        like = self._old.seen(path) or os.fstat(directory)
        copying.make_directory(directory, name, like)
        self._modes[path] = mode

    def _copy(self, path: str, ours: Entry) -> None:
        parent, name = split(path)
        directory = self._new.directory(parent)
        copied = copying.copy(self._old.directory(parent), name, directory, name)
        if ours.is_hashed and copied != ours.content:
            raise Damaged(
                f"what was kept of {path!r} is not what it was",
                hint="the disk may have lost it in a power cut; `ralph restore` has every iteration",
            )
        if stat.S_ISREG(ours.mode) and ours.mode & _POWER:
            os.chmod(name, stat.S_IMODE(ours.mode), dir_fd=directory)


def _write(directory: int, name: str, ours: Entry, data: bytes) -> None:
    fd = os.open(name, _NEW, 0o600, dir_fd=directory)
    try:
        files.write_all(fd, data)
        os.fchmod(fd, stat.S_IMODE(ours.mode))
    finally:
        os.close(fd)
