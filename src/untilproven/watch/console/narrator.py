"""The banner, then the story: every line that a person is to see, in order."""

from datetime import datetime

from untilproven.model import events
from untilproven.model.state import LoopState
from untilproven.model.status import Status
from untilproven.watch.console import banner
from untilproven.watch.console.lines import Line
from untilproven.watch.console.story import Story

_BEFORE_THE_BANNER = (
    events.LoopStarted,
    events.LoopAdopted,
    events.BaselineCaptured,
    events.CheckpointWritten,
    events.StateUpdated,
    events.JournalRepaired,
)


class Narrator:
    """Turns entries into lines. `first` shows the banner, which needs the control checks to be in."""

    def __init__(self, *, verbose: bool = False, quiet: bool = False, first: bool = True, dated: bool = False) -> None:
        self._story = Story(verbose=verbose)
        self._quiet = quiet
        self._first = first
        self._clock = "%Y-%m-%d %H:%M:%S " if dated else "%H:%M:%S "
        self._control: dict[str, events.CheckFinished] = {}
        self._held: list[Line] = []
        self._at: datetime | None = None

    def tell(self, entry: events.Entry, state: LoopState) -> list[Line]:
        self._at = entry.header.ts
        if not self._first:
            return self._stamped(self._story.tell(entry, state))
        match entry.event:
            case events.CheckFinished(iteration=0) as check:
                self._control[check.check] = check
                return []
            case events.LoopStarted():
                return []
        lines = self._stamped(self._story.tell(entry, state))
        if _comes_before(entry.event):
            self._held += lines
            return []
        self._first = False
        shown = [] if self._quiet else banner.told(state, self._control)
        return [*shown, *self._held, *lines]

    def rest(self) -> list[Line]:
        """What is still to be said when nothing more comes."""
        return self._stamped(self._story.rest())

    def _stamped(self, lines: list[Line]) -> list[Line]:
        lines = [line for line in lines if line.loud or not self._quiet]
        stamp = f"{self._at.astimezone():{self._clock}}" if self._at and lines else ""
        return [line._replace(stamp=stamp) for line in lines]


def _comes_before(event: events.Event | None) -> bool:
    if isinstance(event, events.StatusChanged):
        return event.to is Status.RUNNING
    return event is None or isinstance(event, _BEFORE_THE_BANNER)
