"""A file of records, one JSON object a line, that several programs add to and that git merges."""

import contextlib
import os
import stat
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Generic, TypeVar, cast

import msgspec

from untilproven.errors import Damaged, StoreFailed
from untilproven.model import wire
from untilproven.store import files
from untilproven.store.layout import StateDirectory
from untilproven.store.lock import FileLock, undisturbed
from untilproven.store.tasks import Damage

LINE_LIMIT = files.MIB
FILE_LIMIT = 256 * files.MIB
_LOCK_SECONDS = 10.0
_LOOK_SECONDS = 1.0

R = TypeVar("R", bound=wire.Record)


class _Tagged(msgspec.Struct):
    type: str


class Found(msgspec.Struct, Generic[R], frozen=True):
    """What is in the file; `unknown` lines are of types that another program, or a later version, writes."""

    records: tuple[R, ...]
    damage: tuple[Damage, ...] = ()
    unknown: int = 0


class Draft(msgspec.Struct, Generic[R], frozen=True):
    """What a file has, what comes after it, and which records that are."""

    before: bytes
    lines: bytes
    new: tuple[R, ...]


class Lines(Generic[R]):
    """The file, and how to add to it. `identity` says which of two records are the same: that is written once."""

    def __init__(
        self,
        path: Path,
        lock: Path,
        kinds: Sequence[type[wire.Record]],
        identity: Callable[[R], Hashable | None],
    ) -> None:
        self.path = path
        self.lock = lock
        self._kinds = {kind.__struct_config__.tag: kind for kind in kinds}
        self._identity = identity
        self._state = StateDirectory(lock.parents[2])

    def read(self) -> Found[R]:
        """Every record, and the lines that could not be read: the rest does not suffer from them."""
        data = self._data()
        if data and not data.endswith(b"\n"):  # perhaps somebody is still writing
            with undisturbed(self.lock, timeout=_LOOK_SECONDS):
                data = self._data()
        return self._found(data)

    def append(self, *records: R) -> tuple[R, ...]:
        """Write those that are not there yet, all or none, so that they survive a power cut; returns them."""
        with self._locked():
            data = self._data()
            new = self._new(data, records)
            self._add(data, b"".join(self._line(record) for record in new))
        return new

    def drafted(self, *records: R) -> "Draft[R]":
        """What the file has now, and what `append` would add: nothing is written."""
        with self._locked():
            data = self._data()
            new = self._new(data, records)
            lines = b"".join(self._line(record) for record in new)
            return Draft(data, _after(data, lines), new)

    def adopt(self, *lines: bytes) -> None:
        """Add lines that were drafted, or that a commit has, if they are not there; who reads them judges them."""
        with self._locked():
            data = self._data()
            there = set(data.split(b"\n"))
            self._add(data, b"".join(line + b"\n" for line in lines if line not in there))

    def _new(self, data: bytes, records: Sequence[R]) -> tuple[R, ...]:
        there = {self._identity(record) for record in self._found(data).records} - {None}
        new = []
        for record in records:
            identity = self._identity(record)
            if identity not in there:
                new.append(record)
                there |= {identity} - {None}
        return tuple(new)

    def _add(self, data: bytes, lines: bytes) -> None:
        if lines:
            self._append(_after(data, lines))

    def drop(self, unwanted: Callable[[R], bool], *, rehearse: bool = False) -> tuple[R, ...]:
        """Take out the records that are not wanted any more, and nothing else: what cannot be read stays as it is.

        Returns what was taken out; `rehearse` only looks.
        """
        if rehearse:
            return tuple(record for record in self.read().records if unwanted(record))
        with self._locked():
            kept, dropped = [], []
            for line in self._data().split(b"\n"):
                record = self._record(line) if line.strip() else None
                if record is None or isinstance(record, str) or not unwanted(record):
                    kept.append(line)
                else:
                    dropped.append(record)
            if dropped:
                files.replace(self.path, b"\n".join(kept), durable=True)
        return tuple(dropped)

    def _locked(self) -> FileLock:
        self._state.refuse_links()
        for directory in (self._state.path.parent, self._state.path):
            files.make_directory(directory)
        if not (self._state.path / ".gitignore").exists():
            with FileLock(self._state.registry_lock, timeout=_LOCK_SECONDS, what="the registry"):
                self._state.keep_out_of_git()
        return FileLock(self.lock, timeout=_LOCK_SECONDS, what=self.path.name)

    def _data(self) -> bytes:
        self._state.refuse_links()
        try:
            return files.read(self.path, FILE_LIMIT)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise Damaged(
                f"{self.path} cannot be read: {error.strerror}", hint=f"look at it: ls -l {self.path}"
            ) from error

    def _found(self, data: bytes) -> Found[R]:
        records, damage, unknown = [], [], 0
        for number, line in enumerate(data.split(b"\n"), start=1):
            if not line.strip():
                continue
            record = self._record(line)
            if record is None:
                unknown += 1
            elif isinstance(record, str):
                damage.append(Damage(number, record))
            else:
                records.append(record)
        return Found(tuple(records), tuple(damage), unknown)

    def _record(self, line: bytes) -> R | str | None:
        """The record, what is wrong with the line, or nothing if it is of a type that is not known here."""
        if len(line) > LINE_LIMIT:
            return f"{len(line)} bytes; more than {LINE_LIMIT} in one line is not believed"
        try:
            kind = self._kinds.get(msgspec.json.decode(line, type=_Tagged).type)
            return None if kind is None else cast("R", wire.decode(kind, line))
        except wire.UNREADABLE as error:
            return f"not readable: {error}"

    def _line(self, record: R) -> bytes:
        try:
            line = wire.encode(record)
        except (*wire.UNREADABLE, UnicodeEncodeError, TypeError) as error:
            raise StoreFailed(f"this cannot be written to {self.path}: {error}") from error
        problem = self._record(line)
        if isinstance(problem, str):
            raise StoreFailed(f"this cannot be written to {self.path}: it would be {problem}")
        return line + b"\n"

    def _append(self, data: bytes) -> None:
        """In one write; if that fails, nothing of it is left."""
        new = not self.path.exists()
        with files.explained(self.path):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            fd = os.open(self.path, flags, 0o644)
            try:
                found = os.fstat(fd)
                if not stat.S_ISREG(found.st_mode):
                    raise Damaged(f"{self.path} is not a regular file")
                try:
                    files.write_all(fd, data)
                    os.fsync(fd)
                except BaseException:
                    with contextlib.suppress(OSError):
                        os.ftruncate(fd, found.st_size)
                    raise
            finally:
                os.close(fd)
        if new:
            files.sync_directory(self.path.parent)


def _after(data: bytes, lines: bytes) -> bytes:
    """Lines to come after these: a line that was never finished is ended first."""
    return lines if data.endswith(b"\n") or not data or not lines else b"\n" + lines
