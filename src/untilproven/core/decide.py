"""What happens next: one decision, from what a loop is and how far it has come. No IO, no clock.

Completion comes before limits, so that work proven on the last allowed iteration is a success.
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from untilproven.core import limits, quality, recovery, reinforcement, verdict
from untilproven.core.course import Course, Lap
from untilproven.core.ending import CONSEQUENCES, Consequence, Ending, ending
from untilproven.core.gates import destructive_gate, permission_gate, recovery_gate
from untilproven.model import commands, events
from untilproven.model.commands import Move
from untilproven.model.fields import Decision, PauseReason
from untilproven.model.iteration import Blocked, Continue, Failed, Fate, IterationResult, Usage
from untilproven.model.persistence import TestResults
from untilproven.model.plan import Allowance
from untilproven.model.receipt import PROVEN
from untilproven.model.state import LoopMetrics, LoopState
from untilproven.model.status import TERMINAL, Status

FAILURES = 3
"""How many times in a row an agent may fail before it is called failing."""

LIMITED = 8
"""How many times in a row a provider may not let an agent go on before a human is asked: about two hours, where it
does not say how long."""

INSISTED = 2
"""How many times in a row work may need what was to stay as it was before a human is asked: the agent is told once."""

REFUSED = 3
"""How many times in a row dishonest work is refused and the agent told, before a human is asked."""

UNPROVEN, LIMIT, DISHONEST, AGENT, WAITING = 1, 4, 5, 6, 8


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody asked of the loop while it ran."""

    do: Literal["none", "pause", "abort"] = "none"
    now: bool = False
    """Do not wait for the iteration to end; what it did is thrown away."""


def decide(state: LoopState, course: Course, wish: Wish = Wish()) -> Move:  # noqa: B008  immutable
    """The next step of the loop."""
    move = _decided(state, course, wish)
    return _with_nobody_there(move) if course.plan.task_id else move


def _with_nobody_there(move: Move) -> Move:
    """A queue goes on with its other tasks: what would wait for a human ends the loop. Time is waited for."""
    command = move.command
    if not isinstance(command, commands.Pause) or command.reason is PauseReason.USER or command.again:
        return move
    if command.reason is PauseReason.USAGE_LIMIT and command.resume_at:
        return move
    return failed(f"it waits for a human: {command.words}", WAITING, *move.events)


def _decided(state: LoopState, course: Course, wish: Wish) -> Move:
    if state.status in TERMINAL:
        return Move(commands.Leave(exit_code=0))
    if state.status is Status.PAUSED:
        return _paused(state, wish)
    if state.status is Status.COMPLETING:
        if wish.do == "abort":
            return _aborted(Status.FAILED)
        return Move(commands.Deliver())
    if course.lap is not None:
        return _during(state, course, course.lap, wish)
    return _between(state, course, wish)


def _paused(state: LoopState, wish: Wish) -> Move:
    if wish.do == "none" and state.resume_at:
        return Move(commands.SleepUntil(at=state.resume_at))
    return Move(commands.Leave(exit_code=WAITING))


def _during(state: LoopState, course: Course, lap: Lap, wish: Wish) -> Move:
    """The agent has ended: check what is to be checked, then settle what becomes of its work."""
    consequence = CONSEQUENCES[how_it_ended(lap)]
    left = verdict.wanted(course.plan, lap.checks)
    is_checked = consequence.checked and left and not _stopped(state, course, lap)
    if not lap.judged and _is_to_be_judged(lap):
        return Move(commands.Judge(iteration=lap.number, checks=left if is_checked and not wish.now else ()))
    if not is_checked:
        if consequence.checked and course.plan.measure and not lap.measured and _is_to_be_judged(lap):
            return Move(commands.Measure(iteration=lap.number))
        return _settled(course, lap, consequence)
    if wish.now:
        return _settled(course, lap, CONSEQUENCES[Ending.INTERRUPTED])
    return Move(commands.RunChecks(iteration=lap.number, checks=left))


