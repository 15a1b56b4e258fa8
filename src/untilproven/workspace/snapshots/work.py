"""All that a loop has changed, as one change for each path."""

from pathlib import Path

from untilproven.workspace.overlay.upper import Change
from untilproven.workspace.snapshots import states
from untilproven.workspace.snapshots.shelf import Snapshots


def work_of(root: Path, loop_id: str) -> dict[str, Change]:
    """What was at each path when the loop began, and what is there now; what came back is not in it."""
    history = Snapshots(root, loop_id).history()
    before, now = states.after(history, states.START) or {}, states.now(history)
    return {
        path: Change(was.entry if was else None, version.entry if version else None)
        for path, version in now.items()
        if not states.is_alike(was := before.get(path), version)
    }
