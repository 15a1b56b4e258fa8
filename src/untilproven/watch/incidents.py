"""What went wrong in a loop on the way, in words: what was refused, who decided, what was made of it."""

from untilproven.core.incidents import Gate, Incidents, Refusal
from untilproven.model.events import GateDecided
from untilproven.model.fields import Decision, PauseReason
from untilproven.model.iteration import Finding
from untilproven.model.persistence import AttemptOutcome, BestIteration, ProtocolSteps, RecoveryAttempt
from untilproven.model.state import LoopState
from untilproven.watch.console.lines import one_line

_NAMED = 2
_RULED = {Decision.APPROVE: "approved", Decision.REJECT: "rejected", Decision.ABORT: "aborted"}
_BY = {"human": "a human", "policy": "policy", "timeout": "its deadline"}
_CAME_OF_IT = {
    AttemptOutcome.SUCCESS: "telling the agent helped",
    AttemptOutcome.FAILED: "telling the agent did not help",
    AttemptOutcome.ESCALATED: "it was left to a gate",
    AttemptOutcome.ABORTED: "the loop was ended",
}


def best(found: BestIteration) -> str:
    score = f", score {found.quality_score:g}" if found.quality_score else ""
    return f"iteration {found.iteration}{score}"


def refused(one: Refusal) -> str:
    named = [_found(finding) for finding in one.findings[:_NAMED]]
    more = [f"{len(one.findings) - _NAMED} more"] if len(one.findings) > _NAMED else []
    return f"iteration {one.iteration}: {'; '.join([*named, *more])}"


def _found(finding: Finding) -> str:
    where = f"{one_line(finding.path)}: " if finding.path else ""
    return f"{where}{one_line(finding.message or finding.pattern_name)}"


def waits(one: Gate, found: Incidents, state: LoopState) -> bool:
    """Whether the loop stands at this gate now."""
    return one is found.gates[-1] and state.pause_reason is PauseReason.GATE


def gate(one: Gate, *, waits: bool) -> str:
    return f"{one_line(one.opened.kind)}, iteration {one.opened.iteration}: {decision(one, waits=waits)}"


def decision(one: Gate, *, waits: bool) -> str:
    decided = one.decided
    if decided is None:
        return "waits for a decision" if waits else "left without a decision"
    return ruling(decided)


def ruling(decided: GateDecided) -> str:
    why = f" ({one_line(decided.why)})" if decided.why else ""
    return f"{_RULED[decided.decision]} by {_BY[decided.by]}{why}"


def recovered(attempt: RecoveryAttempt) -> str:
    steps = attempt.protocol_steps or ProtocolSteps()
    cause = one_line((steps.diagnose.root_cause or "") if steps.diagnose else "") or one_line(attempt.trigger)
    came = _CAME_OF_IT[attempt.outcome] if attempt.outcome else "the agent is told"
    return f"iteration {attempt.iteration}: {cause}; {came}"