def _is_to_be_judged(lap: Lap) -> bool:
    """Work that may be kept, if there is any."""
    return bool(lap.observed and lap.observed.delta) and CONSEQUENCES[how_it_ended(lap)].fate is Fate.KEPT


def _stopped(state: LoopState, course: Course, lap: Lap) -> bool:
    """A check that cannot be run says nothing more when it is run again."""
    return verdict.broken(course, lap.checks, state.task or "") is not None


def how_it_ended(lap: Lap) -> Ending:
    seen = lap.observed
    if seen is None:
        return Ending.INTERRUPTED
    return ending(
        seen.result or Continue(reason=""),
        lap.findings,
        interrupted=bool(seen.interrupted),
        cut=bool(seen.cut),
        usage_limit=bool(seen.usage_limit),
    )


def _settled(course: Course, lap: Lap, consequence: Consequence) -> Move:
    seen = lap.observed
    finished = events.IterationFinished(
        iteration=lap.number,
        result=_result(lap),
        fate=consequence.fate,
        counted=consequence.counted,
        progressed=consequence.fate is Fate.KEPT and _progressed(course, lap),
        duration_seconds=((seen.duration_seconds or 0.0) if seen else 0.0) + _check_seconds(lap),
        usage=(seen.usage or Usage()) if seen else Usage(),
    )
    command: commands.Command
    if consequence.fate is Fate.PARKED and course.plan.on_gate == "reject":
        finished, command = replace(finished, fate=Fate.DISCARDED), commands.RollBack(iteration=lap.number)
    elif consequence.fate is Fate.KEPT:
        command = commands.Keep(iteration=lap.number)
    elif consequence.fate is Fate.PARKED:
        command = commands.Park(iteration=lap.number)
    else:
        command = commands.RollBack(iteration=lap.number)
    return Move(command, (finished,))


def _result(lap: Lap) -> IterationResult:
    seen = lap.observed
    if seen is None or not seen.result:
        return Continue(reason="it was stopped")
    return seen.result


def _check_seconds(lap: Lap) -> float:
    return sum(check.duration_seconds or 0.0 for check in lap.checks.values())


def _progressed(course: Course, lap: Lap) -> bool:
    """More tests pass than before; where nobody counts tests, something has changed."""
    now, before = _passed(lap.checks), _passed(course.last.checks if course.last else course.control)
    if now is not None and before is not None:
        return now > before
    return bool(lap.observed and lap.observed.delta) or (
        bool(lap.checks) and verdict.judge(course, lap).proof is not None
    )


def _passed(checks: dict[str, events.CheckFinished]) -> int | None:
    counted = [check.tests for check in checks.values() if check.tests]
    return sum(_count(tests) for tests in counted) if counted else None


def _count(tests: TestResults) -> int:
    return tests.passed or 0


def _between(state: LoopState, course: Course, wish: Wish) -> Move:
    """No iteration is under way: end, wait, or begin the next."""
    if wish.do == "abort":
        return _aborted(Status.ABORTED)
    if course.approved:
        return Move(commands.BringBack(iteration=course.approved))
    if course.gate:
        return Move(commands.Pause(reason=PauseReason.GATE, words=course.gate.message))
    done = None if course.returned else _completed(course)
    if done:
        return done
    if wish.do == "pause":
        return Move(commands.Pause(reason=PauseReason.USER, words="paused by the user"))
    return _controlled(state, course) or _halted(state, course) or _limited(state, course) or _next(state, course)


def _completed(course: Course) -> Move | None:
    last = course.last
    if last is None or not last.finished or last.finished.fate is not Fate.KEPT:
        return None
    if not CONSEQUENCES[how_it_ended(last)].checked:
        return None
    judged = verdict.judge(course, last)
    if judged.proof is None:
        return None
    if course.plan.require_proof and judged.proof not in PROVEN:
        return failed(f"not proven: {judged.reason}", UNPROVEN)
    return Move(commands.Deliver(), (events.StatusChanged(to=Status.COMPLETING, reason=judged.reason),))


