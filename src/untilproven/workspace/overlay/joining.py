"""How an iteration joins what a loop has kept, and where what the agent found is had from if the tree has lost it."""

import contextlib
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from untilproven.contract import Conflict
from untilproven.store import files
from untilproven.workspace.entry import Entry
from untilproven.workspace.overlay import plan
from untilproven.workspace.overlay.aside import put_aside
from untilproven.workspace.overlay.beneath import Beneath, seen, split
from untilproven.workspace.overlay.laying import lay
from untilproven.workspace.overlay.memory import Memory
from untilproven.workspace.overlay.reading import Reading, is_known_kind, is_same
from untilproven.workspace.overlay.removal import remove_below
from untilproven.workspace.overlay.stack import Stack
from untilproven.workspace.overlay.upper import Change
from untilproven.workspace.snapshots import restoring, states
from untilproven.workspace.snapshots.applying import recorded
from untilproven.workspace.snapshots.record import KEPT

_LARGEST = 64 * files.MIB
_PRIVATE = 0o700


def join(stack: Stack, iteration: int, layer: Path, aside: Path, step: Callable[[], None]) -> tuple[Conflict, ...]:
    """Make an iteration's layer the one that counts. Where the user's tree has lost what the agent found there, the
    user's stays. The caller keeps others of ours from merging."""
    own, total = plan.load(layer).by_path(), plan.total(layer)
    assert total is not None  # noqa: S101  it is a layer that joins
    elsewhere = _elsewhere(stack, own)
    _, written = recorded(stack.snapshots, KEPT, str(iteration), layer, stack.root, step, elsewhere)
    changes = total.by_path()
    lost = {os.fsdecode(path) for path in written.refused} & changes.keys()
    gone = {path for path in changes if path in lost or _is_below(path, lost)}
    conflicts = put_aside(sorted(gone), changes, layer / "upper", aside)
    step()
    with Beneath(layer / "upper", force=True) as upper:
        for path in sorted(lost):
            parent, name = split(path)
            if (directory := upper.directory_if_any(parent)) is not None:
                remove_below(directory, name)
    step()
    left = {path: change for path, change in changes.items() if path not in gone}
    stack.become(layer, iteration, left, conflicts, step)
    stack.place.drop(stack.place.bases)
    return conflicts


def meets(stack: Stack, layer: Path) -> bool:
    """Whether another loop has replaced what an iteration changed, so that only both together can be merged."""
    with Beneath(stack.root) as tree, contextlib.closing(Memory(stack.root, stack.snapshots)) as memory:
        reading = Reading()
        for path, change in plan.load(layer).by_path().items():
            if change.base is None or change.base.is_directory:
                continue
            now = _now(tree, path, reading)
            if is_same(now, change.base) or is_same(now, change.ours):
                continue
            if memory.read(path, change.base, _LARGEST) is not None:
                return True
    return False


def revive(stack: Stack, target: str = states.END) -> None:
    """Begin with what another loop kept and never delivered, which this one goes on from, or with one of its
    iterations: the snapshots have it."""
    history = stack.snapshots.history(target)
    start, end = states.pair(history, states.START, target)
    changes = {
        path: Change(was.entry if was else None, version.entry if version else None)
        for path, version in end.items()
        if not states.is_alike(was := start[path], version)
    }
    iteration = max((int(step.name.what) for step in history if step.name.fate == KEPT), default=0)
    iteration = iteration if target == states.END else int(target)
    brought, rebased = stack.place.bases, stack.place.rebased
    stack.place.drop(brought)
    stack.place.drop(rebased)
    restoring.prepare(restoring.Way(changes, end, {}), states.END, stack.snapshots, brought, stack.root)
    lay(changes, brought / "upper", rebased / "upper", stack.root)
    stack.become(rebased, iteration, changes, (), lambda: None)
    stack.place.drop(brought)


def _elsewhere(stack: Stack, own: Mapping[str, Change]) -> dict[str, Path]:
    """Where that is what the agent found, if not in the user's tree."""
    bases, reading = stack.place.bases, Reading()
    stack.place.drop(bases)
    bases.mkdir(mode=_PRIVATE)
    found = {}
    with Beneath(stack.root) as tree, contextlib.closing(Memory(stack.root, stack.snapshots)) as memory:
        for path, change in own.items():
            if change.base is None:
                found[path] = bases
            elif path in stack.changes and stack.layer:
                found[path] = stack.layer / "upper"
            elif not is_same(_now(tree, path, reading), change.base) and _brought(change.base, bases / path, memory):
                found[path] = bases
    return found


def _is_below(path: str, paths: set[str]) -> bool:
    while path := split(path)[0]:
        if path in paths:
            return True
    return False


def _now(tree: Beneath, path: str, reading: Reading) -> Entry | None:
    """What the user's tree has there."""
    parent, name = split(path)
    directory = tree.directory_if_any(parent)
    found = seen(directory, name)
    if directory is None or found is None or not is_known_kind(found):
        return None
    return reading.entry(directory, name, found, path)


def _brought(base: Entry, target: Path, memory: Memory) -> bool:
    """Whether what was there could be had from a loop that has replaced it."""
    if not base.is_directory:
        return memory.bring(base, target)
    target.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    target.chmod(stat.S_IMODE(base.mode) | _PRIVATE)
    return True
