"""Bringing what a loop has kept together with the user's tree as it is now."""

import contextlib
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from untilproven.contract import Conflict
from untilproven.store import files
from untilproven.workspace.entry import Entry
from untilproven.workspace.objects import Objects
from untilproven.workspace.overlay import threeway
from untilproven.workspace.overlay.aside import put_aside
from untilproven.workspace.overlay.beneath import Beneath, split
from untilproven.workspace.overlay.laying import lay
from untilproven.workspace.overlay.memory import Memory
from untilproven.workspace.overlay.stack import Stack
from untilproven.workspace.overlay.threeway import Rebased, Three
from untilproven.workspace.overlay.upper import Change

_LARGEST = 64 * files.MIB
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def look(stack: Stack, *, merging: bool = True) -> Rebased:
    """What is left to do to the user's tree as it is now; lines come together only if `merging`. The caller keeps
    others of ours from merging meanwhile."""
    stack.known.doubt()
    stack.known.look()

    def merge(three: Three) -> bytes | None:
        return threeway.merge_lines(three, stack.place.path / "merging", stack.root) if merging else None

    with (
        stack.known.bare() as tree,
        contextlib.closing(Memory(stack.root, stack.snapshots)) as memory,
        contextlib.closing(Objects(stack.place.theirs)) as earlier,
    ):

        def contents(path: str, change: Change, theirs: Entry) -> Three | None:
            return _contents(stack, path, change, theirs, memory, earlier)

        return threeway.rebase(stack.changes, tree, contents, merge)


def rebase(stack: Stack, found: Rebased, aside: Path, step: Callable[[], None]) -> tuple[Conflict, ...]:
    """Make it one layer over the tree as it is now; what is in the way of others is put aside."""
    assert stack.layer is not None  # noqa: S101  it was looked at
    rebased = stack.place.rebased
    stack.place.drop(rebased)
    conflicts = put_aside(found.conflicts, stack.changes, stack.layer / "upper", aside)
    lay(found.changes, stack.layer / "upper", rebased / "upper", stack.root, found.merged)
    step()
    stack.become(rebased, stack.iteration, found.changes, conflicts, step)
    return conflicts


def _contents(stack: Stack, path: str, change: Change, theirs: Entry, memory: Memory, earlier: Objects) -> Three | None:
    if change.base is None or change.ours is None or stack.layer is None:
        return None
    known = earlier.has(change.base.content)
    base = earlier.read(change.base, _LARGEST) if known else memory.read(path, change.base, _LARGEST)
    ours = _read(stack.layer / "upper", path, change.ours)
    now = _read(stack.root, path, theirs)
    if base is None or ours is None or now is None:
        return None
    earlier.add(now, theirs)
    return Three(base, ours, now)


def _read(top: Path, path: str, entry: Entry) -> bytes | None:
    """What a file has, if it is what the entry says."""
    parent, name = split(path)
    with contextlib.suppress(OSError), Beneath(top) as tree:
        fd = os.open(name, _READ, dir_fd=tree.directory(parent))
        with open(fd, "rb") as file:  # noqa: PTH123  by its descriptor
            data = file.read(_LARGEST + 1)
        if len(data) <= _LARGEST and sha256(data).hexdigest() == entry.content:
            return data
    return None
