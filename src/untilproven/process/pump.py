"""Moving bytes to and from a program, none of it waiting for the other."""

import os
import select
import time
from collections.abc import Callable

from untilproven.model.program import Speech, Stream
from untilproven.process.launch import Running

Output = Callable[[Stream, bytes], None]

_CHUNK = 65536
_LEFT_IN_A_PIPE = 4 * 1024 * 1024
"""More than a pipe holds. Somebody outside may have got hold of its end and go on writing for ever."""


class Pump:
    def __init__(
        self, running: Running, stdin: bytes | Speech, output: Output, limit: int | None, poll: select.poll
    ) -> None:
        self._running = running
        self._speech = stdin if isinstance(stdin, Speech) else _said_at_once(stdin)
        self._is_writing = False
        self._output = output
        self._left = float("inf") if limit is None else limit
        self._poll = poll
        self._streams: dict[int, Stream] = {running.stdout: "stdout"}
        if running.stderr >= 0:
            self._streams[running.stderr] = "stderr"
        for fd in self._streams:
            poll.register(fd, select.POLLIN)
        self.last_output = running.began
        self.over_limit = False
        self.patience_is_over = float("inf")
        """When a program to which all was said should have ended."""

    def prepare(self) -> None:
        """Before each wait: what is to be said may have come since."""
        speech, stdin = self._speech, self._running.stdin
        if speech.is_over and speech.patience is not None and self.patience_is_over == float("inf"):
            self.patience_is_over = time.monotonic() + speech.patience
        if stdin < 0:
            speech.unheard.clear()
        elif bool(speech.unheard or speech.is_over) != self._is_writing:
            self._is_writing = not self._is_writing
            if self._is_writing:
                self._poll.register(stdin, select.POLLOUT)
            else:
                self._poll.unregister(stdin)

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
        stdin, unheard = self._running.stdin, self._speech.unheard
        try:
            while unheard:
                del unheard[: os.write(stdin, unheard[:_CHUNK])]
            wants_more = not self._speech.is_over
        except BlockingIOError:
            return
        except BrokenPipeError:
            wants_more = False
        if not wants_more:
            self._poll.unregister(stdin)
            self._running.close_stdin()


def _said_at_once(words: bytes) -> Speech:
    speech = Speech()
    speech.say(words)
    speech.end()
    return speech
