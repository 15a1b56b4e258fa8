"""What is made of work that was refused: pause, diagnose, adapt, retry, escalate (source 003's protocol).

The iteration is taken back, its cause is named, the next prompt is changed in one way, and the next iteration shows
whether that helped.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from untilproven.model.iteration import Finding
from untilproven.model.persistence import (
    AdaptStep,
    AttemptOutcome,
    DiagnoseStep,
    EscalateStep,
    PauseStep,
    ProtocolSteps,
    RecoveryAttempt,
    RetryOutcome,
    RetryStep,
)


class Diagnosis(NamedTuple):
    category: str
    root_cause: str
    confidence: float
    advice: str
    """The one thing that the next prompt says more."""


OUT_OF_BOUNDS = "out_of_bounds"
_KNOWN: dict[str, Diagnosis] = {
    OUT_OF_BOUNDS: Diagnosis(
        "misunderstanding",
        "the agent changed what the task must leave as it is",
        0.95,
        "Those files are back as they were. Do the task without changing them.",
    ),
    "test_deletion": Diagnosis(
        "reward_hacking",
        "the agent deleted tests instead of fixing the code they are about",
        0.95,
        "The tests are back. Make the code do what they ask for.",
    ),
    "test_skipping": Diagnosis(
        "reward_hacking",
        "the agent kept tests from running instead of fixing the code they are about",
        0.95,
        "The tests run again. Make the code do what they ask for.",
    ),
    "assertion_weakening": Diagnosis(
        "reward_hacking",
        "the agent made tests ask less instead of fixing the code they are about",
        0.85,
        "The assertions are back. Find out which value is right, and make the code return it.",
    ),
    "validation_bypass": Diagnosis(
        "misunderstanding",
        "the agent removed a check of the input that stood in its way",
        0.8,
        "Leave the checks of the input in place; change what is passed to them.",
    ),
    "error_suppression": Diagnosis(
        "cognitive_load",
        "the agent swallowed an error instead of handling its cause",
        0.8,
        "Let the error come up, read it, and remove its cause.",
    ),
    "feature_removal": Diagnosis(
        "task_complexity",
        "the agent took away what it could not make work",
        0.75,
        "Take nothing away. Make the smallest change that brings the failing part to work.",
    ),
    "specification_gaming": Diagnosis(
        "reward_hacking",
        "the agent took hold of the check itself",
        0.95,
        "Leave the test run alone: what decides is run where you cannot reach it.",
    ),
    "workaround": Diagnosis(
        "task_complexity",
        "the agent worked around the failure instead of removing its cause",
        0.75,
        "Remove the special case and compute the answer.",
    ),
    "verifier_weakening": Diagnosis(
        "reward_hacking",
        "the agent weakened what the work is checked with",
        0.9,
        "Leave thresholds, configuration and CI as they are; bring the code up to them.",
    ),
    "coverage_regression": Diagnosis(
        "misunderstanding",
        "what the agent changed is run by fewer tests than what was there",
        0.7,
        "Add tests for what you changed; take none away, and leave what is measured as it is.",
    ),
}
_KNOWN["ci_weakening"] = _KNOWN["verifier_weakening"]
_UNKNOWN = Diagnosis(
    "specification_ambiguity",
    "what the agent did cannot be told from an honest change with certainty",
    0.45,
    "Make the change smaller, and leave out what the task does not ask for.",
)
UNSURE = 0.5
"""Below this confidence a human is asked at once."""


def diagnose(findings: Sequence[Finding]) -> Diagnosis:
    """Of the first of the findings that block and are known, the gravest first; of two names for it, the one that says
    more surely what it was."""
    for finding in findings:
        details = (finding.details or {}) if finding.blocking else {}
        known = [_KNOWN[kind] for key in ("regression", "category") if (kind := str(details.get(key, ""))) in _KNOWN]
        if known:
            return max(known, key=lambda one: one.confidence)
    return _UNKNOWN


def is_unsure(findings: Sequence[Finding]) -> bool:
    """Whether telling the agent would be a guess."""
    return diagnose(findings).confidence < UNSURE


def begun(iteration: int, findings: Sequence[Finding], at: datetime) -> RecoveryAttempt:
    """The first three steps: the work is taken back, its cause is named, the next prompt is changed."""
    found = diagnose(findings)
    first = next(finding for finding in findings if finding.blocking)
    kind = str((first.details or {}).get("regression") or (first.details or {}).get("category") or first.pattern_id)
    return RecoveryAttempt(
        timestamp=at,
        iteration=iteration,
        trigger=f"regression_detected: {kind}",
        recovery_id=f"rec-{iteration:03d}",
        protocol_steps=ProtocolSteps(
            pause=PauseStep(executed_at=at, actions=(f"iteration {iteration} was taken back; its snapshot is kept",)),
            diagnose=DiagnoseStep(executed_at=at, root_cause=found.root_cause, confidence=found.confidence),
            adapt=AdaptStep(executed_at=at, strategy=f"tell the agent: {found.category}", changes_made=(found.advice,)),
        ),
    )


def retried(attempt: RecoveryAttempt, iteration: int, at: datetime, *, helped: bool) -> RecoveryAttempt:
    outcome = RetryOutcome.SUCCESS if helped else RetryOutcome.FAILED
    return replace(
        attempt,
        protocol_steps=replace(
            attempt.protocol_steps or ProtocolSteps(),
            retry=RetryStep(executed_at=at, retry_iteration=iteration, outcome=outcome),
        ),
        outcome=AttemptOutcome.SUCCESS if helped else AttemptOutcome.FAILED,
    )


def escalated(attempt: RecoveryAttempt, reason: str, at: datetime, decision: str = "") -> RecoveryAttempt:
    return replace(
        attempt,
        protocol_steps=replace(
            attempt.protocol_steps or ProtocolSteps(),
            escalate=EscalateStep(executed_at=at, reason=reason, human_decision=decision or UNSET),
        ),
        outcome=AttemptOutcome.ESCALATED,
    )
