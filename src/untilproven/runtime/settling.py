"""What an iteration comes to: scored, estimated, and recorded so that it survives."""

from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec.structs import replace

from untilproven.core.decide import remaining
from untilproven.core.estimate import WINDOW, Point, estimated_completion, point
from untilproven.core.stuck import Verdict
from untilproven.model import events
from untilproven.model.hooks import Anomaly
from untilproven.runtime.scoring import scored
from untilproven.store import clock
from untilproven.store.checkpoints import is_missing, write_checkpoint

if TYPE_CHECKING:
    from untilproven.runtime.driver import Driver


class Settling:
    def __init__(self, driver: "Driver") -> None:
        self._driver = driver
        self._reported: Verdict | None = None
        self._points: tuple[Point, ...] = ()

    def make_good(self) -> None:
        """Write the checkpoint that is due; after a kill, one that it came before."""
        if is_missing(self._driver.state):
            write_checkpoint(self._driver.writer)

    def settle(self, happened: tuple[events.Event, ...]) -> None:
        """The step that must survive: from here on the iteration counts, and a kill only delays what follows."""
        driver = self._driver
        happened = tuple(one for event in happened for one in self._told(event))
        counted = any(isinstance(event, events.IterationFinished) and event.counted for event in happened)
        driver.writer.record(*happened)
        if counted:
            self.make_good()
        driver.tell()
        for event in happened:
            if isinstance(event, events.IterationFinished):
                driver.cast.hooks.on_iteration_end(driver.hooks_task, event.iteration, event.result)
        driver.recover(happened)
        self._look_for_anomalies()

    def _told(self, event: events.Event) -> tuple[events.Event, ...]:
        """An iteration's end, with all that is known of it by then."""
        return scored(self._driver, self._estimated(event)) if isinstance(event, events.IterationFinished) else (event,)

    def _estimated(self, event: events.IterationFinished) -> events.IterationFinished:
        """When the work may be done, if the last iterations let anybody tell."""
        lap = self._driver.course.lap
        if lap is None:
            return event
        now, left = clock.now(), remaining(self._driver.state)
        reached = point(event.iteration, now, lap.checks.values())
        self._points = (*self._points, *([reached] if reached else []))[-WINDOW:]
        latest = now + timedelta(seconds=left.seconds) if left.seconds is not None else None
        when = estimated_completion(self._points, now, iterations_left=left.iterations, latest=latest)
        return replace(event, estimated_completion=when) if when else event

    def _look_for_anomalies(self) -> None:
        """A loop that gets nowhere is reported when it is first seen, and again if it comes back to it."""
        stuck, driver = self._driver.course.stuck, self._driver
        if stuck and stuck is not self._reported:
            words = f"the loop is stuck: {stuck.value}"
            driver.cast.hooks.on_anomaly(Anomaly(kind=stuck.value, message=words, iteration=driver.state.iteration))
        self._reported = stuck
