"""The user's own directory, as it is: nothing protects it, and nothing can be taken back."""

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

from untilproven.contract import AgentRoom, Conflict, Delta, Differs, Ran, Room, Supervision, When
from untilproven.process import beneath
from untilproven.process.room import DirectoryRoom
from untilproven.workspace.entry import Note
from untilproven.workspace.manifest import Manifest, compare
from untilproven.workspace.notes import told
from untilproven.workspace.walk import walk

_OF_CHECKS = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Python takes a compiled file for current if size and second of the source are the same: agents edit faster."""

_FRESH = 1.0
"""Seconds for which a walk stands for the tree; what the user did in a longer pause is not the agent's."""


class PlainWorkspace:
    """`--sandbox none`: the agent works as the user, on the user's files."""

    kind = "none"
    can_discard = False
    advice = ()
    undelivered = False

    def __init__(self, root: Path, exclude: Collection[PurePosixPath] = ()) -> None:
        self._root = root
        self._exclude = exclude
        self._env = dict(os.environ)
        self._before: Manifest | None = None
        self._last: Manifest | None = None
        self._stale_at = 0.0
        self._notes: set[Note] = set()
        self._told: set[Note] = set()

    def manifest(self) -> Manifest:
        """The tree as it is; it is walked again if a check has run since, or some time has passed."""
        if self._last is None or time.monotonic() >= self._stale_at:
            return self._walk()
        return self._last

    def tree(self, *, fresh: bool = False) -> str:
        return (self._walk() if fresh else self.manifest()).tree

    def open(self, iteration: int, supervision: Supervision) -> AgentRoom:  # noqa: ARG002  every iteration has the same
        self._before = self.manifest()
        return DirectoryRoom(self._root, supervision, self._env)

    def exchange(self, iteration: int) -> None:
        """A program sees every file as we do."""

    def delta(self) -> Delta:
        """What has changed since the room was opened, by whomever: the agent, or the user meanwhile."""
        after = self._walk()
        changes = compare(self._before, after) if self._before else ()
        new, self._notes = self._notes - self._told, set()
        self._told |= new
        return Delta(tree=after.tree, changes=changes, notes=told(new))

    def read(self, path: str, when: When, limit: int) -> bytes | None:
        """Of the tree as it was nothing is kept."""
        return beneath.read(self._root, PurePosixPath(path), limit) if when == "now" else None

    def since_start(self) -> Mapping[str, Differs]:
        """Not known: of the tree as it was nothing is kept."""
        return {}

    def expect_check(self, supervision: Supervision) -> None:
        """There is nothing to make ready."""

    def checking(self, supervision: Supervision, as_it_was: Collection[str] = ()) -> Room:  # noqa: ARG002  none can be
        return _CheckingRoom(self._root, supervision, {**self._env, **_OF_CHECKS}, self._outdated)

    def make_ready(self) -> None:
        """Nothing is kept of it."""

    def keep(self, iteration: int) -> tuple[Conflict, ...]:  # noqa: ARG002  they are all the same
        """There is nothing to do: the agent has worked on the tree itself."""
        return ()

    def deliver(self) -> tuple[Conflict, ...]:
        """It is there."""
        return ()

    def park(self, iteration: int) -> None:
        """Nothing can be held back."""

    def bring_back(self, iteration: int) -> tuple[Conflict, ...]:  # noqa: ARG002  there is only the tree as it is
        """What an iteration left is still in the tree."""
        return ()

    def discard(self, iteration: int) -> None:
        """What the agent did stays, for nothing here can tell it from what the user did; the driver says so."""

    def recover(self, kept: int | None) -> tuple[Conflict, ...]:  # noqa: ARG002  what was done is there
        """Nothing is ever halfway."""
        return ()

    def close(self) -> None:
        """Nothing is held."""

    def forget(self) -> None:
        """Nothing is kept."""

    def _walk(self) -> Manifest:
        self._last = walk(self._root, self._exclude, self._last)
        self._stale_at = time.monotonic() + _FRESH
        self._notes.update(self._last.notes)
        return self._last

    def _outdated(self) -> None:
        self._stale_at = 0.0


class _CheckingRoom(DirectoryRoom):
    """Tells when a check has run: what it left in the tree, caches for one, is nobody's change."""

    def __init__(self, root: Path, supervision: Supervision, env: Mapping[str, str], ran: Callable[[], None]) -> None:
        super().__init__(root, supervision, env)
        self._ran = ran

    def run(self, command: str | Sequence[str], *, timeout: float, env: Mapping[str, str] | None = None) -> Ran:
        try:
            return super().run(command, timeout=timeout, env=env)
        finally:
            self._ran()
