"""How a loop ended or why it waits, and what to type next."""

from msgspec import UNSET

from untilproven.core.decide import bounds, spent
from untilproven.core.limits import reached
from untilproven.model.events import LoopFinished, StatusChanged
from untilproven.model.fields import PauseReason
from untilproven.model.receipt import PROVEN
from untilproven.model.state import LoopMetrics, LoopState
from untilproven.model.status import CONTINUABLE, Status
from untilproven.store.layout import STATE_DIRECTORY
from untilproven.watch.color import BOLD, DIM, GREEN, RED, YELLOW
from untilproven.watch.console import words
from untilproven.watch.console.lines import Line, Piece, line, one_line

_WHY = {
    PauseReason.USER: "you asked for it",
    PauseReason.GATE: "it waits for a decision",
    PauseReason.USAGE_LIMIT: "the provider does not let the agent go on",
    PauseReason.BROKEN_CHECK: "a check cannot be run",
    PauseReason.BLOCKED: "it cannot go on without you",
}
_RAISE = {
    "iterations": "--max-iterations N",
    "time": "--timeout DURATION",
    "cost": "--max-cost USD",
    "tokens": "--max-tokens N",
}
_FIRST = {
    PauseReason.BROKEN_CHECK: "repair the check, then: ",
    PauseReason.BLOCKED: "see to it, then: ",
}


def paused(event: StatusChanged, loop_id: str) -> list[Line]:
    why = _WHY[event.pause_reason] if event.pause_reason else ""
    reason = one_line(event.reason or "")
    lines = [line(Piece("paused", YELLOW), why and f": {why}", loud=True)]
    if reason and reason != why and event.pause_reason is not PauseReason.GATE:  # a gate has said why it is there
        lines.append(line(f"  {reason}", loud=True))
    if event.resume_at:
        lines.append(line(f"  it can go on at {event.resume_at.astimezone():%Y-%m-%d %H:%M}", loud=True))
    if event.pause_reason is PauseReason.GATE:
        return [*lines, line(Piece("  decide: ", DIM), f"ralph gate show {loop_id}", loud=True)]
    first = _FIRST.get(event.pause_reason, "to go on: ") if event.pause_reason else "to go on: "
    lines.append(line(Piece(f"  {first}", DIM), f"ralph resume {loop_id}", loud=True))
    return lines


def told(event: LoopFinished, state: LoopState) -> list[Line]:
    """The last lines of a loop: what it came to, what it took, where the record is."""
    loop_id = state.loop_id
    completed = event.status is Status.COMPLETED
    proof = words.proven(event.proof)
    color = RED if not completed else GREEN if event.proof in PROVEN else YELLOW
    verdict = Piece(f"{event.status}, {proof}" if proof else str(event.status), color)
    lines = [line(verdict, _took(event, state), loud=True)]
    if event.reason:
        lines.append(line(f"  {one_line(event.reason)}", loud=True))
    if event.undelivered:
        missing = Piece("  its work is not in your tree; to bring it: ", YELLOW)
        lines.append(line(missing, f"ralph restore {loop_id} end", loud=True))
    if event.best_iteration:
        lines.append(line(f"  best: iteration {event.best_iteration}", loud=True))
    lines.append(line(Piece("  receipt: ", DIM), f"{STATE_DIRECTORY}/loops/{loop_id}/receipt.json", loud=True))
    lines.append(line(Piece("  look:    ", DIM), Piece(f"ralph show {loop_id}", BOLD), loud=True))
    if event.status in CONTINUABLE:
        lines.append(line(Piece("  go on:   ", DIM), f"ralph resume {loop_id}{_raised(state)}", loud=True))
    return lines


def _raised(state: LoopState) -> str:
    """The option without which it would end again at once."""
    if not state.allowance:
        return ""
    stop = reached(bounds(state.allowance), spent(state))
    return f" {_RAISE[stop.limit]}" if stop else ""


def _took(event: LoopFinished, state: LoopState) -> str:
    metrics = state.metrics or LoopMetrics()
    seconds = metrics.active_seconds if metrics.active_seconds is not UNSET else metrics.total_duration_seconds
    parts = [f" after {words.plural(event.iterations, 'iteration')}"]
    parts += [words.duration(seconds)] if seconds else []
    return ", ".join([*parts, words.spent(metrics)])
