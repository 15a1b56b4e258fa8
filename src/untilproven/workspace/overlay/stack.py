"""What a loop has kept while another one merges into the same tree: one layer over it, delivered at the end."""

import contextlib
import os
import stat
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from untilproven.contract import Conflict
from untilproven.store import files
from untilproven.workspace.entry import Entry
from untilproven.workspace.objects import Objects
from untilproven.workspace.overlay import copying, plan, threeway
from untilproven.workspace.overlay.beneath import Beneath, seen, split
from untilproven.workspace.overlay.known import Known
from untilproven.workspace.overlay.laying import is_hidden, lay
from untilproven.workspace.overlay.place import Place
from untilproven.workspace.overlay.reading import Reading, is_known_kind, is_same
from untilproven.workspace.overlay.removal import remove_below
from untilproven.workspace.overlay.threeway import Rebased, Three
from untilproven.workspace.overlay.tree import Tree
from untilproven.workspace.overlay.upper import Change, Found

if TYPE_CHECKING:
    # What remembers iterations is not loaded before the agent's first turn.
    from untilproven.workspace.overlay.memory import Memory
    from untilproven.workspace.snapshots.shelf import Snapshots

ROLE = "another loop works in this tree: what this one keeps is delivered at its end"
_CONFLICTS = "conflicts"
_LARGEST = 64 * files.MIB
_PRIVATE = 0o700
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Stack:
    """The layer, with what lay beneath each of its paths when the loop first saw it."""

    def __init__(self, root: Path, place: Place, known: Known, snapshots: "Callable[[], Snapshots]") -> None:
        self._root = root
        self._place = place
        self._known = known
        self._shelf = snapshots
        self.load()

    def load(self) -> None:
        """As it lies on the disk; from now on the tree that is known is the user's with this over it."""
        kept = self._place.kept()
        self.layer: Path | None = kept[-1] if kept else None
        total = plan.total(self.layer) if self.layer else None
        self.iteration = total.iteration if total else 0
        self.changes: dict[str, Change] = total.by_path() if total else {}
        self._known.cover(_states(self.changes))

    @cached_property
    def _snapshots(self) -> "Snapshots":
        return self._shelf()

    @property
    def uppers(self) -> list[Path]:
        """What lies over the user's tree."""
        return [self.layer / "upper"] if self.layer else []

    def revive(self) -> None:
        """Begin with what another loop kept and never delivered, if this one goes on from it: its snapshots have it."""
        if self.layer or self._place.is_delivered:
            return
        from untilproven.workspace.snapshots import restoring, states  # noqa: PLC0415  few loops take over

        history = self._snapshots.history()
        start, end = states.after(history, states.START) or {}, states.after(history, states.END) or {}
        entries = {path: (start[path], version) for path, version in end.items()}
        changes = {
            path: Change(was.entry if was else None, is_now.entry if is_now else None)
            for path, (was, is_now) in entries.items()
            if not states.is_alike(was, is_now)
        }
        self.iteration = max((int(step.name.what) for step in history if step.name.fate == "kept"), default=0)
        brought, rebased = self._place.bases, self._place.rebased
        self._place.drop(brought)
        self._place.drop(rebased)
        restoring.prepare(restoring.Way(changes, end, {}), states.END, self._snapshots, brought, self._root)
        lay(changes, brought / "upper", rebased / "upper", self._root)
        self._become(rebased, plan.plan_of(self.iteration, 0, changes, {}), (), lambda: None)
        self._place.drop(brought)

    def lay(self, layer: Path) -> None:
        """Begin an iteration's layer with all that was kept."""
        if self.layer:
            with self._known.bare() as tree:
                self.changes = _visible(self.changes, tree)
            self._known.cover(_states(self.changes))
            lay(self.changes, self.layer / "upper", layer / "upper", self._root)

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

    def meets(self, layer: Path, since: int) -> bool:
        """Whether another loop has replaced what an iteration changed, so that only both together can be merged."""
        with Beneath(self._root) as tree, contextlib.closing(self._memory()) as memory:
            if plan.begun(layer) is not None or not memory.others_since(since):
                return False
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

    def join(self, iteration: int, layer: Path, aside: Path, step: Callable[[], None]) -> tuple[Conflict, ...]:
        """Make an iteration's layer the one that counts. Where the user's tree has lost what the agent found there,
        the user's stays."""
        from untilproven.workspace.snapshots.applying import recorded  # noqa: PLC0415  not before the agent's turn

        own, total = plan.load(layer).by_path(), plan.total(layer)
        assert total is not None  # noqa: S101  it is a layer that joins
        elsewhere = self._elsewhere(own)
        _, written = recorded(self._snapshots, "kept", str(iteration), layer, self._root, step, elsewhere)
        changes = total.by_path()
        lost = {os.fsdecode(path) for path in written.refused}
        gone = {path for path in changes if path in lost or any(above in lost for above in _parents(path))}
        conflicts = self._put_aside(sorted(gone), changes, layer / "upper", aside)
        step()
        with Beneath(layer / "upper", force=True) as upper:
            for path in sorted(lost & changes.keys()):
                parent, name = split(path)
                if (directory := upper.directory_if_any(parent)) is not None:
                    remove_below(directory, name)
        step()
        self._become(layer, plan.plan_of(iteration, 0, _without(changes, gone), {}), conflicts, step)
        self._place.drop(self._place.bases)
        return conflicts

    def look(self, *, merging: bool = True) -> Rebased:
        """What is left to do to the user's tree as it is now. The caller keeps others of ours from merging."""
        self._known.doubt()
        self._known.look()
        with self._known.bare() as tree, contextlib.closing(self._memory()) as memory:
            merge = self._merge if merging else _never
            return threeway.rebase(self.changes, tree, partial(self._contents, memory), merge)

    def rebase(self, found: Rebased, aside: Path, step: Callable[[], None]) -> tuple[Conflict, ...]:
        """Be one layer over the tree as it is now; what is in the way of others is put aside."""
        assert self.layer is not None  # noqa: S101  it was looked at
        rebased = self._place.rebased
        self._place.drop(rebased)
        conflicts = self._put_aside(found.conflicts, self.changes, self.layer / "upper", aside)
        lay(found.changes, self.layer / "upper", rebased / "upper", self._root, found.merged)
        step()
        self._become(rebased, plan.plan_of(self.iteration, 0, found.changes, {}), conflicts, step)
        return conflicts

    def hand_over(self, changes: dict[str, Change], step: Callable[[], None]) -> None:
        """From now on the layer is being merged into the user's tree."""
        *older, layer = self._place.kept()
        for left in older:
            self._place.drop(left)
        closed = plan.closed_in(self._root, changes) if os.getuid() else {}
        plan.replan(plan.plan_of(self.iteration, 0, changes, closed), layer)
        step()
        layer.rename(self._place.delivery)
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

    def _become(self, layer: Path, total: plan.Plan, conflicts: tuple[Conflict, ...], step: Callable[[], None]) -> None:
        _close_again(layer / "upper", total.by_path())
        plan.save_total(total, layer)
        told = [tuple(map(os.fsencode, (one.path, one.wanted, one.aside or ""))) for one in conflicts]
        (layer / _CONFLICTS).unlink(missing_ok=True)
        if told:
            files.replace(layer / _CONFLICTS, msgspec.msgpack.encode(told), durable=False)
        self._place.set_delivered(delivered=False)
        step()
        before = self._place.kept()
        layer.rename(self._place.next_kept())
        step()
        for left in before:
            self._place.drop(left)
        self.load()

    def _elsewhere(self, own: Mapping[str, Change]) -> dict[str, Path]:
        """Where that is what the agent found, if not in the user's tree."""
        bases, reading = self._place.bases, Reading()
        self._place.drop(bases)
        bases.mkdir(mode=_PRIVATE)
        found = {}
        with Beneath(self._root) as tree, contextlib.closing(self._memory()) as memory:
            for path, change in own.items():
                if change.base is None:
                    found[path] = bases
                elif path in self.changes and self.layer:
                    found[path] = self.layer / "upper"
                elif not is_same(_now(tree, path, reading), change.base) and _brought(
                    change.base, bases / path, memory
                ):
                    found[path] = bases
        return found

    def _memory(self) -> "Memory":
        from untilproven.workspace.overlay.memory import Memory  # noqa: PLC0415  not before the agent's turn

        return Memory(self._root, self._snapshots)

    def _put_aside(
        self, paths: "tuple[str, ...] | list[str]", changes: Mapping[str, Change], upper: Path, aside: Path
    ) -> tuple[Conflict, ...]:
        conflicts = []
        with Beneath(upper, force=True) as layer:
            for path in paths:
                ours = changes[path].ours
                kept = None
                if ours is not None and not ours.is_directory:
                    kept = _kept_aside(layer, path, aside)
                conflicts.append(Conflict(path, "changed" if ours is not None else "deleted", kept))
        return tuple(conflicts)

    def _contents(self, memory: "Memory", path: str, change: Change, theirs: Entry) -> Three | None:
        if change.base is None or change.ours is None or self.layer is None:
            return None
        with contextlib.closing(Objects(self._place.theirs)) as earlier:
            if earlier.has(change.base.content):
                base = earlier.read(change.base, _LARGEST)
            else:
                base = memory.read(path, change.base, _LARGEST)
            ours = _read(self.layer / "upper", path, change.ours)
            now = _read(self._root, path, theirs)
            if base is None or ours is None or now is None:
                return None
            earlier.add(now, theirs)
        return Three(base, ours, now)

    def _merge(self, three: Three) -> bytes | None:
        return threeway.merge_lines(three, self._place.path / "merging", self._root)


