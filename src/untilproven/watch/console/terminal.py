"""A terminal that is written to without ever waiting for it: it may be held up, closed or gone."""

import contextlib
import os
import select
import time
from typing import TextIO

_PATIENCE = 0.5


class Terminal:
    """Takes what it can at once and keeps the rest. `gone` once nobody can be behind it any more."""

    def __init__(self, stream: TextIO) -> None:
        self._fd = -1
        self._pending = b""
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self.gone = False
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
        try:
            # Opened anew, so that not waiting is our own affair and not that of everybody who shares the stream.
            path = os.ttyname(stream.fileno())
            self._fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        except (OSError, ValueError):
            self.gone = True

    @property
    def utf8(self) -> bool:
        return self._encoding.lower().replace("-", "").startswith("utf")

    @property
    def busy(self) -> bool:
        """Whether it still has to take what it was given before."""
        self._push()
        return bool(self._pending)

    def size(self) -> tuple[int, int]:
        """Columns and rows, as they are now."""
        try:
            columns, rows = os.get_terminal_size(self._fd)
        except (OSError, ValueError):
            return 80, 24
        return columns or 80, rows or 24

    def send(self, text: str) -> None:
        if not self.gone:
            self._pending += text.encode(self._encoding, "replace")
            self._push()

    def close(self) -> None:
        """Give it a moment to take the rest; closing twice is fine."""
        deadline = time.monotonic() + _PATIENCE
        while self.busy and not self.gone and time.monotonic() < deadline:
            with contextlib.suppress(OSError, ValueError):
                select.select([], [self._fd], [], 0.05)
        self._leave()

    def _push(self) -> None:
        while self._pending and not self.gone:
            try:
                self._pending = self._pending[os.write(self._fd, self._pending) :]
            except BlockingIOError:
                return
            except OSError:
                self._leave()

    def _leave(self) -> None:
        self.gone, self._pending = True, b""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = -1
