"""Where the records of a loop lie, which there are, and the bytes they name."""

import contextlib
import os
import stat
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from untilproven.core import naming
from untilproven.errors import Damaged
from untilproven.store import files
from untilproven.store.spreading import spread
from untilproven.store.vouch import user_state
from untilproven.workspace.entry import Entry
from untilproven.workspace.objects import Objects, finish, make_link
from untilproven.workspace.overlay.beneath import Beneath, split
from untilproven.workspace.overlay.place import UNDELIVERED
from untilproven.workspace.overlay.plan import Plan
from untilproven.workspace.overlay.removal import remove
from untilproven.workspace.snapshots.record import Draft, Name, Own, Record, Version, content, load, name_of
from untilproven.workspace.snapshots.states import State, Step

INLINE = 64 * 1024
"""Up to so many bytes a file lies in the record itself."""

_PRIVATE = 0o700
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def place_of(root: Path, loop_id: str) -> Path:
    project = sha256(os.fsencode(root)).hexdigest()[:16]
    return user_state() / "snapshots" / project / naming.loop_id(loop_id)


class Snapshots:
    """The records of one loop. Whoever writes holds the lock of the loop's rooms."""

    def __init__(self, root: Path, loop_id: str) -> None:
        self._root = root
        self._loop_id = loop_id
        self._start: State = {}
        self._where: dict[str, tuple[Name, int, int]] = {}
        self._learned = 0
        """How many records, from the first on, the start is made of."""
        self._newest: tuple[Name, Record] | None = None
        self._ready: tuple[Record, Draft] | None = None

    @cached_property
    def path(self) -> Path:
        return place_of(self._root, self._loop_id)

    @cached_property
    def objects(self) -> Objects:
        return Objects(self.path / "objects")

    @cached_property
    def names(self) -> list[Name]:
        """In the order in which they happened."""
        try:
            found = [name_of(name) for name in os.listdir(self.path)]  # noqa: PTH208  only their names count
        except FileNotFoundError:
            return []
        return sorted(name for name in found if name)

    def next(self, fate: str, what: str) -> Name:
        """The name for a new record."""
        return Name(self.names[-1].number + 1 if self.names else 1, fate, what)

    def make(self) -> Path:
        """The directory, which only this user can look into."""
        if not self.names:
            with files.explained(self.path):
                self.path.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
                spread(self.path.parent)
                self.path.mkdir(mode=_PRIVATE, exist_ok=True)
        return self.path

    def named(self, number: int) -> Name | None:
        return next((name for name in reversed(self.names) if name.number == number), None)

    def load(self, name: Name) -> Record:
        return load(self.path / str(name))

    def added(self, name: Name, record: Record) -> None:
        """A record is there now."""
        self.names.append(name)
        self._newest = name, record
        if name.is_applied:
            self._locate(name, record)

    def hold_ready(self, record: Record, draft: Draft) -> None:
        """A record that was written before anybody knows whether it is wanted, and that lacks only its name."""
        self._ready = record, draft

    def take_ready(self, plan: Plan) -> tuple[Record, Draft] | None:
        """The one of this plan; one of another is wanted no more."""
        ready, self._ready = self._ready, None
        if ready and ready[0].plan != plan:
            ready[1].drop()
            return None
        return ready

    def drop_ready(self) -> None:
        if self._ready:
            self._ready[1].drop()
            self._ready = None

    def replaced(self) -> None:
        """A record says something else now."""
        self._learned, self._newest = 0, None
        self._start.clear()

    def close(self) -> None:
        """Let go of what is open; it is opened again when it is needed."""
        self.drop_ready()
        if "objects" in self.__dict__:
            self.objects.close()

    def start(self) -> State:
        """How every path was that the loop has changed for good."""
        for name in self.names[self._learned :]:
            if name.is_applied:
                self._learn(name, self._newest[1] if self._newest and self._newest[0] == name else self.load(name))
        self._learned, self._newest = len(self.names), None
        return self._start

    def is_stored(self, entry: Entry) -> bool:
        """Whether a record that stays is known to have these bytes."""
        where = self._where.get(entry.content)
        return where is not None and where[0].is_applied

    def history(self, *discarded: str) -> list[Step]:
        """What was applied, and what these iterations would have changed."""
        wanted = (name for name in self.names if name.is_applied or name.what in discarded)
        steps = [Step(name, self.load(name)) for name in wanted]
        for step in steps:
            self._locate(step.name, step.record)
        return steps

    def bring(self, version: Version, directory: int, as_name: str) -> None:
        """Make a new file or link as it was, whole or not at all."""
        entry = version.entry
        data = self._inline(entry)
        if data is None:
            self.objects.bring(entry, directory, as_name)
        elif stat.S_ISLNK(entry.mode):
            make_link(data, entry, directory, as_name)
        else:
            fd = os.open(as_name, _NEW, 0o600, dir_fd=directory)
            try:
                files.write_all(fd, data)
                finish(fd, entry)
            finally:
                os.close(fd)
        if version.own:
            _give_back(version.own, entry, directory, as_name)

    def read(self, path: str, entry: Entry, limit: int) -> bytes | None:
        """What was in a file, or where a link led; None if it is too large, or was not kept and is not in the tree."""
        if entry.size > limit:
            return None
        data = self._inline(entry)
        if data is not None:
            return data
        if self.objects.has(entry.content):
            return self.objects.read(entry, limit)
        return self._in_the_tree(path, entry)

    def _in_the_tree(self, path: str, entry: Entry) -> bytes | None:
        parent, name = split(path)
        with contextlib.suppress(OSError), Beneath(self._root) as tree:
            directory = tree.directory(parent)
            if stat.S_ISLNK(entry.mode):
                data = os.fsencode(os.readlink(name, dir_fd=directory))
            else:
                fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
                with open(fd, "rb") as file:  # noqa: PTH123  by its descriptor
                    data = file.read(entry.size + 1)
            if sha256(data).hexdigest() == entry.content:
                return data
        return None

    def _inline(self, entry: Entry) -> bytes | None:
        if not entry.size:
            return b""
        where = self._where.get(entry.content)
        if where is None:
            return None
        name, at, length = where
        data = content(self.path / str(name), at, length)
        if sha256(data).hexdigest() != entry.content:
            raise Damaged(f"{self.path / str(name)} is not what it was: what was kept in it is lost")
        return data

    def _learn(self, name: Name, record: Record) -> None:
        self._locate(name, record)
        for path, change in record.changes().items():
            if path not in self._start:
                self._start[path] = record.versions(path, change)[0]

    def _locate(self, name: Name, record: Record) -> None:
        for what, (at, length) in record.inline.items():
            if name.is_applied or what not in self._where:
                self._where[what] = (name, at, length)


