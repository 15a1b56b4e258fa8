"""Keeping what a program printed: its head and its tail, and how much is missing between them."""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

from untilproven.process.lines import decoded
from untilproven.store.files import MIB, explained, write_all

SPOOL_CAP = 8 * MIB
EXCERPT_CAP = 256 * 1024
_COPY = 64 * 1024


def note_of_cut(missing: int) -> bytes:
    return f"\n[... {missing} bytes cut ...]\n".encode()


class Spool:
    """A file with the first quarter of the cap and the newest three, and nothing of it in memory.

    Once the cap is reached the tail is a ring in the file: until `finish` puts it in order, a reader sees it turned.
    """

    def __init__(self, path: Path, cap: int = SPOOL_CAP) -> None:
        self._path = path
        self._head = cap // 4
        self._ring = cap - self._head
        self._seen = 0
        with explained(path):
            path.unlink(missing_ok=True)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()

    @property
    def cut(self) -> int:
        """How many bytes are missing in the middle."""
        return max(self._seen - self._head - self._ring, 0)

    def write(self, data: bytes) -> None:
        with explained(self._path):
            while data:
                at = self._place()
                room = (self._head if at < self._head else self._head + self._ring) - at
                os.lseek(self._fd, at, os.SEEK_SET)
                write_all(self._fd, data[:room])
                self._seen += len(data[:room])
                data = data[room:]

    def _place(self) -> int:
        """Where in the file the next byte goes."""
        return self._seen if self._seen < self._head else self._head + (self._seen - self._head) % self._ring

    def finish(self) -> None:
        """Put head, note and tail in order, and close the file."""
        if self._fd < 0:
            return
        try:
            if self.cut:
                with explained(self._path):
                    self._straighten()
        finally:
            os.close(self._fd)
            self._fd = -1

    def _straighten(self) -> None:
        """Into a second file, so that a kill leaves the turned file or the straight one."""
        straight = self._path.with_name(f".{self._path.name}.tmp")
        straight.unlink(missing_ok=True)
        oldest = self._place()
        fd = os.open(straight, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            self._copy(fd, 0, self._head)
            write_all(fd, note_of_cut(self.cut))
            self._copy(fd, oldest, self._head + self._ring)
            self._copy(fd, self._head, oldest)
        finally:
            os.close(fd)
        straight.replace(self._path)

    def _copy(self, to: int, start: int, end: int) -> None:
        while start < end:
            piece = os.pread(self._fd, min(_COPY, end - start), start)
            write_all(to, piece)
            start += len(piece)


class Excerpt:
    """The same in memory, for what is short or is to be shown."""

    def __init__(self, cap: int = EXCERPT_CAP) -> None:
        self._head_size = cap // 4
        self._tail_size = cap - self._head_size
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def write(self, data: bytes) -> None:
        room = self._head_size - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._tail_size:
            self._trim()

    def _trim(self) -> None:
        surplus = max(len(self._tail) - self._tail_size, 0)
        del self._tail[:surplus]
        self._dropped += surplus

    def text(self) -> str:
        self._trim()
        if not self._dropped:
            return decoded(bytes(self._head + self._tail), cut=False)
        tail = bytes(self._tail)
        continued = next((at for at, byte in enumerate(tail[:4]) if byte & 0xC0 != 0x80), 0)
        note = note_of_cut(self._dropped).decode()
        return decoded(bytes(self._head), cut=True) + note + decoded(tail[continued:], cut=False)
