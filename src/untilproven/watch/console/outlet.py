"""Writing to somebody who may have gone: the console goes quiet, and the loop goes on."""

import contextlib
import select
from typing import TextIO

from untilproven.store.files import write_all


class Outlet:
    """A stream that never raises. Nothing stays in its buffer to be complained about later."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self._fd: int | None = None
        self.gone = False
        with contextlib.suppress(OSError, ValueError):
            self._fd = stream.fileno()

    def write(self, text: str) -> None:
        """Hand the text over, as far as it can be written in the stream's encoding."""
        if self.gone or not text:
            return
        data = text.encode(self._encoding, "replace")
        try:
            self._stream.flush()
            if self._fd is None:
                self._stream.write(data.decode(self._encoding))
            else:
                _patiently(self._fd, data)
        except (OSError, ValueError):
            self.gone = True


def _patiently(fd: int, data: bytes) -> None:
    """Somebody else may have made the stream one that does not wait."""
    for start in range(0, len(data), select.PIPE_BUF):
        while True:
            try:
                write_all(fd, data[start : start + select.PIPE_BUF])
                break
            except BlockingIOError:  # so small a piece is written whole or not at all
                select.select([], [fd], [])
