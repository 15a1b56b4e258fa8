"""What happened, told line by line: the same words for a running loop and for its history."""

from msgspec import UNSET

from untilproven.model import events
from untilproven.model.iteration import Blocked, Complete, Failed, Fate
from untilproven.model.state import LoopState
from untilproven.model.status import TERMINAL, Status
from untilproven.watch.color import BOLD, CYAN, DIM, GREEN, RED, YELLOW
from untilproven.watch.console import ending, said, words
from untilproven.watch.console.lines import Line, Piece, line, one_line

ACTIONS_SHOWN = 20
"""How many actions of one iteration are told one by one, unless everything is wanted."""

_CUT = {
    "wall": "it ran for too long",
    "idle": "it was silent for too long",
    "output": "it printed too much",
    "time": "the loop's time is used up",
    "cost": "the money is used up",
    "tokens": "the tokens are used up",
}


class Story:
    """Tells what each entry means. Some things can only be said once the next entry is known."""

    def __init__(self, *, verbose: bool = False) -> None:
        self.verbose = verbose
        self._discards, self._changed = True, False
        self._actions = 0
        self._claim = ""
        self._against: list[str] = []
        self._ended: Line | None = None

    def tell(self, entry: events.Entry, state: LoopState) -> list[Line]:
        """The lines for this entry, oldest first; most entries have one or none."""
        match entry.event:
            case events.LimitReached() as event:
                return [*self._refused(), line(Piece("limit reached: ", YELLOW), words.limit(event), loud=True)]
            case events.StatusChanged() as event:
                return self._moved(event, state)
            case events.LoopFinished() as event:
                self._ended = None
                return [*self._refused(), *ending.told(event, state)]
            case events.IterationStarted() as event:
                return self._started(event, state)
            case None:
                return []
        return self._worked(entry.event)

    def _worked(self, event: events.Event) -> list[Line]:
        match event:
            case events.AgentEvent():
                return self._agent(event)
            case events.IterationObserved():
                return self._observed(event)
            case events.CheckFinished():
                return self._checked(event)
            case events.GuardFinding():
                return self._found(event)
            case events.IterationFinished():
                return self._finished(event)
        return said.about(event, verbose=self.verbose)

    def rest(self) -> list[Line]:
        """What is still to be said when nothing more comes."""
        left, self._ended = self._ended, None
        return [*self._refused(), *([left] if left else [])]

    def _agent(self, event: events.AgentEvent) -> list[Line]:
        if event.kind == "action":
            self._actions += 1
            if self._actions > ACTIONS_SHOWN and not self.verbose:
                return []
        return said.by_agent(event, verbose=self.verbose)

    def _started(self, event: events.IterationStarted, state: LoopState) -> list[Line]:
        self._discards = not state.plan or state.plan.sandbox != "none"
        lines = self._refused(", continuing")
        self._actions, self._against = 0, []
        return [*lines, line(Piece(f"iteration {event.iteration} of {words.iterations(state)}", BOLD))]

    def _observed(self, event: events.IterationObserved) -> list[Line]:
        lines = []
        self._changed = bool(event.delta)
        hidden = self._actions - ACTIONS_SHOWN
        if hidden > 0 and not self.verbose:
            lines.append(line(Piece(f"  ... and {words.plural(hidden, 'more action', 'more actions')}", DIM)))
        if event.not_started:
            return [*lines, line(Piece("  agent could not be started: ", RED), one_line(event.not_started))]
        how = f" ({one_line(event.ended)})" if event.ended else ""
        after = "" if event.duration_seconds is UNSET else f" after {words.duration(event.duration_seconds)}"
        spent = words.used(event.usage)
        lines.append(
            line(f"  agent ended{how}{after}: {words.changed(event.delta)}", Piece(spent and f"; {spent}", DIM))
        )
        if event.cut:
            lines.append(line(Piece("  agent was stopped: ", YELLOW), _CUT.get(event.cut) or one_line(event.cut)))
        if event.interrupted:
            lines.append(line(Piece("  agent was stopped at once: ", YELLOW), one_line(event.interrupted)))
        if isinstance(event.result, Blocked):
            lines.append(line(Piece("  agent is blocked: ", YELLOW), one_line(event.result.blocker)))
        lines += [line(Piece("  note: ", YELLOW), one_line(note)) for note in event.notes or ()]
        if not event.interrupted:
            self._claim = _claim(event)
            self._against = [] if event.delta else ["nothing was changed"]
        return lines

    def _checked(self, event: events.CheckFinished) -> list[Line]:
        check = words.seen(event)
        if check.color != GREEN and event.iteration:
            self._against.append(check.objection)
        before = "before the work: " if event.iteration == 0 else ""
        found = f": {check.found}" if check.found else ""
        return [line(f"  {before}", Piece(f"{check.verdict:<5} ", check.color), f"{check.name}{found}")]

    def _found(self, event: events.GuardFinding) -> list[Line]:
        finding = event.finding
        what = one_line(finding.message or finding.pattern_name)
        where = f"{one_line(finding.path)}: " if finding.path else ""
        if finding.blocking:
            self._against.append(f"{where}{what}")
        shown = Piece(f"  guard: {finding.severity} ", RED if finding.blocking else YELLOW)
        return [line(shown, f"{where}{what}", " (blocks)" if finding.blocking else "")]

    def _finished(self, event: events.IterationFinished) -> list[Line]:
        counted = "" if event.counted else "; it does not count"
        why = f": the agent failed: {one_line(event.result.error)}" if isinstance(event.result, Failed) else ""
        match event.fate:
            case Fate.DISCARDED:
                if not self._discards:
                    stays = "; what it changed is still there" if self._changed else ""
                    return [line(Piece("  not accepted", YELLOW), f"{why}{counted}{stays}")]
                self._against.append("its changes were discarded")
                return [line(Piece("  discarded", YELLOW), f"{why}{counted}")]
            case Fate.PARKED:
                self._against.append("its changes wait for a decision")
                return [line(Piece("  set aside", YELLOW), f"{why}; a person decides what becomes of it{counted}")]
        return [line("  kept", f"{why}{counted}")] if why or counted else []

    def _moved(self, event: events.StatusChanged, state: LoopState) -> list[Line]:
        reason = one_line(event.reason or "")
        match event.to:
            case Status.COMPLETING:
                self._claim = ""  # it holds; how it was proven is said at the end
            case Status.RUNNING:
                return [line(Piece("goes on", CYAN), reason and f": {reason}")]
            case Status.PAUSED:
                return [*self._refused(), *ending.paused(event, state.loop_id)]
        if event.to in TERMINAL:
            self._ended = line(Piece(str(event.to), RED), reason and f": {reason}", loud=True)
        return []

    def _refused(self, going_on: str = "") -> list[Line]:
        """A claim that did not hold, once it is clear that it did not."""
        claim, self._claim = self._claim, ""
        if not claim:
            return []
        against = "; ".join(dict.fromkeys(self._against)) or "nothing proves it"
        return [line(f"  agent said {claim}; {against}: ", Piece("refused", RED), going_on)]


def _claim(event: events.IterationObserved) -> str:
    if event.claim and event.claim.startswith("<promise>"):
        return one_line(event.claim.removeprefix("<promise>").removesuffix("</promise>"))
    if isinstance(event.result, Complete):
        return "that it is done"
    return one_line(event.claim or "")
