"""Going back, for whoever is not in the middle of a loop."""

from typing import TYPE_CHECKING

from untilproven.store.layout import Project
from untilproven.workspace.overlay.workspace import OverlayWorkspace

if TYPE_CHECKING:
    from untilproven.workspace.snapshots.restoring import Restored


def restore(project: Project, loop_id: str, target: str, *, dry_run: bool = False) -> "Restored":
    """Bring every path that a loop has changed to what it was at the `start`, at the `end`, or after an iteration.

    The caller holds the loop's lock, and has let the loop's workspace recover.
    """
    workspace = OverlayWorkspace(project, loop_id, ())
    try:
        return workspace.restore(target, dry_run=dry_run)
    finally:
        workspace.close()
