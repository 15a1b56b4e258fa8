"""All that a loop has changed, as one change for each path."""

from pathlib import Path

from untilproven.workspace.overlay.reading import is_same
from untilproven.workspace.overlay.upper import Change
from untilproven.workspace.snapshots.shelf import Snapshots


def work_of(root: Path, loop_id: str) -> dict[str, Change]:
    """What was at each path before the loop changed it, and what is there now; what came back is not in it.

    Where others changed a path since, before is as they left it: what is theirs is no work of the loop.
    """
    work: dict[str, Change] = {}
    for step in Snapshots(root, loop_id).history():
        for path, change in step.record.changes().items():
            known = work.get(path)
            base = known.base if known and is_same(known.ours, change.base) else change.base
            work[path] = Change(base, change.ours)
    return {path: change for path, change in work.items() if not is_same(change.base, change.ours)}
