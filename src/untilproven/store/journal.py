"""The truth about a loop: one JSON object a line, appended, made durable, never rewritten."""

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from untilproven.errors import StoreFailed
from untilproven.model import events, wire
from untilproven.store import files

LINE_LIMIT = 32 * files.MIB

_headers = msgspec.json.Decoder(events.Header)
_bodies: msgspec.json.Decoder[events.Event] = msgspec.json.Decoder(events.Event)
_encoder = msgspec.json.Encoder()


class Damage(msgspec.Struct, frozen=True):
    """Something in a journal that could not be used, and where."""

    where: str
    reason: str


class Torn(msgspec.Struct, frozen=True):
    """A last line that was never finished: nobody was told it was there."""

    offset: int
    data: bytes


def header_of(loop_id: str, seq: int, ts: datetime, event: events.Event) -> events.Header:
    tag = str(type(event).__struct_config__.tag)
    return events.Header(v=events.EVENT_VERSION, ts=ts, loop_id=loop_id, seq=seq, type=tag)


def encode(entry: events.Entry) -> bytes:
    """One line: the header's fields, then the event's own."""
    header, body = _encoder.encode(entry.header), _encoder.encode(entry.event)
    # Both begin with the type; the event's comes second and is cut off.
    tag = _encoder.encode(entry.header.type)
    rest = body[len(b'{"type":') + len(tag) : -1]
    return header[:-1] + rest + b"}\n"


def _readable(entry: events.Entry) -> bytes:
    """The line of an entry, if it can be read back: an acknowledged line must be."""
    try:
        line = encode(entry)
        decode(line)
    except (*wire.UNREADABLE, UnicodeEncodeError) as error:
        raise StoreFailed(f"{entry.header.type} cannot be recorded: {error}") from error
    if len(line) > LINE_LIMIT:
        raise StoreFailed(f"{entry.header.type} is larger than {LINE_LIMIT} bytes and was not recorded")
    return line


def decode(line: bytes) -> events.Entry:
    """Read one line; raises one of wire.UNREADABLE. A type that is not known keeps its header only."""
    header = _headers.decode(line)
    return events.Entry(header, _bodies.decode(line) if header.type in events.KNOWN_TYPES else None)


def scan(path: Path, loop_id: str) -> Iterator[events.Entry | Damage | Torn]:
    """Everything in a journal, in order; what cannot be read is reported where it stands, and the rest goes on."""
    number, offset, expected = 0, 0, 1
    with files.open_regular(path) as file:
        while line := file.readline(LINE_LIMIT):
            number += 1
            where = f"line {number}"
            if not line.endswith(b"\n"):
                if len(line) < LINE_LIMIT:
                    yield Torn(offset, line)
                    return
                size = len(line) + _skip_line(file)
                offset += size
                yield Damage(where, f"{size} bytes in one line; more than {LINE_LIMIT} is not believed")
                continue
            offset += len(line)
            try:
                entry = decode(line)
            except wire.UNREADABLE as error:
                yield Damage(where, f"not readable: {error}")
                continue
            if entry.header.loop_id != loop_id:
                yield Damage(where, f"belongs to {entry.header.loop_id}")
            elif entry.header.seq < expected:
                yield Damage(where, f"seq {entry.header.seq} comes again")
            else:
                if entry.header.seq > expected:
                    yield Damage(where, f"seq {expected} to {entry.header.seq - 1} missing before it")
                expected = entry.header.seq + 1
                yield entry


def _skip_line(file: BinaryIO) -> int:
    skipped = 0
    while part := file.readline(files.MIB):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


class JournalWriter:
    """Appends to one journal. Its user holds the loop's lock."""

    def __init__(self, path: Path, loop_id: str, *, seq: int) -> None:
        self.path = path
        self.loop_id = loop_id
        self.seq = seq
        with files.explained(path):
            self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        info = os.fstat(self._fd)
        self._file = info
        self._size = info.st_size
        self._spoilt = ""
        self._closed = False

    def entries(self, ts: datetime, *happened: events.Event) -> list[events.Entry]:
        """The lines that these events would become."""
        return [
            events.Entry(header_of(self.loop_id, self.seq + place, ts, event), event)
            for place, event in enumerate(happened, start=1)
        ]

    def append(self, entries: Sequence[events.Entry], *, durable: bool) -> None:
        """Write whole lines; on return they are there, and with `durable` they survive a power cut.

        If that fails, nothing of them is left in the file.
        """
        data = b"".join(_readable(entry) for entry in entries)
        if self._spoilt:
            raise StoreFailed(self._spoilt)
        with files.explained(self.path):
            self._still_there()
            try:
                files.write_all(self._fd, data)
                if durable:
                    os.fdatasync(self._fd)
            except BaseException:  # also Ctrl-C: nobody was told that it is there, so it must not be
                self._undo()
                raise
        self._size += len(data)
        self.seq += len(entries)

    def truncate(self, size: int) -> None:
        """Cut off a line that was never finished."""
        with files.explained(self.path):
            os.ftruncate(self._fd, size)
            os.fsync(self._fd)
        self._size = size

    def close(self) -> None:
        """Let go of the file; closing twice is fine, writing afterwards is refused."""
        if not self._closed:
            self._closed = True
            self._spoilt = f"{self.path} is closed"
            os.close(self._fd)

    def _still_there(self) -> None:
        """A line written to a file that nobody can find again would be lost."""
        found = self.path.lstat()
        if not os.path.samestat(found, self._file):
            self._spoilt = f"{self.path} was replaced while it was being written"
            raise StoreFailed(self._spoilt, hint="another program moved or restored the state directory")
        if found.st_size != self._size:
            self._spoilt = f"{self.path} was changed by another program while the loop ran"
            raise StoreFailed(self._spoilt, hint="an agent without a room can do that; what it has is kept as it is")

    def _undo(self) -> None:
        try:
            os.ftruncate(self._fd, self._size)
        except OSError as error:
            self._spoilt = f"{self.path} could not be brought back to its last whole line: {error}"
