"""The whole lines of a file that grows, whoever writes it and whatever becomes of it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from untilproven.errors import Damaged
from untilproven.store import files
from untilproven.store.journal import LINE_LIMIT


class Tail:
    """Remembers how far it has read. A line that is not finished waits; one that is too long is passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._offset = 0
        self._skipping = False

    def lines(self) -> Iterator[bytes]:
        """What was added since the last call. A file that took this one's name is read from its beginning."""
        while self._file or self._open():
            yield from self._read()
            if not self._replaced():
                return
            self.close()

    def close(self) -> None:
        if self._file:
            self._file.close()
        self._file, self._offset, self._skipping = None, 0, False

    def _open(self) -> bool:
        files.refuse_link(self._path.parent)
        try:
            self._file = files.open_regular(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise Damaged(f"{self._path} cannot be read: {error.strerror}") from error
        return True

    def _read(self) -> Iterator[bytes]:
        file = self._file
        if file is None:
            return
        size = os.fstat(file.fileno()).st_size
        if size == self._offset:
            return
        self._offset = self._offset if size > self._offset else 0
        file.seek(self._offset)
        while line := file.readline(LINE_LIMIT):
            whole = line.endswith(b"\n")
            if not whole and len(line) < LINE_LIMIT:
                return
            self._offset += len(line)
            if whole and not self._skipping:
                yield line
            self._skipping = not whole

    def _replaced(self) -> bool:
        """Whether another file has this name now; if none has it, this one is still the right one."""
        if self._file is None:
            return False
        try:
            return not os.path.samestat(self._path.lstat(), os.fstat(self._file.fileno()))
        except OSError:
            return False
