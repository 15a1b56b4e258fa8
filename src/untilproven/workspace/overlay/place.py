"""Where the rooms of a loop lie: in the user's own state, out of the tree and out of every room."""

import contextlib
import os
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from untilproven.core import naming
from untilproven.errors import Busy
from untilproven.store import files
from untilproven.store.agent_place import agent_home
from untilproven.store.lock import FileLock
from untilproven.store.spreading import spread
from untilproven.store.vouch import user_state
from untilproven.workspace.overlay.giving import Given
from untilproven.workspace.overlay.making import PRIVATE, make, make_layer, make_upper
from untilproven.workspace.overlay.trash import Trash

_GIT, _CHECK = "git", "check"
_LOCK_SECONDS = 5.0
_MERGE_SECONDS = 600.0
_LOCKS = ("tree.lock", "merge.lock")
_KEPT = "kept-"
UNDELIVERED = "undelivered"
"""What lies among the snapshots of a loop whose work is not in the user's tree."""


class Place:
    """The directory of one loop's rooms."""

    def __init__(self, root: Path, loop_id: str) -> None:
        self._root = root
        self.loop_id = loop_id
        self._lock_seconds = _LOCK_SECONDS
        self._held: FileLock | None = None
        self._tree: FileLock | None = None
        self._merging = 0
        self._latest = (-1, root)
        self._is_next_ready = False

    @cached_property
    def path(self) -> Path:
        project = sha256(os.fsencode(self._root)).hexdigest()[:16]
        return user_state() / "rooms" / project / naming.loop_id(self.loop_id)

    def hold(self) -> None:
        """Make it and keep every other process out of it: two mounts of one layer would spoil it."""
        if self._held is not None:
            return
        make(self.path)
        lock = FileLock(self.path / "lock", timeout=self._lock_seconds, what=f"the room of {self.loop_id}")
        lock.acquire()
        self._held = lock
        spread(self.path)

    def take_tree(self) -> bool:
        """Be the one loop that merges into the tree as it goes, until the place is released; False if another is."""
        if self._tree is None:
            self._tree = self._taken(_LOCKS[0])
        return self._tree is not None

    @contextlib.contextmanager
    def merging(self) -> Iterator[None]:
        """Nobody else of ours changes the tree meanwhile."""
        self._merging += 1
        try:
            if self._merging > 1:
                yield
                return
            with FileLock(self.path.parent / _LOCKS[1], timeout=_MERGE_SECONDS, what=f"merging into {self._root}"):
                yield
        finally:
            self._merging -= 1

    def _taken(self, name: str) -> FileLock | None:
        lock = FileLock(self.path.parent / name, timeout=0, what=str(self._root))
        try:
            lock.acquire()
        except Busy:
            return None
        return lock

    @cached_property
    def _trash(self) -> Trash:
        return Trash(self.path / "trash")

    def make_iteration(self, number: int, over: Path) -> tuple[str, str]:
        """The layer of an iteration; beside it is what the layers over git and of its checks need."""
        layer = self.iteration(number)
        if self._is_next_ready and not os.path.lexists(layer):
            with files.explained(layer):
                os.rename(self._next, layer)  # noqa: PTH104  done for every iteration
            self._is_next_ready = False
        return make_layer(layer, over)

    def work_of_check(self) -> Path:
        """Beside the layer of the iteration that is at work, if there is one."""
        layer = self._latest[1]
        return (layer if self._latest[0] > 0 and layer.is_dir() else self.given.path) / _CHECK

    def _prepare_next(self) -> None:
        """The directories of the next iteration; what cannot be made now is made, or explained, then.

        Each iteration's lie together, away from those of the last one: a file system may look at all that was deleted
        beside a new file of late before it makes it, and every room makes and deletes dozens."""
        if not self._is_next_ready:
            with contextlib.suppress(OSError):
                self._trash.take(self._next)
                for path in (self._next, *(self._next / name for name in ("upper", "work", _GIT, _CHECK))):
                    os.mkdir(path, PRIVATE)  # noqa: PTH102  done for every iteration
                self._is_next_ready = True

    def make_home(self, over: Path) -> tuple[str, str]:
        """The layer over HOME in the rooms of agents."""
        return make_upper(self.home, over), self.given.work("home")

    def make_git(self, iteration: int, over: Path) -> tuple[str, str]:
        """The layer over git's directory in the room of an agent. It is mounted anew for each: in one that stands, not
        all would be seen that the user does to the repository."""
        return make_upper(self.git, over), self.given.emptied(self.iteration(iteration) / _GIT)

    @cached_property
    def agent_home(self) -> str:
        """The agent's own directory, which is in its rooms as it is."""
        return str(agent_home(self._root, self.loop_id))

    @property
    def held(self) -> bool:
        return self._held is not None

    def release(self) -> None:
        if self._held is not None:
            self._drop_given()
            with files.explained(self.path):
                self._trash.remove()
            self._held.release()
            self._held = None
        if self._tree is not None:
            self._tree.release()
            self._tree = None

    def leave(self) -> None:
        """Let others in, and leave no directory behind that has nothing in it."""
        self._drop_given()
        self._trash.remove()
        with contextlib.suppress(OSError):
            if [path.name for path in self.path.iterdir()] == ["lock"]:
                (self.path / "lock").unlink()
        self.release()
        with contextlib.suppress(OSError):
            self.path.rmdir()
            if not {path.name for path in self.path.parent.iterdir()}.difference(_LOCKS):
                self._unlock_for_good()
            self.path.parent.rmdir()

    def _drop_given(self) -> None:
        self.given.end()
        self.drop(self._next)
        self._is_next_ready = False

    def _unlock_for_good(self) -> None:
        """Locks that nobody holds go; whoever waits for one sees that its file is gone, and makes another."""
        for name in _LOCKS:
            if lock := self._taken(name):
                lock.path.unlink()
                lock.release()

    def iteration(self, number: int) -> Path:
        if self._latest[0] != number:  # one is asked for again and again
            self._latest = number, self.path / naming.iteration_name(number)
        return self._latest[1]

    def iterations(self) -> dict[int, Path]:
        """Every iteration whose layer is still here."""
        found = {}
        for path in self.path.iterdir():
            word, _, number = path.name.partition("-")
            if word == "iteration" and number.isdigit():
                found[int(number)] = path
        return found

    def kept(self) -> list[Path]:
        """Layers with all that was kept and is not in the user's tree; the last one counts."""
        try:
            return sorted(path for path in self.path.iterdir() if path.name.startswith(_KEPT))
        except FileNotFoundError:
            return []

    def next_kept(self) -> Path:
        last = self.kept()[-1:]
        number = int(last[0].name.removeprefix(_KEPT)) + 1 if last else 1
        return self.path / f"{_KEPT}{number:08d}"

    @property
    def is_delivered(self) -> bool:
        """Whether what was kept came to the user's tree, by this loop or by one that it goes on from."""
        return not self._undelivered.exists()

    def others_kept_since(self, time: int) -> bool:
        """Whether another loop of this tree has kept anything since then, in nanoseconds."""
        own = self._undelivered.parent
        with contextlib.suppress(OSError), os.scandir(own.parent) as loops:
            return any(loop.name != own.name and loop.stat().st_mtime_ns >= time for loop in loops)
        return False

    def set_delivered(self, *, delivered: bool) -> None:
        with files.explained(self._undelivered):
            if delivered:
                self._undelivered.unlink(missing_ok=True)
            elif not self._undelivered.exists():
                files.replace(self._undelivered, b"", durable=True)

    @cached_property
    def _undelivered(self) -> Path:
        """It outlasts the rooms."""
        return user_state() / "snapshots" / self.path.parent.name / self.path.name / UNDELIVERED

    @property
    def rebased(self) -> Path:
        """What was kept, over the tree as it is now, until it is whole."""
        return self.path / "rebased"

    @property
    def delivery(self) -> Path:
        """What was kept, while it is being merged into the user's tree."""
        return self.path / "delivery"

    @property
    def theirs(self) -> Path:
        """What others had written when it was brought together with what this loop did."""
        return self.path / "theirs"

    @property
    def bases(self) -> Path:
        """What files were before this loop changed them, where the user's tree has it no more."""
        return self.path / "bases"

    @cached_property
    def home(self) -> Path:
        return self.path / "home"

    @cached_property
    def git(self) -> Path:
        return self.path / "git"

    @cached_property
    def _next(self) -> Path:
        return self.path / "next"

    @cached_property
    def given(self) -> Given:
        return Given(self.path / "given", self.drop)

    @property
    def was(self) -> Path:
        """What a check finds as it was when the loop began."""
        return self.path / "was"

    @property
    def restore(self) -> Path:
        """What comes back from a snapshot, until it is merged."""
        return self.path / "restore"

    def aside(self, what: str) -> Path:
        return self.path / "conflicts" / what

    def needed_to_go_on(self) -> list[Path]:
        """What another process needs to go on with the loop."""
        return [
            self.home,
            self.git,
            self.was,
            self.restore,
            self.rebased,
            self.delivery,
            self.bases,
            self.theirs,
            *self.kept(),
            *self.iterations().values(),
        ]

    def drop(self, path: Path) -> None:
        """Gone at once, whenever this is killed; what is left of it goes when there is time for it."""
        with files.explained(path):
            self._trash.take(path)

    def tidy(self) -> None:
        """What can be done while others are at work: take away what was dropped, make ready what comes next."""
        self._trash.empty()
        self._prepare_next()


def left_in(root: Path) -> list[str]:
    """The loops whose rooms lie here, but for those of which only what conflicted is left."""
    rooms = user_state() / "rooms" / sha256(os.fsencode(root)).hexdigest()[:16]
    try:
        return [path.name for path in rooms.iterdir() if path.is_dir() and _has_more_than_conflicts(path)]
    except FileNotFoundError:
        return []


def _has_more_than_conflicts(path: Path) -> bool:
    return any(inner.name not in {"conflicts", "lock"} for inner in path.iterdir())
