"""The agent works on the user's files; before each iteration they are remembered to the byte, and can be put back."""

import time
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from untilproven.checks.surroundings import environment_for_checks
from untilproven.contract import AgentRoom, Conflict, Delta, Differs, Exchange, Room, Supervision, When
from untilproven.errors import Damaged
from untilproven.process import beneath
from untilproven.store.agent_place import agent_home
from untilproven.store.layout import Project
from untilproven.workspace import environment
from untilproven.workspace.entry import Note
from untilproven.workspace.manifest import compare
from untilproven.workspace.notes import told
from untilproven.workspace.openings import Openings
from untilproven.workspace.overlay.reading import is_same
from untilproven.workspace.overlay.removal import remove
from untilproven.workspace.overlay.restore import restore
from untilproven.workspace.shadow import confinement, recording
from untilproven.workspace.shadow.beginning import Beginning
from untilproven.workspace.shadow.caretaker import NOT_PUT_BACK, PUT_ASIDE, Caretaker, Observed
from untilproven.workspace.shadow.marks import Before
from untilproven.workspace.shadow.memory import Memory
from untilproven.workspace.shadow.place import Place
from untilproven.workspace.shadow.room import ShadowRoom
from untilproven.workspace.snapshots.record import DISCARDED, KEPT
from untilproven.workspace.snapshots.shelf import Snapshots

_TEMPORARY, _EXCHANGE, _OF_CHECK = "tmp", "exchange", "check"


