"""Writing down what an iteration did, so that it can be looked at and gone back to like any other."""

import contextlib
import os
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from untilproven.errors import Damaged
from untilproven.workspace.entry import Entries, Entry
from untilproven.workspace.objects import Objects
from untilproven.workspace.overlay.beneath import DIRECTORY
from untilproven.workspace.overlay.plan import plan_of
from untilproven.workspace.overlay.reading import is_same
from untilproven.workspace.overlay.upper import Change
from untilproven.workspace.snapshots.record import Draft, Record
from untilproven.workspace.snapshots.shelf import INLINE, Snapshots

_PASSING = ".passing"

Source = Callable[[str, Entry], AbstractContextManager[Objects]]
"""Where the bytes of something are."""


def changes_between(before: Entries, after: Entries) -> dict[str, Change]:
    found = {}
    for path in before.keys() | after.keys():
        base, ours = before.get(path), after.get(path)
        if base is not ours and not is_same(base, ours):
            found[path] = Change(base, ours)
    return found


def record(snapshots: Snapshots, fate: str, iteration: int, changes: dict[str, Change], source: Source) -> None:
    """The bytes are those that are remembered; doing it again changes nothing."""
    what = str(iteration)
    if any(name.what == what and name.fate == fate for name in snapshots.names[-1:]):
        return
    name = snapshots.next(fate, what)
    with Draft(snapshots.make()) as draft:
        for path, change in sorted(changes.items()):
            for entry in (change.base, change.ours):
                if entry is not None and not entry.is_directory and entry.size and not snapshots.is_stored(entry):
                    # What nobody has the bytes of, or not whole, is told of and cannot be gone back to.
                    with source(path, entry) as objects, contextlib.suppress(Damaged):
                        _add(snapshots, draft, entry, objects)
        plan = plan_of(iteration, 0, changes, {})
        written = Record(plan, (), {}, draft.inline)
        snapshots.objects.sync()
        draft.finish(written, name, durable=True)
    snapshots.added(name, written)


def _add(snapshots: Snapshots, draft: Draft, entry: Entry, objects: Objects) -> None:
    if entry.size <= INLINE or stat.S_ISLNK(entry.mode):
        data = objects.read(entry, max(entry.size, INLINE))
        if data is not None:
            draft.add(entry.content, data)
    elif not snapshots.objects.has(entry.content):
        pass_on(objects, entry, snapshots.objects, snapshots.path)


def pass_on(source: Objects, entry: Entry, target: Objects, place: Path) -> None:
    """From one store to another, by a file that is there for a moment."""
    directory = os.open(place, DIRECTORY)
    try:
        passing = f"{_PASSING}-{os.urandom(4).hex()}"
        source.bring(entry, directory, passing)
        try:
            target.take(directory, passing, entry)
        finally:
            os.unlink(passing, dir_fd=directory)
    finally:
        os.close(directory)
