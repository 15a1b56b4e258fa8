"""From the words of a user to the records of a loop and a state in them."""

from pathlib import Path

from untilproven.core.naming import quoted
from untilproven.core.text import text
from untilproven.errors import UsageError
from untilproven.model.state import LoopState
from untilproven.store.reader import LoopView
from untilproven.store.writer import foreign
from untilproven.workspace.snapshots.shelf import Snapshots
from untilproven.workspace.snapshots.states import END, START


def snapshots_of(view: LoopView, root: Path) -> Snapshots:
    """What is kept of a loop's iterations; refused if there is nothing, or if it is not this user's."""
    state = view.state
    if view.foreign:
        raise foreign(state.loop_id)
    if state.working_directory and state.working_directory != text(str(root)):
        raise UsageError(
            f"{state.loop_id} worked in {state.working_directory}, not here", hint=f"cd {state.working_directory}"
        )
    if state.plan and state.plan.sandbox == "none":
        raise UsageError(
            "nothing to restore: this loop worked on your files themselves (--sandbox none)",
            hint="use git to see and undo what changed",
        )
    found = Snapshots(root, state.loop_id)
    if not found.names:
        raise UsageError(
            f"nothing to restore: {state.loop_id} has no snapshots; no iteration of it has come to its end",
            hint=f"ralph show {state.loop_id} tells what it did",
        )
    return found


def target_of(state: LoopState, word: str) -> str:
    """The state that a word means: `start`, `end`, or the number of an iteration. Where none was scored, the best is
    what was kept last."""
    if word in {START, END}:
        return word
    if word == "best":
        best = state.best_iteration
        return str(best.iteration) if best and best.iteration else END
    if word.isascii() and word.isdigit() and int(word):
        return str(int(word))
    raise UsageError(
        f"{quoted(word)} is neither an iteration nor best, start or end",
        hint=f"ralph show {state.loop_id} lists the iterations",
    )
