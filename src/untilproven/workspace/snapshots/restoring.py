"""Going back: what would have to change for the tree to be as it was, and the layer that changes it."""

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from untilproven.contract import Conflict
from untilproven.store import files
from untilproven.workspace.entry import Entry
from untilproven.workspace.overlay import plan
from untilproven.workspace.overlay.beneath import Beneath, seen, split
from untilproven.workspace.overlay.merge import recognised
from untilproven.workspace.overlay.reading import Reading, is_known_kind, is_same
from untilproven.workspace.overlay.upper import Change
from untilproven.workspace.snapshots import states
from untilproven.workspace.snapshots.descending import Descending
from untilproven.workspace.snapshots.shelf import Snapshots, give_away
from untilproven.workspace.snapshots.states import State

_OPEN = 0o700
_TARGET = "target"


class Restored(NamedTuple):
    """What was done, or would be."""

    changed: dict[str, str]
    """Every path that is other than it was: created, modified, deleted or mode; a directory's ends with a slash."""
    conflicts: tuple[Conflict, ...]
    """Where the user's own later change stays."""


class Way(NamedTuple):
    """From the tree as it is to the tree as it was."""

    changes: dict[str, Change]
    target: State
    now: Mapping[str, Entry | None]

    def changed(self, conflicts: frozenset[str]) -> dict[str, str]:
        return {
            shown(path, self.now[path] or change.ours): kind_of(self.now[path], change.ours)
            for path, change in sorted(self.changes.items())
            if path not in conflicts
        }

    def expected_conflicts(self, root: Path) -> tuple[Conflict, ...]:
        """Where the user's would stay if it were done now."""
        stays: dict[str, Conflict] = {}
        going = {path for path, change in self.changes.items() if change.ours is None}
        with Beneath(root) as tree:
            for path, change in sorted(self.changes.items(), reverse=True):
                if not is_same(self.now[path], change.base) or _is_used(tree, path, change, going):
                    stays[path] = Conflict(path, "changed" if change.ours is not None else "deleted", None)
                    going.discard(path)
        return tuple(stays[path] for path in sorted(stays))


def _is_used(tree: Beneath, path: str, change: Change, going: Collection[str]) -> bool:
    """Whether a directory that is to go has something in it that stays."""
    base, ours = change.base, change.ours
    if base is None or not base.is_directory or (ours is not None and ours.is_directory):
        return False
    directory = tree.directory_if_any(path)
    names = os.listdir(directory) if directory is not None else []  # noqa: PTH208  by its descriptor
    return any(f"{path}/{name}" not in going for name in names)


def way_to(snapshots: Snapshots, target: str, root: Path, *, delivered: bool = True) -> Way:
    """What leads to the tree at `start`, at the `end` or after an iteration; from what was there before the loop, if
    its work was never delivered."""
    history = snapshots.history(target)
    wanted = states.after(history, target)
    if wanted is None:
        raise states.no_snapshot(target)
    believed = states.before_discarded(history, target)
    believed |= states.now(history) if delivered else states.without_work(history)
    found: dict[str, Entry | None] = {}
    changes = {}
    for path, seen_now in _found(wanted, root):
        before, version = believed[path], wanted[path]
        base, ours = before.entry if before else None, version.entry if version else None
        found[path] = now = recognised(seen_now, ours, base) if seen_now else None
        if not is_same(now, ours) and (delivered or not is_same(base, ours)):
            changes[path] = Change(base, ours)
    return Way(changes, wanted, found)


def prepare(way: Way, target: str, snapshots: Snapshots, layer: Path, root: Path) -> None:
    """Put everything that is to come back into a layer from which it can be merged; last of all, where it leads."""
    upper = layer / "upper"
    upper.mkdir(mode=_OPEN, parents=True)
    with Descending(upper) as made:
        for path, change in sorted(way.changes.items()):
            version = way.target[path]
            if change.ours is None or version is None:
                continue
            _make_way(made, split(path)[0])
            parent, name = split(path)
            if change.ours.is_directory:
                _make_way(made, path)
                if version.own:
                    give_away(version.own, made.directory(parent), name)
            else:
                snapshots.bring(version, made.directory(parent), name)
    closed = plan.closed_in(root, way.changes) if os.getuid() else {}
    plan.save(plan.plan_of(0, 0, way.changes, closed), layer)
    files.replace(layer / _TARGET, target.encode(), durable=False)


def prepared(layer: Path) -> str:
    """Where a layer leads that was made to its end; empty if there is none."""
    try:
        return files.read(layer / _TARGET).decode()
    except FileNotFoundError:
        return ""


def _make_way(made: Beneath, path: str) -> None:
    missing = []
    while path and made.directory_if_any(path) is None:
        path, name = split(path)
        missing.append(name)
    for name in reversed(missing):
        os.mkdir(name, _OPEN, dir_fd=made.directory(path))
        path = f"{path}/{name}" if path else name


def _found(wanted: State, root: Path) -> Iterator[tuple[str, Entry | None]]:
    """What the tree has there now."""
    reading = Reading()
    with Descending(root) as tree:
        for path in sorted(wanted):
            parent, name = split(path)
            directory = tree.directory_if_any(parent)
            now = seen(directory, name)
            if directory is None or now is None:
                yield path, None
            elif is_known_kind(now):
                yield path, reading.entry(directory, name, now, path)
            else:
                yield path, Entry(now.st_mode)


def kind_of(before: Entry | None, after: Entry | None) -> str:
    if before is None:
        return "created"
    if after is None:
        return "deleted"
    if before.content == after.content and stat.S_IFMT(before.mode) == stat.S_IFMT(after.mode):
        return "mode"
    return "modified"


def shown(path: str, entry: Entry | None) -> str:
    return f"{path}/" if entry is not None and entry.is_directory else path
