"""What a loop has kept while another one merges into the same tree: one layer over it, delivered at the end."""

import contextlib
import os
import stat
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from untilproven.contract import Conflict
from untilproven.store import files
from untilproven.workspace.entry import Entry
from untilproven.workspace.overlay import plan
from untilproven.workspace.overlay.beneath import Beneath, split
from untilproven.workspace.overlay.known import Known
from untilproven.workspace.overlay.place import Place
from untilproven.workspace.overlay.reading import is_same
from untilproven.workspace.overlay.tree import Tree
from untilproven.workspace.overlay.upper import Change, Found

if TYPE_CHECKING:
    # What remembers iterations is not loaded before the agent's first turn.
    from untilproven.workspace.snapshots.shelf import Snapshots

ROLE = "another loop works in this tree: what this one keeps is delivered at its end"
_CONFLICTS = "conflicts"
_LARGEST = 64 * files.MIB
_OPEN = 0o700


class Stack:
    """The layer, with what lay beneath each of its paths when the loop first saw it."""

    def __init__(self, root: Path, place: Place, known: Known, snapshots: "Callable[[], Snapshots]") -> None:
        self.root = root
        self.place = place
        self.known = known
        self._shelf = snapshots
        self.load()

    def load(self) -> None:
        """As it lies on the disk; from now on the tree that is known is the user's with this over it."""
        kept = self.place.kept()
        self.layer: Path | None = kept[-1] if kept else None
        total = plan.total(self.layer) if self.layer else None
        self.iteration = total.iteration if total else 0
        self.changes: dict[str, Change] = total.by_path() if total else {}
        self.known.cover(_states(self.changes))

    @cached_property
    def snapshots(self) -> "Snapshots":
        return self._shelf()

    @property
    def uppers(self) -> list[Path]:
        """What lies over the user's tree."""
        return [self.layer / "upper"] if self.layer else []

    def lay(self, layer: Path) -> None:
        """Begin an iteration's layer with all that was kept."""
        if self.layer:
            from untilproven.workspace.overlay.laying import lay  # noqa: PLC0415  only where loops meet

            with self.known.bare() as tree:
                self.changes = _visible(self.changes, tree)
            self.known.cover(_states(self.changes))
            lay(self.changes, self.layer / "upper", layer / "upper", self.root)

    def divide(self, found: Found) -> tuple[dict[str, Change], dict[str, Change]]:
        """What the iteration has changed, and what all have changed together."""
        before = self.changes
        states: dict[str, Entry | None] = {path: change.ours for path, change in found.changes.items()}
        states |= found.same
        own: dict[str, Change] = {}
        total: dict[str, Change] = {}
        for path, change in found.changes.items():
            unseen = change.ours is None and is_hidden(path, before)  # others put it where the agent could not see it
            if path not in before and not unseen:
                own[path] = total[path] = change
        for path, change in before.items():
            now = states.get(path)
            if path in states:
                total[path] = Change(change.base, now)
            if not is_same(change.ours, now):
                own[path] = Change(change.ours, now)
        return own, total

    def become(
        self,
        layer: Path,
        iteration: int,
        changes: dict[str, Change],
        conflicts: tuple[Conflict, ...],
        step: Callable[[], None],
    ) -> None:
        """From now on this layer is what counts, and who asks is told of these conflicts."""
        _close_again(layer / "upper", changes)
        plan.save_total(plan.plan_of(iteration, 0, changes, {}), layer)
        told = [tuple(map(os.fsencode, (one.path, one.wanted, one.aside or ""))) for one in conflicts]
        (layer / _CONFLICTS).unlink(missing_ok=True)
        if told:
            files.replace(layer / _CONFLICTS, msgspec.msgpack.encode(told), durable=False)
        self.place.set_delivered(delivered=False)
        step()
        before = self.place.kept()
        layer.rename(self.place.next_kept())
        step()
        for left in before:
            self.place.drop(left)
        self.load()

    def hand_over(self, changes: dict[str, Change], step: Callable[[], None]) -> None:
        """From now on the layer is being merged into the user's tree."""
        *older, layer = self.place.kept()
        for left in older:
            self.place.drop(left)
        closed = plan.closed_in(self.root, changes) if os.getuid() else {}
        plan.replan(plan.plan_of(self.iteration, 0, changes, closed), layer)
        step()
        layer.rename(self.place.delivery)
        step()
        self.load()

    def pending(self) -> tuple[Conflict, ...]:
        """What was put aside, if it may be that nobody was told."""
        with contextlib.suppress(FileNotFoundError):
            if self.layer:
                told = msgspec.msgpack.decode(files.read(self.layer / _CONFLICTS, _LARGEST), type=list[list[bytes]])
                return tuple(
                    Conflict(os.fsdecode(path), os.fsdecode(wanted), Path(os.fsdecode(kept)) if kept else None)
                    for path, wanted, kept in told
                )
        return ()

    def told(self) -> None:
        """Whoever asked has heard of every conflict."""
        if self.layer:
            (self.layer / _CONFLICTS).unlink(missing_ok=True)


def is_hidden(path: str, changes: Mapping[str, Change]) -> bool:
    """Whether something lies over a directory on the way to it, or that directory is to be gone."""
    while path := split(path)[0]:
        change = changes.get(path)
        if change is not None and (change.ours is None or not change.ours.is_directory):
            return True
    return False


def _states(changes: Mapping[str, Change]) -> dict[str, Entry | None]:
    return {path: change.ours for path, change in changes.items()}


def _close_again(upper: Path, changes: Mapping[str, Change]) -> None:
    """Directories that were opened to be read have the modes that programs are to find."""
    with Beneath(upper, force=True) as layer:
        for path in sorted(changes, reverse=True):
            ours = changes[path].ours
            if ours is not None and ours.is_directory and ours.mode & _OPEN != _OPEN:
                parent, name = split(path)
                os.chmod(name, stat.S_IMODE(ours.mode), dir_fd=layer.directory(parent))


def _visible(changes: Mapping[str, Change], tree: Tree) -> dict[str, Change]:
    """Without the removal of directories in which others have put something since."""
    kept = dict(changes)
    for path in sorted(changes, reverse=True):
        if changes[path].ours is None and any(
            inner not in kept or kept[inner].ours is not None for inner in tree.below(path)
        ):
            del kept[path]
    return kept
