"""Where a loop without walls keeps what it needs to put the tree back: in the user's own state, out of the tree."""

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from untilproven.core import naming
from untilproven.errors import RalphError
from untilproven.store import files
from untilproven.store.lock import FileLock
from untilproven.store.vouch import user_state
from untilproven.workspace.entry import Entry
from untilproven.workspace.objects import Objects
from untilproven.workspace.overlay.removal import remove
from untilproven.workspace.shadow.marks import Mark

_PRIVATE = 0o700
_LOCK_SECONDS = 5.0
_MARKS = "marks"


class Unsettled(RalphError):
    """Another loop was killed while its agent worked on the same files."""

    kind = "no_room"
    exit_code = 2


class Place:
    """The directory of one loop. One loop at a time works on a tree: nobody could tell what was whose."""

    def __init__(self, root: Path, loop_id: str) -> None:
        self._root = root
        self._loop_id = loop_id
        self._held: FileLock | None = None
        self.patience = _LOCK_SECONDS
        """How long to wait for another process to let go of the tree."""

    @cached_property
    def path(self) -> Path:
        project = sha256(os.fsencode(self._root)).hexdigest()[:16]
        return user_state() / "shadows" / project / naming.loop_id(self._loop_id)

    @property
    def held(self) -> bool:
        return self._held is not None

    def hold(self) -> None:
        """Make it, and keep every other process away from the tree."""
        if self._held is not None:
            return
        with files.explained(self.path):
            (self.path / _MARKS).mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        lock = FileLock(self.path.parent / "lock", timeout=self.patience, what=f"the files of {self._root}")
        lock.acquire()
        try:
            self._refuse_unsettled()
        except RalphError:
            lock.release()
            raise
        self._held = lock

    def _refuse_unsettled(self) -> None:
        for other in sorted(self.path.parent.iterdir()):
            if other == self.path or not (other / _MARKS).is_dir():
                continue
            if any((other / _MARKS).iterdir()):
                raise Unsettled(
                    f"{other.name} was killed while its agent worked on these files, and they are not put back yet",
                    hint=f"ralph resume {other.name}, or ralph abort {other.name}",
                )

    @cached_property
    def objects(self) -> Objects:
        return Objects(self.path / "objects")

    @contextlib.contextmanager
    def bytes_of(self, path: str, entry: Entry) -> Iterator[Objects]:
        """Where the bytes of a file or the target of a link are, or go. Of a file that was not read only size and time
        are known, which another may have too: so it has a place of its own."""
        if entry.is_hashed:
            yield self.objects
            return
        own = Objects(self._large / _name_of(path))
        try:
            yield own
            own.sync()
        finally:
            own.close()

    def sweep_large(self, live: Mapping[str, Collection[str]]) -> None:
        """Of large files only these contents are needed any more."""
        spared = {_name_of(path): contents for path, contents in live.items()}
        for place in list(self._large.iterdir()) if self._large.is_dir() else ():
            Objects(place).sweep(spared.get(place.name, ()))

    def close(self) -> None:
        """Others may have it now."""
        self.objects.close()
        if self._held is not None:
            self._held.release()
            self._held = None

    @property
    def _large(self) -> Path:
        return self.path / "large"

    @property
    def start(self) -> Path:
        return self.path / "start"

    def mark(self, number: int) -> Mark:
        """What an iteration began with."""
        return Mark(self.path / _MARKS / naming.iteration_name(number))

    @property
    def mark_of_check(self) -> Mark:
        """What a check began with."""
        return Mark(self.path / _MARKS / "check")

    @property
    def is_marked(self) -> bool:
        """Whether somebody was let at the tree, and it was neither kept nor put back."""
        return any((self.path / _MARKS).iterdir())

    def marks(self) -> dict[int, Mark]:
        """Every iteration that is neither kept nor discarded."""
        found = {}
        for path in (self.path / _MARKS).iterdir():
            word, _, number = path.name.partition("-")
            if word == "iteration" and number.isdigit():
                found[int(number)] = Mark(path)
        return found

    def aside(self, number: int) -> Path:
        """What may have been the user's, and was in the way of putting the tree back."""
        return self.path / "aside" / naming.iteration_name(number)

    @property
    def after_check(self) -> Path:
        """What the last check left in the tree, until the next one."""
        return self.path / "aside/last-check"

    def fresh(self, name: str) -> Path:
        """An empty directory that programs may write to. What holds it they may not: so it stays where it is."""
        path = self.path / name
        with files.explained(path):
            remove(path)
            path.mkdir(mode=_PRIVATE)
        return path

    def forget(self) -> None:
        """Only what was put aside stays."""
        with files.explained(self.path):
            for path in list(self.path.iterdir()):
                if path.name != "aside":
                    remove(path)
            remove(self.after_check)
            for directory in (self.path / "aside", self.path):
                if not any(directory.iterdir() if directory.is_dir() else ()):
                    remove(directory)
            (self.path.parent / "lock").unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.parent.rmdir()


def _name_of(path: str) -> str:
    return sha256(os.fsencode(path)).hexdigest()[:32]