class ShadowWorkspace:
    """`--sandbox shadow`: best effort. What the user changes while the agent works cannot be told from its work, and is
    put back with it; what was changed after the agent had ended, or while nobody knows, is put aside first.

    Git's own files are as they were after every iteration, kept or not.
    """

    kind = "shadow"
    can_discard = True
    advice = ()
    undelivered = False

    def __init__(
        self,
        project: Project,
        loop_id: str,
        exclude: Collection[PurePosixPath],
        openings: Openings = Openings(),  # noqa: B008  immutable
    ) -> None:
        self._project = project
        self._loop_id = loop_id
        self._openings = openings
        self._place = Place(project.root, loop_id)
        self._memory = Memory(project.root, exclude, self._place)
        self._caretaker = Caretaker(project.root, self._memory, self._place)
        self._snapshots = Snapshots(project.root, loop_id)
        self._beginning = Beginning(self._place, self._snapshots)
        self._rooms: list[ShadowRoom] = []
        self._iteration = 0
        """The one that is neither kept nor discarded; 0 if there is none."""
        self._before: Before | None = None
        self._closed_at = 0
        """When nothing of the agent's ran any more, in nanoseconds; 0 if nobody knows."""
        self._observed: Observed | None = None
        self._delta: Delta | None = None
        self._check: Before | None = None
        """What the tree was before a check that has not been cleared away."""
        self._exchange_of = 0
        self._told: set[Note] = set()

    def tree(self, *, fresh: bool = False) -> str:
        if self._check:
            self._settle()
        return self._memory.told(self._memory.tree(fresh=fresh)).tree

    def open(self, iteration: int, supervision: Supervision) -> AgentRoom:
        self._settle()
        self._make_good()
        exchange, temporary = self.exchange(iteration).outside, self._place.fresh(_TEMPORARY)
        confined = confinement.for_agent(self._project, self._openings, temporary, exchange, *self._of_agent())
        before = self._remembered()
        self._place.mark(iteration).save(before)
        self._begin(iteration, before)
        self._sweep(before)
        env = environment.of_agent(self._openings.variables)
        return self._room(ShadowRoom(self._project.root, supervision, env, confined, temporary))

    def _of_agent(self) -> list[Path]:
        home = agent_home(self._project.root, self._loop_id)
        return [home] if home.is_dir() else []

    def exchange(self, iteration: int) -> Exchange:
        """The same place for both."""
        self._place.hold()
        if self._exchange_of != iteration:
            self._place.fresh(_EXCHANGE)
            self._exchange_of = iteration
        place = self._place.path / _EXCHANGE
        return Exchange(place, place)

    def delta(self) -> Delta:
        """Nothing is left running in the room afterwards; what harms is gone, and git's own files are as they were."""
        self._settle()
        if self._before is None:
            return Delta(tree=self.tree())
        if self._delta is None:
            self._observed = self._caretaker.observe(self._before, self._iteration, self._closed_at)
            after = self._memory.told(self._observed.after)
            changes = compare(self._memory.told(self._before.tree), after)
            self._delta = Delta(tree=after.tree, changes=changes, notes=self.notes())
        return self._delta

    def notes(self) -> tuple[str, ...]:
        """What has to be said and was not said yet."""
        new = self._caretaker.notes - self._told
        self._caretaker.notes.clear()
        self._told |= {note for note in new if not note.reason.startswith((PUT_ASIDE, NOT_PUT_BACK))}
        return told(new)

    def read(self, path: str, when: When, limit: int) -> bytes | None:
        known = {
            "start": self._beginning.entries,
            "before": self._memory.told(self._before.tree).entries if self._before else None,
            "now": None,
        }[when]
        if known is None:
            return beneath.read(self._project.root, PurePosixPath(path), limit)
        entry = known.get(path)
        if entry is None or entry.is_directory or entry.size > limit:
            return None
        with self._place.bytes_of(path, entry) as objects:
            return objects.read(entry, limit) if objects.has(entry.content) else None

    def since_start(self) -> Mapping[str, Differs]:
        self._settle()
        start = self._beginning.entries
        if start is None:
            return {}
        now = self._memory.told(self._memory.tree()).entries
        return {
            path: Differs(path in start, path in now)
            for path in start.keys() | now.keys()
            if not is_same(start.get(path), now.get(path))
        }

    def expect_check(self, supervision: Supervision) -> None:
        """The tree is looked at until the check begins, and nothing may be in it that is only there for a check."""

    def checking(self, supervision: Supervision, as_it_was: Collection[str] = ()) -> Room:
        """What the check writes is put back before anything else happens to the tree, and so is what was put in place
        for it; what was in the way stays in the loop's place until the next check."""
        self._settle()
        if self._iteration:
            self.delta()
        else:
            self._make_good()
        temporary = self._place.fresh(_OF_CHECK)
        confined = confinement.for_check(self._project, self._openings, temporary)
        before = self._remembered()
        self._place.mark_of_check.save(before)
        self._check = before
        missing = self._caretaker.prepare_check(before, self._beginning.entries or {}, as_it_was)
        if missing:
            self._settle()
            named = told(Note("as it was", path) for path in missing)[0]
            raise Damaged(f"the check cannot have every file as it was when the loop began: {named}")
        self._memory.doubt()
        passed = self._openings.variables
        env = environment_for_checks(environment.of_agent(passed), self._project.root, passed)
        return self._room(ShadowRoom(self._project.root, supervision, env, confined, temporary))

    def make_ready(self) -> None:
        """What changed is in the tree already."""

    def keep(self, iteration: int) -> tuple[Conflict, ...]:
        """The tree is as it is to be; what led to it is written down."""
        self._settle()
        if self._iteration == iteration:
            self.delta()
            self._record(KEPT)
            self._decided()
        return ()

    def deliver(self) -> tuple[Conflict, ...]:
        """The agent has worked on the tree itself."""
        return ()

    def discard(self, iteration: int) -> None:
        self._settle()
        if self._iteration == iteration and self._before is not None:
            self.delta()
            self._record(DISCARDED)
            assert self._observed is not None  # noqa: S101  by `delta`
            self._caretaker.take_back(self._before, self._observed, iteration)
            self._decided()

    def park(self, iteration: int) -> None:
        """The agent has worked on the tree itself, so it is taken back; the snapshot has it."""
        self.discard(iteration)

    def bring_back(self, iteration: int) -> tuple[Conflict, ...]:
        self._settle()
        done = restore(self._project, self._loop_id, str(iteration))
        self._memory.doubt()
        return done.conflicts

    def recover(self, kept: int | None) -> tuple[Conflict, ...]:
        """At the start of a process: what a check left is put back, and so is an iteration that was not kept."""
        self._settle()
        if self._place.mark_of_check.exists:
            self._check = self._place.mark_of_check.load()
            self._settle()
        if self._iteration and self._iteration != kept:
            self.discard(self._iteration)
        for number, mark in sorted(self._place.marks().items()):
            self._begin(number, mark.load())
            if number == kept:
                self.keep(number)
            else:
                self.discard(number)
        return ()

    def close(self) -> None:
        """What is needed to put the tree back stays."""
        self._close_rooms()
        self._exchange_of = 0
        if self._place.held:
            self._settle()
            for name in (_TEMPORARY, _EXCHANGE, _OF_CHECK):
                remove(self._place.path / name)
            self._place.close()

    def forget(self) -> None:
        """An iteration that was never decided on is taken back."""
        self.recover(None)
        self._place.forget()
        self.close()

    def _make_good(self) -> None:
        """Nothing of another iteration is in the tree, nor of a process that was killed."""
        if self._iteration:
            self.discard(self._iteration)
        elif self._place.is_marked:
            self.recover(None)

    def _settle(self) -> None:
        """Nobody but us is at work in the tree, and nothing of a check is left in it."""
        self._place.hold()
        self._close_rooms()
        if self._check:
            self._caretaker.clear_check(self._check)
            self._place.mark_of_check.drop()
            self._check = None

    def _room(self, room: ShadowRoom) -> ShadowRoom:
        self._rooms.append(room)
        return room

    def _close_rooms(self) -> None:
        closed = bool(self._rooms)
        while self._rooms:
            self._rooms.pop().close()
        if closed and not self._check:
            self._closed_at = time.time_ns()

    def _remembered(self) -> Before:
        before = self._memory.before()
        self._caretaker.notes |= self._memory.lost() | set(self._memory.told(before.tree).notes)
        self._beginning.make(self._memory.told(before.tree))
        return before

    def _sweep(self, before: Before) -> None:
        """Of large files only what they were at the start and what they are now is needed any more."""
        live: dict[str, set[str]] = {}
        for entries in (before.tree.entries, self._beginning.entries or {}):
            for path, entry in entries.items():
                if entry.content and not entry.is_hashed:
                    live.setdefault(path, set()).add(entry.content)
        self._place.sweep_large(live)

    def _record(self, fate: str) -> None:
        assert self._before is not None  # noqa: S101  an iteration is under way
        assert self._observed is not None  # noqa: S101  and was looked at
        base, ours = (self._memory.told(tree).entries for tree in (self._before.tree, self._observed.after))
        changes = recording.changes_between(base, ours)
        recording.record(self._snapshots, fate, self._iteration, changes, self._place.bytes_of)

    def _begin(self, iteration: int, before: Before) -> None:
        self._iteration, self._before = iteration, before
        self._observed = self._delta = None
        self._closed_at = 0

    def _decided(self) -> None:
        self._place.mark(self._iteration).drop()
        self._iteration, self._before = 0, None
        self._observed = self._delta = None
        self._exchange_of = 0
