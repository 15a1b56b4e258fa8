"""What is dropped when a loop is put away: discarded iterations. The start and every kept state stay."""

import contextlib
from pathlib import Path
from typing import NamedTuple

from untilproven.errors import Damaged
from untilproven.workspace.overlay.place import Place
from untilproven.workspace.snapshots.shelf import Snapshots


class Pruned(NamedTuple):
    """What was dropped."""

    iterations: int
    size: int
    """In bytes."""


def prune(root: Path, loop_id: str) -> Pruned:
    """Drop the snapshots of discarded iterations."""
    snapshots = Snapshots(root, loop_id)
    if not snapshots.names:
        return Pruned(0, 0)
    place = Place(root, loop_id)
    place.hold()
    try:
        discarded = [name for name in Snapshots(root, loop_id).names if not name.is_applied]
        size = 0
        for name in discarded:
            path = snapshots.path / str(name)
            found = path.stat()
            path.unlink()
            size += found.st_size if found.st_nlink == 1 else 0
        if discarded:
            with contextlib.suppress(Damaged):  # of what cannot be read, it is not known what it needs
                size += _sweep(Snapshots(root, loop_id))
        return Pruned(len(discarded), size)
    finally:
        place.leave()


def _sweep(snapshots: Snapshots) -> int:
    live: set[str] = set()
    for name in snapshots.names:
        for change in snapshots.load(name).plan.changes.values():
            live.update(entry.content for entry in (change.base, change.ours) if entry is not None)
    return snapshots.objects.sweep(live)
