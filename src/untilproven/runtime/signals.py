"""What the user's keyboard and the system ask of a runner: Ctrl-C once, Ctrl-C twice, terminate, hang up."""

import contextlib
import os
import signal
from types import FrameType, TracebackType
from typing import Literal, Self

Wish = Literal["none", "finish", "now"]

_HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PIPEFUL = 4096


class Interrupts:
    """Turns signals into wishes while it is open, and puts back what was there before.

    The first Ctrl-C wishes to finish the iteration and pause; a second one, or SIGTERM, to stop now. A terminal that
    hangs up is only noted. Signals that were ignored, as `nohup` and a background job have it, stay ignored.
    """

    def __init__(self) -> None:
        self.fd = -1
        """Can be read when a signal has come; -1 where none can be heard."""
        self.problem = ""
        """Why no signal can be heard: only the main thread of a program hears them."""
        self.hung_up = False
        self._interrupted = 0
        self._terminated = False
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as undo:
            try:
                self._install(undo)
            except ValueError as error:
                self.problem = f"signals are not heard: {error}"
            else:
                self._open = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.drain()
        self.fd = -1
        self._open.close()

    def drain(self) -> None:
        """Take note of the signals that have come. Each is one byte, so none is lost while we were busy."""
        if self.fd < 0:
            return
        with contextlib.suppress(BlockingIOError):
            while numbers := os.read(self.fd, _PIPEFUL):
                self._interrupted += numbers.count(signal.SIGINT)
                self._terminated = self._terminated or signal.SIGTERM in numbers
                self.hung_up = self.hung_up or signal.SIGHUP in numbers

    def wish(self) -> Wish:
        self.drain()
        if self._terminated or self._interrupted > 1:
            return "now"
        return "finish" if self._interrupted else "none"

    @property
    def exit_code(self) -> int:
        """What a program says that ended because of a signal; 0 if none asked it to."""
        self.drain()
        if self._terminated:
            return 128 + signal.SIGTERM
        return 128 + signal.SIGINT if self._interrupted else 0

    def _install(self, undo: contextlib.ExitStack) -> None:
        ours, theirs = os.pipe()
        undo.callback(os.close, ours)
        undo.callback(os.close, theirs)
        for fd in (ours, theirs):
            os.set_blocking(fd, False)
        undo.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(theirs, warn_on_full_buffer=False))
        for number in _HEARD:
            before = signal.getsignal(number)
            if before not in {signal.SIG_IGN, None}:  # None was not set from Python, and could not be put back
                undo.callback(signal.signal, number, before)
                signal.signal(number, _noted)
        self.fd = ours


def _noted(_number: int, _frame: FrameType | None) -> None:
    """The interpreter has written the signal's number to the pipe; without a handler it would not."""
