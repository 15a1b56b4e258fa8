"""How much an iteration may write."""

import os
from pathlib import Path

import msgspec

from untilproven.store.files import MIB
from untilproven.workspace.entry import Note
from untilproven.workspace.overlay.upper import Found

_GIB = 1024 * MIB


class Quota(msgspec.Struct, frozen=True):
    """In bytes. A layer that could fill the disk is not taken over."""

    most: int = 16 * _GIB
    left_free: int = _GIB
    """What must still be free once a layer is merged."""
    always: int = 64 * MIB
    """So much is taken over even where the disk is full already: then whoever writes says so."""

    def refusal(self, found: Found, layer: Path) -> Note | None:
        """Why nothing of a layer is taken over, if that is so."""
        entries = [change.ours for change in found.changes.values() if change.ours] + list(found.same.values())
        size = sum(entry.size for entry in entries)
        if size <= min(self.always, self.most):
            return None
        if size > self.most:
            return Note(f"{_told(size)} were written, more than {_told(self.most)}: nothing of it is taken over")
        disk = os.statvfs(layer)
        free = disk.f_bavail * disk.f_frsize
        if size > free - self.left_free:
            return Note(
                f"{_told(size)} were written, and the disk has only {_told(free)} left: nothing of it is taken over"
            )
        return None


def _told(size: int) -> str:
    return f"{size / _GIB:.1f} GiB" if size >= _GIB else f"{size / MIB:.1f} MiB"
