"""Signs of life: a beat every 60 s while an agent works, and a look at the neighbours every 5 minutes."""

from time import monotonic

from untilproven.model.registry import HEARTBEAT_SECONDS, STALE_CHECK_SECONDS
from untilproven.store import clock
from untilproven.store.survey import check_stale_loops
from untilproven.store.writer import LoopWriter


class Heartbeat:
    """Whoever drives a loop calls `tick` often; it acts only when the time has come.

    It counts monotonic seconds, so setting the clock neither stops nor hurries it.
    """

    def __init__(self, writer: LoopWriter, *, started: float | None = None, time: clock.Clock = clock.now) -> None:
        self._writer = writer
        self._time = time
        begun = monotonic() if started is None else started
        self._next_beat = begun + HEARTBEAT_SECONDS
        self._next_look = begun + STALE_CHECK_SECONDS

    def tick(self, at: float | None = None) -> None:
        now = monotonic() if at is None else at
        if now >= self._next_beat:
            self._next_beat = now + HEARTBEAT_SECONDS
            self._writer.update_heartbeat()
        if now >= self._next_look:
            self._next_look = now + STALE_CHECK_SECONDS
            check_stale_loops(self._writer.directory, time=self._time)
