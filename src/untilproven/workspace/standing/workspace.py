"""What a session's loop sees of the tree: how it was, what has changed, and rooms in which checks run on it."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from untilproven.contract import AgentRoom, Conflict, Delta, Differs, Ran, Room, Supervision, When
from untilproven.errors import UsageError
from untilproven.process import beneath
from untilproven.process.houses import House
from untilproven.process.room import DirectoryRoom, WalledRoom
from untilproven.store.layout import Project
from untilproven.workspace import environment
from untilproven.workspace.manifest import Manifest, compare
from untilproven.workspace.notes import told
from untilproven.workspace.openings import Openings
from untilproven.workspace.overlay import building
from untilproven.workspace.overlay.checking import CheckingRoom
from untilproven.workspace.overlay.place import Place
from untilproven.workspace.overlay.reading import is_same
from untilproven.workspace.overlay.tree import Tree
from untilproven.workspace.snapshots.as_it_was import build, parts_of
from untilproven.workspace.snapshots.record import Version
from untilproven.workspace.standing.beginning import Beginning

_OF_CHECKS = {"PYTHONDONTWRITEBYTECODE": "1"}
_NAMED = 5


class StandingWorkspace:
    """A user and an agent work in the tree as they like. Nothing here ever writes to it, so nothing is taken back:
    what is refused stays, and the agent is told to mend it."""

    can_discard = True
    """What was is known, so that checks and guard can compare with it; `discard` itself changes nothing."""
    advice = ()
    undelivered = False

    def __init__(
        self,
        project: Project,
        loop_id: str,
        exclude: Collection[PurePosixPath],
        openings: Openings,
        *,
        walled: bool,
    ) -> None:
        self.kind = "session" if walled else "session-bare"
        self._project = project
        self._openings = openings
        self._walled = walled
        self._beginning = Beginning(project.root, loop_id, exclude)
        self._place = Place(project.root, loop_id)
        self._house = House(self._place.tidy)
        self._rooms: list[WalledRoom] = []
        self._now: Manifest | None = None
        self._delta: Delta | None = None
        self._back = False

    def begin(self) -> str:
        """Remember the tree as it is; its hash."""
        self._now = self._beginning.start
        return self._now.tree

    def tree(self, *, fresh: bool = False) -> str:
        return self._seen(fresh=fresh).tree

    def open(self, iteration: int, supervision: Supervision) -> AgentRoom:  # noqa: ARG002  nobody is let in from here
        raise UsageError("this loop goes on in its own session, not from here")

    def exchange(self, iteration: int) -> None:
        """The agent works as the user, and sees every file as we do."""

    def delta(self) -> Delta:
        """What has changed since the last look, by whomever: the agent, or the user beside it."""
        if self._delta is None:
            now = self._seen()
            changes = compare(self._beginning.seen(), now)
            self._delta = Delta(tree=now.tree, changes=changes, notes=told(set(now.notes)))
        return self._delta

    def read(self, path: str, when: When, limit: int) -> bytes | None:
        if when == "now":
            return beneath.read(self._project.root, PurePosixPath(path), limit)
        known = self._beginning.start if when == "start" else self._beginning.seen()
        entry = known.entries.get(path)
        return self._beginning.read(entry, limit) if entry is not None else None

    def since_start(self) -> Mapping[str, Differs]:
        start, now = self._beginning.start.entries, self._seen().entries
        return {
            path: Differs(path in start, path in now)
            for path in start.keys() | now.keys()
            if not is_same(start.get(path), now.get(path))
        }

    @property
    def can_turn_back(self) -> bool:
        """Without rooms there is only the tree as it is; as long as nothing has changed, that is the same."""
        return self._walled or not self.since_start()

    @contextmanager
    def turned_back(self) -> Iterator[None]:
        """Meanwhile checks see the tree as it was when the loop began."""
        self._back = True
        try:
            yield
        finally:
            self._back = False

    def expect_check(self, supervision: Supervision) -> None:
        """Nobody iterates here: the check that a session asks for is not expected by anybody."""

    def checking(self, supervision: Supervision, as_it_was: Collection[str] = ()) -> Room:
        paths = self.since_start() if self._back else as_it_was
        if not self._walled:
            return _BareRoom(self._project.root, supervision, frozenset(paths))
        self._settle()
        above = self._was(paths) if paths else []
        walls = building.for_check(self._project, self._place, *above, openings=self._openings)
        passed = self._openings.variables
        env = environment.of_agent(passed)
        room = CheckingRoom(self._project.root, supervision, env, walls, passed)
        room.stand_in(self._house)
        self._rooms.append(room)
        return room

    def _was(self, paths: Collection[str]) -> list[Path]:
        start = self._beginning.start.entries
        # What nobody has the bytes of is not there at all: a cache is made again, anything else is missed.
        was = {path: Version(start[path]) if self._is_known(path) else None for path in paths}
        parts = parts_of(paths, was, Tree(dict(self._seen().entries)), {})
        if not parts:
            return []
        self._place.drop(self._place.was)
        build(parts, self._place.was, self._beginning.snapshots, self._project.root)
        return [self._place.was]

    def _is_known(self, path: str) -> bool:
        entry = self._beginning.start.entries.get(path)
        return entry is not None and self._beginning.has(entry)

    def make_ready(self) -> None:
        """Nothing comes first."""

    def keep(self, iteration: int) -> tuple[Conflict, ...]:
        """The tree is as it is; what led to it is written down."""
        self._beginning.record(iteration, self._seen())
        self._delta = None
        return ()

    def deliver(self) -> tuple[Conflict, ...]:
        """It is there."""
        return ()

    def discard(self, iteration: int) -> None:
        """Nothing is taken back: it counts as what the next iteration has changed."""

    def park(self, iteration: int) -> None:
        """Nothing can be held back."""

    def bring_back(self, iteration: int) -> tuple[Conflict, ...]:  # noqa: ARG002  there is only the tree as it is
        return ()

    def recover(self, kept: int | None) -> tuple[Conflict, ...]:  # noqa: ARG002  what was done is there
        """Nothing is ever halfway."""
        return ()

    def close(self) -> None:
        while self._rooms:
            self._rooms.pop().close()
        self._house.close()
        if self._place.held:
            self._place.drop(self._place.was)
            self._place.leave()
        self._beginning.close()

    def forget(self) -> None:
        self.close()
        self._beginning.forget()

    def _settle(self) -> None:
        self._place.hold()
        while self._rooms:
            self._rooms.pop().close()

    def _seen(self, *, fresh: bool = False) -> Manifest:
        """Walked once for an event, unless somebody wants to know whether it is still so."""
        if self._now is None or fresh:
            self._now = self._beginning.look()
            self._delta = None
        return self._now


class _BareRoom(DirectoryRoom):
    """Where no room can be built, checks run on the user's files, and nothing can be put back for them."""

    def __init__(self, root: Path, supervision: Supervision, wanted: frozenset[str]) -> None:
        super().__init__(root, supervision, {**os.environ, **_OF_CHECKS})
        self._wanted = wanted

    def run(self, command: str | Sequence[str], *, timeout: float, env: Mapping[str, str] | None = None) -> Ran:
        if self._wanted:
            named = ", ".join(sorted(self._wanted)[:_NAMED])
            why = f"no room can be built here in which {named} would be as it was; put it back, or see `ralph doctor`"
            return Ran(exit_code=1, output=why)
        return super().run(command, timeout=timeout, env=env)
