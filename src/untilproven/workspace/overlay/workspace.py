"""The agent works in a layer over the user's tree; keeping merges it, discarding drops it.

Of several loops on one tree the first merges as it goes. The others keep a layer of their own, and deliver at the end.
"""

import contextlib
import os
import time
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from untilproven.contract import AgentRoom, Conflict, Delta, Differs, Exchange, Room, Supervision, When
from untilproven.errors import Damaged, RalphError
from untilproven.model.iteration import FileChange
from untilproven.process.houses import House
from untilproven.process.room import WalledRoom
from untilproven.process.walls import Walls
from untilproven.store.layout import Project
from untilproven.workspace import environment
from untilproven.workspace.entry import Note
from untilproven.workspace.manifest import Manifest, compare
from untilproven.workspace.notes import told
from untilproven.workspace.openings import Openings
from untilproven.workspace.overlay import building, plan
from untilproven.workspace.overlay.checking import CheckingRoom
from untilproven.workspace.overlay.groups import has_other_groups
from untilproven.workspace.overlay.into_tree import IntoTree
from untilproven.workspace.overlay.known import Known
from untilproven.workspace.overlay.making import make_upper
from untilproven.workspace.overlay.place import Place
from untilproven.workspace.overlay.quota import Quota
from untilproven.workspace.overlay.reading import is_same
from untilproven.workspace.overlay.repository import Repository
from untilproven.workspace.overlay.stack import ROLE, Stack
from untilproven.workspace.overlay.upper import Change, Found, Upper
from untilproven.workspace.overlay.view import View

if TYPE_CHECKING:
    # What remembers iterations is not loaded before the agent's first turn.
    from untilproven.workspace.snapshots.restoring import Restored
    from untilproven.workspace.snapshots.shelf import Snapshots


_RENAMING = (
    "A directory that was there before you began cannot be renamed in one step here (EXDEV): `mv` copes by itself, but"
    " `git mv`, os.rename and fs.renameSync of a whole directory fail. Move its files, or copy it and delete it."
)

_OTHER_GROUP = (
    "A file that belongs to another group cannot be opened for writing here (EOVERFLOW, `Value too large`): write the"
    " new version to another file, and rename that over the old one."
)
_EXPECTED = 1.0
"""Seconds for which a check's room may wait for it: what the user changes beneath it meanwhile is not always seen."""