def _never(_three: Three) -> None:
    """Lines are left as they are."""


def _states(changes: Mapping[str, Change]) -> dict[str, Entry | None]:
    return {path: change.ours for path, change in changes.items()}


def _close_again(upper: Path, changes: Mapping[str, Change]) -> None:
    """Directories that were opened to be read have the modes that programs are to find."""
    with Beneath(upper, force=True) as layer:
        for path in sorted(changes, reverse=True):
            ours = changes[path].ours
            if ours is not None and ours.is_directory and ours.mode & _PRIVATE != _PRIVATE:
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


def _parents(path: str) -> list[str]:
    found = []
    while path := split(path)[0]:
        found.append(path)
    return found


def _without(changes: Mapping[str, Change], paths: set[str]) -> dict[str, Change]:
    return {path: change for path, change in changes.items() if path not in paths}


def _kept_aside(layer: Beneath, path: str, aside: Path) -> Path | None:
    target = aside / path
    parent, name = split(path)
    with contextlib.suppress(OSError):  # a path that is too long, or a layer that has it no more
        target.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        source = layer.directory_if_any(parent)
        if source is None or seen(source, name) is None:
            return target if os.path.lexists(target) else None
        target.unlink(missing_ok=True)
        with Beneath(target.parent) as place:
            copying.copy(source, name, place.root, name)
        return target
    return None


def _now(tree: Beneath, path: str, reading: Reading) -> Entry | None:
    """What the user's tree has there."""
    parent, name = split(path)
    directory = tree.directory_if_any(parent)
    found = seen(directory, name)
    if directory is None or found is None or not is_known_kind(found):
        return None
    return reading.entry(directory, name, found, path)


def _brought(base: Entry, target: Path, memory: "Memory") -> bool:
    """Whether what was there could be had from a loop that has replaced it."""
    if not base.is_directory:
        return memory.bring(base, target)
    target.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    target.chmod(stat.S_IMODE(base.mode) | _PRIVATE)
    return True


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
