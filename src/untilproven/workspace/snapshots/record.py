"""One record: what an iteration, or going back to one, did to the tree, with the bytes to undo and to repeat it.

Small contents lie in the record itself, so that an ordinary iteration makes one file. What they are stands at the end:
a record that was not written to its end says so.
"""

import contextlib
import os
import re
import stat
import struct
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from untilproven.errors import Damaged
from untilproven.store import files
from untilproven.workspace.entry import Entry
from untilproven.workspace.overlay.plan import Plan
from untilproven.workspace.overlay.upper import Change

KEPT, DISCARDED, RESTORED = "kept", "discarded", "restored"
APPLIED = frozenset({KEPT, RESTORED})
"""What became part of the user's tree."""

_NAME = re.compile(rf"([0-9]{{6,}})-({KEPT}|{DISCARDED}|{RESTORED})-([0-9a-z]+)")
_KINDS = {stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR}
_BEGINNING = b"untilproven snapshot\n"
_END = struct.Struct(">Q8s")
_WHOLE = b"\nwhole.\n"
_LARGEST = 1024 * files.MIB
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Name(NamedTuple):
    """What the name of a record's file says: which one it is, what became of it, and the iteration."""

    number: int
    fate: str
    what: str
    """The iteration, or what was gone back to: an iteration, `start` or `end`."""

    @property
    def is_applied(self) -> bool:
        return self.fate in APPLIED

    def __str__(self) -> str:
        return f"{self.number:06d}-{self.fate}-{self.what}"


def name_of(text: str) -> Name | None:
    found = _NAME.fullmatch(text)
    return Name(int(found[1]), found[2], found[3]) if found else None


class Own(msgspec.Struct, frozen=True, array_like=True):
    """Whose a file is and what else is written on it, where that is out of the ordinary."""

    uid: int
    gid: int
    attributes: dict[str, bytes] = {}


class Version(NamedTuple):
    """A file, link or directory as it was at some time."""

    entry: Entry
    own: Own | None = None


class Record(msgspec.Struct, frozen=True, array_like=True, tag="snapshot-1"):
    """In a file, paths are the bytes they really are."""

    plan: Plan
    refused: tuple[bytes, ...]
    """Paths at which the user's stayed: no change of ours."""
    owned: dict[bytes, tuple[Own | None, Own | None]]
    inline: dict[str, tuple[int, int]]
    """Where contents lie in this file: from which byte on, and how many."""

    def changes(self) -> dict[str, Change]:
        """What it did to the tree, or would have; sockets and pipes do not come back."""
        refused = frozenset(self.refused)
        return {
            os.fsdecode(path): change
            for path, change in self.plan.changes.items()
            if path not in refused and (change.base is None or stat.S_IFMT(change.base.mode) in _KINDS)
        }

    def versions(self, path: str, change: Change) -> tuple[Version | None, Version | None]:
        """Before and after."""
        base, ours = self.owned.get(os.fsencode(path), (None, None))
        return (
            Version(change.base, base) if change.base is not None else None,
            Version(change.ours, ours) if change.ours is not None else None,
        )


class Draft:
    """A record that is being written; nobody sees it before it is whole."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._temporary = directory / ".draft"
        self._parts = [_BEGINNING]
        self._waiting = self._size = len(_BEGINNING)
        self.inline: dict[str, tuple[int, int]] = {}
        with files.explained(self._temporary):
            self._temporary.unlink(missing_ok=True)
            self._fd = os.open(self._temporary, _NEW, 0o600)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()

    def drop(self) -> None:
        """Nothing is left of it, unless it has got its name."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            with contextlib.suppress(OSError):
                self._temporary.unlink()

    def add(self, content: str, data: bytes) -> None:
        if content not in self.inline:
            self.inline[content] = (self._size, len(data))
            self._append(data)

    def finish(self, record: Record, name: Name, *, durable: bool) -> None:
        """From now on it is there."""
        self.complete(record, durable=durable)
        self.publish(name, durable=durable)

    def complete(self, record: Record, *, durable: bool) -> None:
        """All of it is written; it has no name yet."""
        told = msgspec.msgpack.encode(record)
        self._append(told + _END.pack(len(told), _WHOLE))
        with files.explained(self._temporary):
            self._flush()
            if durable:
                os.fsync(self._fd)

    def publish(self, name: Name, *, durable: bool) -> None:
        with files.explained(self._temporary):
            os.close(self._fd)
            self._fd = -1
            self._temporary.rename(self._directory / str(name))
        if durable:
            files.sync_directory(self._directory)

    def _append(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)
        self._waiting += len(data)
        if self._waiting > files.MIB:
            with files.explained(self._temporary):
                self._flush()

    def _flush(self) -> None:
        files.write_all(self._fd, b"".join(self._parts))
        self._parts, self._waiting = [], 0


def load(path: Path) -> Record:
    """A record without its contents; `Damaged` if it is not whole."""
    try:
        with contextlib.closing(files.open_regular(path)) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - _END.size, 0))
            length, mark = _END.unpack(file.read(_END.size))
            if mark != _WHOLE or length > min(size - _END.size, _LARGEST):
                raise Damaged(f"{path} was not written to its end")
            file.seek(size - _END.size - length)
            return msgspec.msgpack.decode(file.read(length), type=Record)
    except (msgspec.MsgspecError, struct.error, OSError) as error:
        raise Damaged(f"{path} is not a snapshot: {error}") from error


def content(path: Path, at: int, length: int) -> bytes:
    """Bytes that lie in a record."""
    with files.explained(path):
        fd = os.open(path, _READ)
        try:
            return os.pread(fd, length, at)
        finally:
            os.close(fd)


def rewrite(path: Path, record: Record) -> None:
    """Put a record in the place of another with the same contents."""
    with Draft(path.parent) as draft:
        for name, (at, length) in sorted(record.inline.items(), key=lambda item: item[1]):
            draft.add(name, content(path, at, length))
        found = name_of(path.name)
        assert found is not None  # noqa: S101  it is one of ours
        draft.finish(msgspec.structs.replace(record, inline=draft.inline), found, durable=True)