def _give_back(own: Own, entry: Entry, directory: int, name: str) -> None:
    """Owner first: a change of owner takes power from a program."""
    give_away(own, directory, name)
    if not stat.S_ISLNK(entry.mode):
        os.chmod(name, stat.S_IMODE(entry.mode), dir_fd=directory)
    for attribute, value in own.attributes.items():
        with contextlib.suppress(OSError):
            os.setxattr(f"/proc/self/fd/{directory}/{name}", attribute, value, follow_symlinks=False)


def give_away(own: Own, directory: int, name: str) -> None:
    """To whom it belonged; others than root can give only to their own groups."""
    if not os.getuid():
        os.chown(name, own.uid, own.gid, dir_fd=directory, follow_symlinks=False)
    else:
        with contextlib.suppress(OSError):
            os.chown(name, -1, own.gid, dir_fd=directory, follow_symlinks=False)


def inherit(root: Path, from_loop: str, to_loop: str) -> None:
    """A loop that goes on where another stopped begins with its records: one start for both.

    Killed halfway, it is done again; done twice, it changes nothing.
    """
    source, target = place_of(root, from_loop), place_of(root, to_loop)
    if not source.is_dir() or target.exists():
        return
    half = target.with_name(f".{target.name}.half")
    with files.explained(target):
        remove(half)
        half.mkdir(mode=_PRIVATE, parents=True)
        _link_all(source, half, lambda name: name_of(name) is not None or name == UNDELIVERED)
        if (source / "objects").is_dir():
            (half / "objects").mkdir(mode=_PRIVATE)
            _link_all(source / "objects", half / "objects", lambda name: not name.startswith("."))
        files.sync_directory(half)
        half.rename(target)
        files.sync_directory(target.parent)


def _link_all(source: Path, target: Path, is_wanted: Callable[[str], bool]) -> None:
    for path in source.iterdir():
        if is_wanted(path.name):
            os.link(path, target / path.name, follow_symlinks=False)
