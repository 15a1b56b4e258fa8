"""How the tree was at the start, after an iteration, and at the end, as far as the loop changed it."""

from collections.abc import Sequence
from typing import NamedTuple

from untilproven.errors import UsageError
from untilproven.workspace.overlay.reading import is_same
from untilproven.workspace.snapshots.record import KEPT, RESTORED, Name, Record, Version

State = dict[str, Version | None]
"""What is at a path; None for nothing."""

START, END = "start", "end"


class Step(NamedTuple):
    """A record under its name."""

    name: Name
    record: Record


History = Sequence[Step]
"""Every record that is needed, in the order in which it happened."""


def after(history: History, target: str) -> State | None:
    """The tree at `start`, at the `end`, or after an iteration; None if there is no record of it.

    The end is as the loop left it, whatever the user went back to afterwards. What was discarded is on top of what
    it began with.
    """
    if target == START:
        return _until(history, 0)
    if target == END:
        kept = [step.name.number for step in history if step.name.fate == KEPT]
        return _until(history, max(kept, default=0))
    found = [step for step in history if step.name.what == target and step.name.fate != RESTORED]
    if not found:
        return None
    last = found[-1]
    state = _until(history, last.name.number)
    if not last.name.is_applied:
        for path, change in last.record.changes().items():
            state[path] = last.record.versions(path, change)[1]
    return state


def now(history: History) -> State:
    """What is there if nobody but the loop and its user's `restore` has touched it."""
    return _until(history, history[-1].name.number if history else 0)


def without_work(history: History) -> State:
    """The same for a loop whose work never came to the tree: only what was gone back to did."""
    state = _until(history, 0)
    for step in history:
        if step.name.fate == RESTORED:
            changes = step.record.changes().items()
            state |= {path: step.record.versions(path, change)[1] for path, change in changes}
    return state


def _until(history: History, number: int) -> State:
    """What was applied up to a record; of what came later, what was there before."""
    state: State = {}
    for step in history:
        if not step.name.is_applied:
            continue
        for path, change in step.record.changes().items():
            base, ours = step.record.versions(path, change)
            if step.name.number <= number:
                state[path] = ours
            else:
                state.setdefault(path, base)
    return state


def before_discarded(history: History, target: str) -> State:
    """What was at the paths that only a discarded iteration would have changed."""
    found = [step for step in history if step.name.what == target and step.name.fate != RESTORED]
    if not found or found[-1].name.is_applied:
        return {}
    record = found[-1].record
    return {path: record.versions(path, change)[0] for path, change in record.changes().items()}


def pair(history: History, before: str, after_it: str) -> tuple[State, State]:
    """Two states with the same paths."""
    found = []
    for target in (before, after_it):
        state = after(history, target)
        if state is None:
            raise no_snapshot(target)
        found.append(state)
    one, other = found
    rest = before_discarded(history, before) | before_discarded(history, after_it)
    return rest | one, rest | other


def no_snapshot(target: str) -> UsageError:
    return UsageError(
        f"there is no snapshot of iteration {target}",
        hint="it did not come to its end, or `ralph archive` has dropped it as one that was discarded",
    )


def is_alike(one: Version | None, other: Version | None) -> bool:
    return is_same(one.entry if one else None, other.entry if other else None)
