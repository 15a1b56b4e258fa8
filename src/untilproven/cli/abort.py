"""`ralph abort LOOP`."""

import click

from untilproven.cli import asking, here, restore
from untilproven.cli.completion import complete_loop
from untilproven.errors import UsageError
from untilproven.model.state import LoopState
from untilproven.runtime.control.requests import new_request
from untilproven.runtime.restoring import bring_back, forget_rooms
from untilproven.store import reader
from untilproven.store.layout import Project
from untilproven.store.reader import LoopView
from untilproven.workspace.snapshots.shelf import Snapshots
from untilproven.workspace.snapshots.states import START


@click.command("abort", short_help="end a loop and free its slot")
@click.argument("loop", shell_complete=complete_loop)
@click.option("--revert", is_flag=True, help="also bring the tree back to where it was when the loop began")
@click.option("--json", "as_json", is_flag=True, help="print the loop's last state as JSON")
def command(loop: str, *, revert: bool, as_json: bool) -> int:
    """End LOOP and everything it started, and free its slot. The tree stays as the last kept iteration left it.

    A crashed loop only gives up its slot; it can still be continued.
    """
    project = here.project()
    view = reader.resolve(project.state, loop)
    if revert:
        _refuse_without_a_room(view.state)
    code = end(project, view, as_json=as_json)
    if code or not revert or not Snapshots(project.root, view.state.loop_id).names:
        return code
    target, done = bring_back(project, view, START)
    if not as_json:
        restore.tell(done, target)
    return 1 if done.conflicts else 0


def end(project: Project, view: LoopView, *, as_json: bool = False) -> int:
    """End the loop, and what a killed runner of it has left; returns the exit code."""
    code = asking.ask(project.state, view.state.loop_id, new_request("abort"), wait=True, as_json=as_json)
    if not code and not view.foreign:
        forget_rooms(project, view)
    return code


def _refuse_without_a_room(state: LoopState) -> None:
    if not state.plan or state.plan.sandbox == "none":
        raise UsageError(
            "the tree cannot be brought back: this loop works on your files themselves (--sandbox none)",
            hint="abort without --revert, and use git to see and undo what changed",
        )