def _controlled(state: LoopState, course: Course) -> Move | None:
    """Before the first iteration: every check has run once, and none is broken."""
    if left := verdict.control_wanted(course):
        return Move(commands.RunChecks(iteration=0, checks=left))
    if course.plan.measure and not course.baselined and not course.start_tree:
        return Move(commands.Measure(iteration=0))
    return _broken(verdict.broken(course, course.control, state.task or ""))


def _broken(check: events.CheckFinished | None) -> Move | None:
    if check is None:
        return None
    said = str(check.output or "").partition("\n")[0]
    more = "; if the task is to make it, name it in the task" if check.missing else ""
    return Move(commands.Pause(reason=PauseReason.BROKEN_CHECK, words=f"{check.check}: {said}{more}"))


def _halted(state: LoopState, course: Course) -> Move | None:
    """What the last iteration left open, unless somebody has seen to it."""
    last = course.last
    if last is None or last.observed is None:
        return None
    if last.observed.not_started and not course.pardoned:
        return failed(f"the agent cannot be started: {last.observed.not_started}", AGENT)
    if last.observed.diverged:
        return failed(f"it differs from its record in iteration {last.number}: {last.observed.diverged}", UNPROVEN)
    if last.observed.unable and not course.pardoned:
        return failed(f"the agent cannot work: {last.observed.unable}", AGENT)
    if broken := _broken(verdict.broken(course, last.checks, state.task or "")):
        return broken
    if course.failures >= FAILURES and last.finished and isinstance(last.finished.result, Failed):
        return failed(f"the agent failed {course.failures} times in a row: {last.finished.result.error}", AGENT)
    if (course.pardoned or course.moved) and (again := _checked_again(course, last)):
        return again
    return None if course.pardoned else _left_open(state, course, last, last.observed)


def _held_back(course: Course, last: Lap, how: Ending) -> events.GateOpened | None:
    """At once if it is grave, or if nobody can say what to tell the agent; else when it was told often enough, or does
    the same although it was told."""
    if how is Ending.GRAVE_FINDING:
        return destructive_gate(last.number, last.findings)
    if recovery.is_unsure(last.findings):
        return recovery_gate(last.number, last.findings, "it cannot be told from an honest change with certainty")
    refusals = course.refusals
    if len(refusals) >= REFUSED:
        return recovery_gate(last.number, last.findings, f"refused {len(refusals)} times in a row")
    if len(refusals) > 1 and refusals[-1] == refusals[-2]:
        return recovery_gate(last.number, last.findings, "the same again, although the agent was told")
    return None


def _at_gate(state: LoopState, course: Course, gate: events.GateOpened) -> Move:
    """Somebody is waited for, unless the user has said beforehand what is to be done."""
    if course.plan.on_gate == "wait":
        return Move(commands.Pause(reason=PauseReason.GATE, words=gate.message), (gate,))
    if len(course.refusals) >= REFUSED:
        told = f"dishonest work was refused {len(course.refusals)} times in a row: {course.refusals[-1]}"
        # Nobody waits for a task of the queue, but somebody may look at it later and let it through.
        left_open = () if course.plan.task_id else (_by_policy(gate),)
        return failed(told, DISHONEST, gate, *left_open)
    return _next(state, course, gate, _by_policy(gate))


def _by_policy(gate: events.GateOpened) -> events.GateDecided:
    return events.GateDecided(gate_id=gate.gate_id, decision=Decision.REJECT, by="policy", why="--on-gate reject")


