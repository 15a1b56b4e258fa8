"""The events that can be told without knowing what came before them."""

from typing import Any

from untilproven.core.text import printable
from untilproven.model import events
from untilproven.model.persistence import ProtocolSteps, RecoveryAttempt, RetryOutcome
from untilproven.watch.color import CYAN, DIM, GREEN, RED, YELLOW
from untilproven.watch.console import words
from untilproven.watch.console.lines import Line, Piece, line, one_line

_LINES_SHOWN = 200


def by_agent(event: events.AgentEvent, *, verbose: bool) -> list[Line]:
    """What an agent did or said; its words only if everything is wanted."""
    text = event.text or ""
    match event.kind:
        case "action":
            kind, target = action(event)
            return [line(Piece(f"  {kind:<5} ", CYAN), target)]
        case "error":
            return [line(Piece("  agent error: ", RED), one_line(text) or "(no words)")]
        case "limit":
            return [line(Piece("  provider's limit: ", YELLOW), one_line(text) or "reached")]
        case "text" if verbose:
            said = [one_line(part) for part in printable(text).splitlines()]
            more = [line(Piece(f"  | ... and {len(said) - _LINES_SHOWN} more lines", DIM))]
            return [line(Piece("  | ", DIM), part) for part in said[:_LINES_SHOWN] if part] + (
                more if len(said) > _LINES_SHOWN else []
            )
    return []


def action(event: events.AgentEvent) -> tuple[str, str]:
    """Its kind and what it was done to, as the adapter reports it."""
    data: dict[str, Any] = event.data or {}
    kind, target = one_line(str(data.get("kind") or "did")), one_line(str(data.get("target") or event.text or ""))
    return kind, target


def about(event: events.Event, *, verbose: bool) -> list[Line]:
    match event:
        case events.LoopStarted():
            task = event.state.get("task")
            return [line("started: ", one_line(task) if isinstance(task, str) else "(no task)")]
        case events.LoopAdopted():
            lost = event.discarded_iteration
            gone = f"; iteration {lost} was not finished and is discarded" if lost else ""
            return [line(Piece("taken over", YELLOW), f" by process {event.process.pid}{gone}")]
        case events.GateOpened():
            return [line(Piece("gate: ", YELLOW), one_line(event.message), loud=True)]
        case events.GateDecided():
            why = f": {one_line(event.why)}" if event.why else ""
            return [line(f"decided by {event.by}: {event.decision}{why}")]
        case events.JournalRepaired():
            dropped = words.plural(event.dropped_bytes, "byte")
            return [line(Piece(f"the journal was repaired: {dropped} of an unfinished line dropped", YELLOW))]
        case events.LoopContinued():
            return [line(f"goes on as {event.resumed_as}")]
        case events.StateUpdated() if "allowance" in event.set:
            return [line("the limits were changed")]
    return _about_the_tree(event) or (_details(event) if verbose else [])


def _recovery(attempt: RecoveryAttempt) -> list[Line]:
    """What was made of it, and whether that helped; that somebody is asked is said by the gate."""
    steps = attempt.protocol_steps or ProtocolSteps()
    if not attempt.outcome and steps.diagnose:
        return [line(Piece(f"  recovery: {one_line(steps.diagnose.root_cause or '')}; the agent is told", DIM))]
    if steps.retry:
        helped = "helped" if steps.retry.outcome == RetryOutcome.SUCCESS else "did not help"
        return [line(Piece(f"  recovery: telling the agent {helped}", DIM))]
    return []


def _about_the_tree(event: events.Event) -> list[Line]:
    match event:
        case events.TreeRestored():
            return [line(f"the tree is again what it was after iteration {event.iteration}", loud=True)]
        case events.TreeChanged():
            return [line(Piece("you changed the tree after it was checked: ", YELLOW), "the checks are run again")]
        case events.WorkCommitted():
            return _committed(event)
    return []


def _committed(event: events.WorkCommitted) -> list[Line]:
    where = f" on {one_line(event.branch)}" if event.branch else ""
    ignored = f"; {words.plural(event.ignored, 'ignored file')} left out" if event.ignored else ""
    if event.commit:
        done = f"{event.commit[:12]}{where}, {words.plural(event.paths, 'file')}{ignored}"
        lines = [line(Piece("committed ", GREEN), done, loud=True)]
    else:
        lines = [line(Piece("nothing to commit", YELLOW), ignored, loud=True)]
    for one in event.left_out:
        lines.append(line(Piece("  not committed: ", YELLOW), f"{one_line(one.path)}: {one_line(one.why)}", loud=True))
    return lines


def _details(event: events.Event) -> list[Line]:
    """What only somebody who asked for everything wants to see."""
    match event:
        case events.RecoveryStep():
            return _recovery(event.attempt)
        case events.BaselineCaptured():
            return [line(Piece(f"  baseline: {words.plural(event.baseline.test_count, 'test')}", DIM))]
        case events.QualityScored():
            return [line(Piece(f"  quality: {event.score:g}", DIM))]
        case events.ReinforcementChanged():
            return [line(Piece(f"  reinforcement is now {event.to_level}: {one_line(event.reason)}", DIM))]
        case events.CheckpointWritten():
            return [line(Piece(f"  checkpoint: {one_line(event.path)}", DIM))]
    return []
