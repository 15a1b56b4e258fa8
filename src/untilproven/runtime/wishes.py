"""What anybody wants of the running loop: at this terminal, by signal, or from another one."""

from untilproven.core.decide import Wish
from untilproven.runtime.control.server import Bell
from untilproven.runtime.signals import Interrupts

_NONE = Wish()


class Wishes:
    """Abort wins over pause, and now over later."""

    def __init__(self, bell: Bell, interrupts: Interrupts) -> None:
        self._bell, self._interrupts = bell, interrupts

    @property
    def fds(self) -> tuple[int, ...]:
        """What becomes readable when there is something new."""
        return tuple(fd for fd in (self._bell.fd, self._interrupts.fd) if fd >= 0)

    def current(self) -> Wish:
        self._bell.answer()
        signal = self._interrupts.wish()
        request = self._bell.wanted()
        if request and request.do == "abort":
            return Wish(do="abort", now=True)
        if signal == "now" or (request and request.now):
            return Wish(do="pause", now=True)
        return Wish(do="pause") if signal == "finish" or request else _NONE

    def granted(self) -> None:
        """What was asked for has been done, or can be done no more."""
        while request := self._bell.wanted():
            self._bell.done(request)
            if self._bell.problem:
                return

    @property
    def exit_code(self) -> int:
        """130 or 143 if a signal ended the run, else 0."""
        return self._interrupts.exit_code