def _left_open(state: LoopState, course: Course, last: Lap, observed: events.IterationObserved) -> Move | None:
    """What only a human, or time, can see to."""
    if course.insisted >= INSISTED:
        gate = permission_gate(last.number, last.checks.values())
        return Move(commands.Pause(reason=PauseReason.GATE, words=gate.message), (gate,))
    how = how_it_ended(last)
    if how in {Ending.GRAVE_FINDING, Ending.BLOCKING_FINDING} and (held := _held_back(course, last, how)):
        return _at_gate(state, course, held)
    if how is Ending.BLOCKED and isinstance(observed.result, Blocked):
        return Move(commands.Pause(reason=PauseReason.BLOCKED, words=observed.result.blocker))
    if how is Ending.USAGE_LIMIT:
        words = "the provider does not let the agent go on"
        if course.limited >= LIMITED:  # whoever tells us when to go on is wrong about it
            words = f"{words}, {course.limited} times in a row"
            return Move(commands.Pause(reason=PauseReason.USAGE_LIMIT, words=words))
        again = commands.Pause(reason=PauseReason.USAGE_LIMIT, words=words, resume_at=observed.resume_at, again=True)
        return Move(again)
    return None


def _checked_again(course: Course, last: Lap) -> Move | None:
    """A check that could not be run at the end of the last iteration is made up for first: it may be all that was
    missing."""
    if not CONSEQUENCES[how_it_ended(last)].checked:
        return None
    left = verdict.wanted(course.plan, last.checks)
    return Move(commands.RunChecks(iteration=last.number, checks=left)) if left else None


def _limited(state: LoopState, course: Course) -> Move | None:
    allowed, used = bounds(state.allowance), spent(state)
    stop = (
        limits.reached(allowed, used)
        or limits.unobservable(allowed, used)
        or limits.unaffordable(allowed, used, course.costs)
    )
    if stop is None:
        return None
    words = stop.message or f"the limit of {stop.limit} is reached"
    if course.returned:
        words = f"{course.returned.message}; the agent could not see to it, because {words}"
    ended = failed(words, LIMIT, stop)
    return Move(replace(ended.command, best=better), ended.events) if (better := _better(course)) else ended


def _better(course: Course) -> int | None:
    """The iteration that is to be delivered, if the last one was clearly worse."""
    best = quality.best(course.scores)
    if best is None or course.plan.sandbox == "none" or not quality.is_worse(course.scores[-1], best):
        return None
    return best.iteration


def _next(state: LoopState, course: Course, *before: events.Event) -> Move:
    change = reinforcement.due(state, course)
    return Move(commands.RunAgent(iteration=state.iteration + 1), (*before, *([change] if change else [])))


def failed(reason: str, exit_code: int, *before: events.Event) -> Move:
    """The loop ends without being done."""
    error = reason if exit_code == AGENT else UNSET
    return Move(commands.Finish(status=Status.FAILED, reason=reason, exit_code=exit_code, error=error), before)


def _aborted(status: Status) -> Move:
    return Move(commands.Finish(status=status, reason="aborted_by_user", exit_code=UNPROVEN))


def bounds(allowance: Allowance | UnsetType) -> limits.Limits:
    if not allowance:
        return limits.Limits()
    return limits.Limits(
        iterations=allowance.iterations,
        seconds=allowance.seconds or None,
        cost_usd=None if allowance.cost_usd is UNSET else allowance.cost_usd,
        tokens=allowance.tokens or None,
        strict=allowance.unknown_cost == "stop",
    )


class Left(msgspec.Struct, frozen=True):
    """What a loop may still use; None is no limit."""

    iterations: int | None
    seconds: float | None


def remaining(state: LoopState) -> Left:
    allowed, used = bounds(state.allowance), spent(state)
    iterations = None if allowed.iterations is None else max(allowed.iterations - used.iterations - 1, 0)
    return Left(iterations, None if allowed.seconds is None else max(allowed.seconds - used.seconds, 0.0))


def spent(state: LoopState) -> limits.Spent:
    metrics = state.metrics or LoopMetrics()
    return limits.Spent(
        iterations=state.iteration,
        seconds=metrics.active_seconds or 0.0,
        cost_usd=metrics.total_cost_usd,
        tokens=metrics.total_tokens,
        cost_unknown=bool(metrics.unknown_cost_iterations),
        tokens_unknown=bool(metrics.unknown_token_iterations),
    )
