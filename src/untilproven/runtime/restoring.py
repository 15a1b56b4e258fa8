"""Going back: the tree as it was at the start of a loop, or after one of its iterations."""

import contextlib

from untilproven.agents import home
from untilproven.errors import Busy, RalphError
from untilproven.model.events import Entry, IterationFinished, IterationStarted
from untilproven.model.iteration import Fate
from untilproven.model.status import TERMINAL
from untilproven.store import reader
from untilproven.store.journal import scan
from untilproven.store.layout import LoopDirectory, Project
from untilproven.store.lock import is_locked
from untilproven.store.reader import LoopView
from untilproven.store.writer import lock_of
from untilproven.workspace.factory import workspace_of
from untilproven.workspace.overlay.place import left_in
from untilproven.workspace.overlay.restore import restore
from untilproven.workspace.snapshots.restoring import Restored
from untilproven.workspace.snapshots.target import snapshots_of, target_of


def bring_back(project: Project, view: LoopView, state: str, *, dry_run: bool = False) -> tuple[str, Restored]:
    """Bring back what every path of a loop's was at `start`, `end`, `best` or after an iteration; returns which of
    them it came to. Refused while the loop runs. What a killed runner left halfway is brought to its end first."""
    snapshots_of(view, project.root)
    target = target_of(view.state, state)
    with lock_of(view.directory):
        if view.state.plan and not dry_run:
            workspace = workspace_of(view.state.plan, project, view.state.loop_id)
            try:
                workspace.recover(kept_last(view.directory))
            finally:
                workspace.close()
        return target, restore(project, view.state.loop_id, target, dry_run=dry_run)


def kept_last(loop: LoopDirectory) -> int | None:
    """The iteration that was kept last, if none came after it: a runner that was killed may not have merged it."""
    kept = None
    for found in scan(loop.journal, loop.loop_id):
        match found.event if isinstance(found, Entry) else None:
            case IterationStarted():
                kept = None
            case IterationFinished(iteration=number, fate=fate):
                kept = number if fate is Fate.KEPT else None
    return kept


def forget_rooms(project: Project, view: LoopView) -> None:
    """What a runner left that was killed before its loop was ended by somebody else."""
    plan = view.state.plan
    with contextlib.suppress(Busy):  # its runner is just about to do it
        if plan and plan.sandbox != "none":
            workspace = workspace_of(plan, project, view.state.loop_id)
            workspace.recover(kept_last(view.directory))
            workspace.forget()
        with lock_of(view.directory):
            home.forget(project.root, view.state.loop_id)


def sweep_rooms(project: Project) -> None:
    """Rooms, and directories of agents, of loops that have ended, and whose runner was killed before it could leave
    them."""
    for loop_id in {*left_in(project.root), *home.left_in(project.root)}:
        with contextlib.suppress(RalphError, FileNotFoundError):
            view = reader.view(project.state, loop_id)
            if view.state.status in TERMINAL and not view.foreign and not is_locked(view.directory.lock):
                forget_rooms(project, view)
