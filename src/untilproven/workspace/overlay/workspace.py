"""The agent works in a layer over the user's tree; keeping merges it, discarding drops it."""

import contextlib
import os
from collections.abc import Callable, Collection
from pathlib import Path, PurePosixPath

from untilproven.contract import AgentRoom, Delta, Room, Supervision
from untilproven.model.iteration import FileChange
from untilproven.process.room import WalledRoom
from untilproven.store.layout import Project
from untilproven.workspace.manifest import Manifest, compare
from untilproven.workspace.notes import told
from untilproven.workspace.overlay import building, plan, surroundings
from untilproven.workspace.overlay.known import Known
from untilproven.workspace.overlay.merge import Conflict, merge
from untilproven.workspace.overlay.place import Place, make_temporary
from untilproven.workspace.overlay.removal import remove
from untilproven.workspace.overlay.repository import Repository
from untilproven.workspace.overlay.upper import Found, Upper

_OF_CHECKS = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Python takes a compiled file for current if size and second of the source are the same: agents edit faster."""


class OverlayWorkspace:
    """`--sandbox overlay`: the tree stays as it is until an iteration is kept.

    Nothing is written anywhere before the first room, and one process at a time has the rooms of a loop.
    """

    kind = "overlay"
    can_discard = True

    def __init__(self, project: Project, loop_id: str, exclude: Collection[PurePosixPath]) -> None:
        self._project = project
        self._exclude = exclude
        self._place = Place(project.root, loop_id)
        self._repository = Repository(project.root, self._place)
        self._known = Known(project.root, exclude)
        self._rooms: list[WalledRoom] = []
        self._iteration = 0
        """The one whose layer is neither merged nor dropped; 0 if there is none."""
        self._opened = 0
        self._delta: Delta | None = None
        self._exchange_of = 0
        self.conflicts: tuple[Conflict, ...] = ()
        """What the last `keep` or `recover` left as the user has it."""
        self.step: Callable[[], None] = lambda: None
        """Called before each step of a merge."""

    def tree(self) -> str:
        return (self._known.tree if self._iteration else self._known.look()).hash()

    def open(self, iteration: int, supervision: Supervision) -> AgentRoom:
        self._settle()
        if self._iteration:
            self.discard(self._iteration)
        self.exchange(iteration)
        self._known.look()
        self._place.drop(self._place.iteration(iteration))
        walls = building.for_agent(self._project, self._place, self._repository, iteration)
        self._iteration, self._delta = iteration, None
        self._opened = self._upper(iteration).stat().st_ctime_ns
        room = WalledRoom(self._project.root, supervision, surroundings.environment(), walls)
        self._rooms.append(room)
        return room

    def exchange(self, iteration: int) -> tuple[Path, Path]:
        """A directory that the agent's room can write to: where it is outside, and where inside."""
        self._place.hold()
        outside = self._place.temporary / building.EXCHANGE
        if self._exchange_of != iteration:
            make_temporary(self._place.temporary)
            outside.mkdir(mode=0o700)
            self._exchange_of = iteration
        return outside, building.INSIDE

    def delta(self) -> Delta:
        """Nothing is left running in the room afterwards, and only the layer is read."""
        self._settle()
        if not self._iteration:
            return Delta(tree=self.tree())
        if self._delta is None:
            self._delta = self._observed()
        return self._delta

    def _observed(self) -> Delta:
        known = self._known
        upper = self._upper(self._iteration)
        found = Upper(upper, self._project.root, known.tree, self._opened, known.settled, self._exclude).look()
        tree = known.consider({path: change.ours for path, change in found.changes.items()} | found.same)
        closed = plan.closed_in(self._project.root, found.changes) if os.getuid() else {}
        wanted = plan.plan_of(self._iteration, known.settled, found.changes, closed)
        plan.save(wanted, self._place.iteration(self._iteration))
        return Delta(tree=tree, changes=_told_as_changes(found), notes=told(found.notes | known.new_notes()))

    def checking(self, supervision: Supervision) -> Room:
        self._settle()
        candidate = self._upper(self._iteration) if self._iteration and self.delta() else None
        walls = building.for_check(self._project, self._place, candidate)
        room = WalledRoom(self._project.root, supervision, {**surroundings.environment(), **_OF_CHECKS}, walls)
        self._rooms.append(room)
        return room

    def keep(self, iteration: int) -> None:
        """What the user changed meanwhile stays, and is in `conflicts`."""
        self._settle()
        self.conflicts = ()
        if self._iteration == iteration:
            self.delta()
        layer = self._place.iteration(iteration)
        if layer.is_dir():
            wanted = plan.begin(layer)
            merged = merge(wanted, layer / "upper", self._project.root, self._place.aside(iteration), self.step)
            self.conflicts = merged.conflicts
            self._known.decide(taken=merged.entries)
            if merged.conflicts:
                self._known.doubt()
        self._drop(iteration)
        self._repository.keep(iteration)

    def discard(self, iteration: int) -> None:
        self._settle()
        if self._iteration == iteration:
            self._known.decide()
        self._repository.discard(iteration)
        self._drop(iteration)

    def recover(self, kept: int | None) -> None:
        """At the start of a process: finish the merge of the iteration that was kept last, drop all other layers."""
        self._settle()
        conflicts: tuple[Conflict, ...] = ()
        for number, layer in sorted(self._place.iterations().items()):
            if number == kept or plan.is_begun(layer):
                self.keep(number)
                conflicts += self.conflicts
            else:
                self._drop(number)
        self._repository.recover(kept)
        self.conflicts = conflicts

    def close(self) -> None:
        """What must outlast the process stays: layers not decided on, HOME's, git's, what conflicted."""
        self._close_rooms()
        self._exchange_of = 0
        if self._place.held:
            for path in (self._place.temporary, self._place.home / "work", self._place.git / "work"):
                remove(path)
            self._place.drop(self._place.check)
            self._place.release()

    def forget(self) -> None:
        """The loop has ended and will not go on: nothing of its rooms is needed, but for what conflicted."""
        self._settle()
        for path in self._place.needed_to_go_on():
            self._place.drop(path)
        self.close()
        for directory in (self._place.path, self._place.path.parent):
            with contextlib.suppress(OSError):
                (directory / "lock").unlink(missing_ok=True)
                directory.rmdir()

    def _settle(self) -> None:
        """Nobody but us is at work in the rooms, for the tree may change beneath them."""
        self._place.hold()
        self._close_rooms()

    def _close_rooms(self) -> None:
        while self._rooms:
            self._rooms.pop().close()

    def _drop(self, iteration: int) -> None:
        self._place.drop(self._place.iteration(iteration))
        if self._iteration == iteration:
            self._iteration, self._delta = 0, None
        self._exchange_of = 0

    def _upper(self, iteration: int) -> Path:
        return self._place.iteration(iteration) / "upper"


def _told_as_changes(found: Found) -> tuple[FileChange, ...]:
    before = {path: change.base for path, change in found.changes.items() if change.base is not None}
    after = {path: change.ours for path, change in found.changes.items() if change.ours is not None}
    return compare(Manifest(before, 0, "before"), Manifest(after, 0, "after"))
