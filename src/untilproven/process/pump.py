"""Moving bytes to and from a program, none of it waiting for the other."""

import os
import select
import time
from collections.abc import Callable

from untilproven.model.program import Stream
from untilproven.process.launch import Running

Output = Callable[[Stream, bytes], None]

_CHUNK = 65536
_LEFT_IN_A_PIPE = 4 * 1024 * 1024
"""More than a pipe holds. Somebody outside may have got hold of its end and go on writing for ever."""


class Pump:
    def __init__(self, running: Running, stdin: bytes, output: Output, limit: int | None, poll: select.poll) -> None:
        self._running = running
        self._unwritten = memoryview(stdin)
        self._output = output
        self._left = float("inf") if limit is None else limit
        self._poll = poll
        self._streams: dict[int, Stream] = {running.stdout: "stdout"}
        if running.stderr >= 0:
            self._streams[running.stderr] = "stderr"
        for fd in self._streams:
            poll.register(fd, select.POLLIN)
        if running.stdin >= 0:
            poll.register(running.stdin, select.POLLOUT)
        self.last_output = running.began
        self.over_limit = False

    def serve(self, ready: set[int]) -> None:
        for fd in ready & self._streams.keys():
            self._read(fd)
        if self._running.stdin in ready:
            self._write()

    def drain(self) -> None:
        """What is still in the pipes after all is over."""
        for fd in list(self._streams):
            left = _LEFT_IN_A_PIPE
            while left > 0 and (size := self._read(fd)):
                left -= size

    def _read(self, fd: int) -> int:
        try:
            chunk = os.read(fd, _CHUNK)
        except BlockingIOError:
            return 0
        if not chunk:
            self._poll.unregister(fd)
            del self._streams[fd]
            return 0
        self.over_limit = self.over_limit or len(chunk) > self._left
        delivered = chunk if len(chunk) <= self._left else chunk[: int(self._left)]
        self._left -= len(delivered)
        if delivered:
            self._output(self._streams[fd], delivered)
        self.last_output = time.monotonic()  # however long somebody took to look at it
        return len(chunk)

    def _write(self) -> None:
        """As much of stdin as the program takes now; one that has closed it wants no more."""
        stdin = self._running.stdin
        try:
            while self._unwritten:
                self._unwritten = self._unwritten[os.write(stdin, self._unwritten[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unwritten = memoryview(b"")
        self._poll.unregister(stdin)
        self._running.close_stdin()