class OverlayWorkspace:
    """`--sandbox overlay`: the tree stays as it is until an iteration is kept.

    Nothing is written anywhere before the first room, and one process at a time has the rooms of a loop.
    """

    kind = "overlay"
    can_discard = True

    def __init__(
        self,
        project: Project,
        loop_id: str,
        exclude: Collection[PurePosixPath],
        openings: Openings = Openings(),  # noqa: B008  immutable
        *,
        at_end: bool = False,
    ) -> None:
        self._project = project
        self._openings = openings
        self._at_end = at_end
        """Whether nothing comes to the user's tree before the loop's end, also if no other loop is there."""
        self._exclude = exclude
        self._place = Place(project.root, loop_id)
        self._repository = Repository(project.root, self._place)
        self._known = Known(project.root, exclude)
        self._house = House(self._place.tidy)
        self._rooms: list[WalledRoom] = []
        self._expected: CheckingRoom | None = None
        """A check's, of the candidate as it is, in which nothing has run yet."""
        self._expected_at = 0.0
        self._iteration = 0
        """The one whose layer is neither merged nor dropped; 0 if there is none."""
        self._opened = 0
        self._delta: Delta | None = None
        self._exchange_of = 0
        self._loop_id = loop_id
        self._changes: dict[str, Change] = {}
        """What the candidate has changed."""
        self._plan: plan.Plan | None = None
        """The same, as it would be merged."""
        self._was_key = ""
        self._is_stacked = False
        """Whether the iteration's layer joins what was kept, and not the user's tree."""
        self._role_told = False
        self.quota = Quota()
        self.step: Callable[[], None] = lambda: None
        """Called before each step of a merge."""

    @cached_property
    def advice(self) -> tuple[str, ...]:
        if not os.getuid():
            return ()
        return (_RENAMING, _OTHER_GROUP) if has_other_groups(self._project.root) else (_RENAMING,)

    @cached_property
    def _snapshots(self) -> "Snapshots":
        from untilproven.workspace.snapshots.shelf import Snapshots  # noqa: PLC0415  see above

        return Snapshots(self._project.root, self._loop_id)

    @cached_property
    def _env(self) -> dict[str, str]:
        """As it is when the first room is opened."""
        return environment.of_agent(self._openings.variables)

    @cached_property
    def _stack(self) -> Stack:
        return Stack(self._project.root, self._place, self._known, lambda: self._snapshots)

    @cached_property
    def _into_tree(self) -> IntoTree:
        return IntoTree(self._project.root, self._place, self._known, self._stack, lambda: self.step())  # noqa: PLW0108  set later

    @property
    def undelivered(self) -> bool:
        return bool(self._stack.changes)

    def tree(self, *, fresh: bool = False) -> str:
        """What is to be delivered is first brought together with what others did to the tree."""
        stack = self._stack
        if fresh and stack.layer and not self._iteration:
            from untilproven.workspace.overlay import rebasing  # noqa: PLC0415  only where loops meet

            before = self._known.tree.hash()
            self._settle()
            with self._place.merging():
                found = rebasing.look(stack)
                if found.conflicts:
                    return before  # whoever delivers is told of them
                if found.moved:
                    rebasing.rebase(stack, found, self._place.aside("delivery"), self.step)
        elif fresh:
            self._known.doubt()
        return (self._known.tree if self._iteration else self._known.look()).hash()

    def open(self, iteration: int, supervision: Supervision) -> AgentRoom:
        self._settle()
        if self._iteration:
            self.discard(self._iteration)
        self.exchange(iteration)
        stack = self._stack
        if stack.layer is None and not self._place.is_delivered:
            from untilproven.workspace.overlay.joining import revive  # noqa: PLC0415  few loops take over

            revive(stack)
        self._known.look()
        self._place.drop(self._place.iteration(iteration))
        self._is_stacked = stack.layer is not None or self._at_end or not self._place.take_tree()
        if self._is_stacked:
            stack.lay(self._place.iteration(iteration))
        walls = building.for_agent(self._project, self._place, self._repository, iteration, self._openings)
        self._iteration, self._delta, self._changes = iteration, None, {}
        upper = self._upper(iteration)
        os.utime(upper)  # it may have been made long before
        self._opened = upper.stat().st_ctime_ns
        room = WalledRoom(self._project.root, supervision, self._env, walls)
        room.stand_in(self._house)
        room.furnish()
        self._rooms.append(room)
        return room

    def exchange(self, iteration: int) -> Exchange:
        """A directory that the agent's room can write to: where it is outside, and where inside."""
        self._place.hold()
        if self._exchange_of != iteration:
            self._place.given.exchange(building.EXCHANGE)
            self._exchange_of = iteration
        return Exchange(self._place.given.temporary / building.EXCHANGE, building.INSIDE)

    def delta(self) -> Delta:
        """Nothing is left running in the room afterwards, and only the layer is read."""
        self._place.hold()
        self._close_rooms()
        if not self._iteration:
            return Delta(tree=self.tree())
        if self._delta is None:
            self._delta = self._observed()
        return self._delta

    def _observed(self) -> Delta:
        known = self._known
        layer = self._place.iteration(self._iteration)
        found = self._found(layer)
        if refusal := self.quota.refusal(found, layer):
            self._place.drop(layer)
            if self._is_stacked:
                self._stack.lay(layer)
            make_upper(layer, self._project.root)
            found = replace(self._found(layer), notes={refusal})
        if self._is_stacked:
            own, total = self._stack.divide(found)
            plan.save_total(plan.plan_of(self._iteration, known.settled, total, {}), layer)
            notes = found.notes if self._role_told or self._at_end else found.notes | {Note(ROLE)}
            found, self._role_told = Found(own, {}, notes), True
        tree = known.consider({path: change.ours for path, change in found.changes.items()} | found.same)
        closed = plan.closed_in(self._project.root, found.changes) if os.getuid() else {}
        self._plan = plan.plan_of(self._iteration, known.settled, found.changes, closed)
        plan.save(self._plan, layer)
        self._changes = found.changes
        return Delta(
            tree=tree,
            changes=_told_as_changes(found),
            notes=told(found.notes | known.new_notes() | self._repository.notes(self._iteration)),
        )

    def _found(self, layer: Path) -> Found:
        known = self._known
        with known.bare() as tree:
            return Upper(layer / "upper", self._project.root, tree, self._opened, known.settled, self._exclude).look()

    def read(self, path: str, when: When, limit: int) -> bytes | None:
        if when == "start" and path in (start := self._snapshots.start()):
            version = start[path]
            return self._snapshots.read(path, version.entry, limit) if version else None
        above = [self._upper(self._iteration)] if when == "now" and self._iteration else self._stack.uppers
        return View([*above, self._project.root]).read(PurePosixPath(path), limit)

    def since_start(self) -> Mapping[str, Differs]:
        """Of what no iteration has touched, nothing is known but that it is the user's."""
        self.delta()
        now = self._known.tree.entries
        was = {path: change.base for path, change in self._changes.items()}
        was |= {path: version.entry if version else None for path, version in self._snapshots.start().items()}
        return {
            path: Differs(before is not None, path in now)
            for path, before in was.items()
            if not is_same(before, now.get(path))
        }

    def expect_check(self, supervision: Supervision) -> None:
        self.delta()
        self._settle()
        with contextlib.suppress(RalphError, OSError):  # whoever checks says what is wrong
            self._expected = self._built(supervision)
            self._expected_at = time.monotonic()

    def checking(self, supervision: Supervision, as_it_was: Collection[str] = ()) -> Room:
        self.delta()
        if self._expected and not as_it_was and time.monotonic() - self._expected_at < _EXPECTED:
            room, self._expected = self._expected, None
            room.supervise(supervision)
        else:
            self._settle()
            room = self._built(supervision, as_it_was)
        self._rooms.append(room)
        return room

    def _built(self, supervision: Supervision, as_it_was: Collection[str] = ()) -> CheckingRoom:
        above = [self._upper(self._iteration)] if self._iteration else self._stack.uppers
        if as_it_was:
            above = [*self._was(as_it_was), *above]
        walls = building.for_check(self._project, self._place, *above, openings=self._openings)
        room = self._checking_room(walls, supervision)
        room.stand_in(self._house)
        room.furnish()
        return room

    def _was(self, paths: Collection[str]) -> list[Path]:
        """The layer of what is as it was, made anew only if it is another than the last one."""
        from untilproven.workspace.snapshots.as_it_was import build, key_of, parts_of  # noqa: PLC0415  see above

        parts = parts_of(paths, self._snapshots.start(), self._known.tree, self._changes)
        if not parts:
            return []
        key = key_of(parts, self._project.root)
        if key != self._was_key:
            self._was_key = ""
            self._place.drop(self._place.was)
            build(parts, self._place.was, self._snapshots, self._project.root)
            self._was_key = key
        return [self._place.was]

    def _checking_room(self, walls: Walls, supervision: Supervision) -> CheckingRoom:
        return CheckingRoom(self._project.root, supervision, self._env, walls, self._openings.variables)

    def make_ready(self) -> None:
        if self._iteration and self._delta and self._plan and not self._is_stacked:
            from untilproven.workspace.snapshots.collecting import make_ready  # noqa: PLC0415  see above

            with contextlib.suppress(RalphError, OSError):  # whoever keeps it says what is wrong
                make_ready(self._snapshots, self._plan, self._upper(self._iteration), self._project.root)

    def keep(self, iteration: int) -> tuple[Conflict, ...]:
        self._settle()
        if self._iteration == iteration:
            self.delta()
        layer = self._place.iteration(iteration)
        conflicts: tuple[Conflict, ...] = ()
        if layer.is_dir():
            conflicts = self._into_tree.keep(iteration, layer, self._opened if self._iteration == iteration else 0)
        self._drop(iteration)
        self._repository.keep(iteration)
        return conflicts

    def deliver(self) -> tuple[Conflict, ...] | None:
        self._settle()
        return self._into_tree.deliver()

    def discard(self, iteration: int) -> None:
        """What was done stays restorable."""
        self._settle()
        self._remember_discarded(iteration, self._place.iteration(iteration))
        if self._iteration == iteration:
            self._known.decide()
        self._repository.discard(iteration)
        self._drop(iteration)

    def _remember_discarded(self, iteration: int, layer: Path) -> None:
        if plan.is_written(layer):
            from untilproven.workspace.snapshots.collecting import record  # noqa: PLC0415  see above

            name = self._snapshots.next("discarded", str(iteration))
            with contextlib.suppress(Damaged):  # a layer that the disk has lost cannot be kept
                record(self._snapshots, name, plan.load(layer), layer / "upper", self._project.root)

    def park(self, iteration: int) -> None:
        """The layer stays where it is, and what it has is kept as that of a discarded iteration is."""
        self._settle()
        layer = self._place.iteration(iteration)
        if self._iteration == iteration:
            self.delta()
            self._known.decide()
            self._iteration, self._delta, self._changes = 0, None, {}
        self._remember_discarded(iteration, layer)

    def bring_back(self, iteration: int) -> tuple[Conflict, ...]:
        if self._place.iteration(iteration).is_dir():
            return self.keep(iteration)
        if self._at_end:
            from untilproven.workspace.overlay.joining import revive  # noqa: PLC0415  few loops take over

            revive(self._stack, str(iteration))
            return ()
        return self.restore(str(iteration)).conflicts

    def recover(self, kept: int | None) -> tuple[Conflict, ...]:
        """Finish the merge of the iteration that was kept last, and of what was being restored; drop other layers."""
        self._settle()
        conflicts = self._into_tree.finish_delivering() + self._stack.pending()
        for number, layer in sorted(self._place.iterations().items()):
            if number == kept or plan.begun(layer) is not None:
                conflicts += self.keep(number)
            else:
                self.discard(number)
        self._repository.recover(kept)
        return conflicts + self._into_tree.finish_restoring()

    def restore(self, target: str, *, dry_run: bool = False) -> "Restored":
        """Bring every path that the loop has changed to what it was at the `start`, at the `end` or after an iteration;
        what the user has changed since stays. Nothing may be undecided: `recover` comes first."""
        self._settle()
        return self._into_tree.restore(target, dry_run=dry_run)

    def close(self) -> None:
        """What must outlast the process stays: layers not decided on, HOME's, git's, what conflicted."""
        self._close_rooms()
        self._expect_nothing()
        self._house.close()
        if "_snapshots" in self.__dict__:
            self._snapshots.close()
        self._exchange_of = 0
        if self._place.held:
            self._stack.told()
            self._place.drop(self._place.was)
            self._was_key = ""
            self._place.leave()

    def forget(self) -> None:
        """The loop has ended and will not go on: of its rooms only what conflicted is left, and its snapshots."""
        self._settle()
        self._house.close()
        for path in self._place.needed_to_go_on():
            self._place.drop(path)
        self._stack.load()
        self.close()

    def _settle(self) -> None:
        """Nobody but us is at work in the rooms, for the tree may change beneath them."""
        self._place.hold()
        self._close_rooms()
        self._expect_nothing()

    def _expect_nothing(self) -> None:
        if self._expected:
            self._expected.close()
            self._expected = None

    def _close_rooms(self) -> None:
        while self._rooms:
            self._rooms.pop().close()

    def _drop(self, iteration: int) -> None:
        self._place.drop(self._place.iteration(iteration))
        if self._iteration == iteration:
            self._iteration, self._delta, self._changes = 0, None, {}
        self._exchange_of = 0

    def _upper(self, iteration: int) -> Path:
        return self._place.iteration(iteration) / "upper"


def _told_as_changes(found: Found) -> tuple[FileChange, ...]:
    before = {path: change.base for path, change in found.changes.items() if change.base is not None}
    after = {path: change.ours for path, change in found.changes.items() if change.ours is not None}
    return compare(Manifest(before, 0, "before"), Manifest(after, 0, "after"))
