"""The record of claim and proof that outlives the loop: `receipt.json`."""

from enum import StrEnum

from msgspec import UNSET, UnsetType

from untilproven.model.fields import Count, LoopId, Ordinal, Timestamp
from untilproven.model.iteration import FileChange, Finding, Usage
from untilproven.model.state import CompletionCheck
from untilproven.model.status import Status
from untilproven.model.wire import Record

RECEIPT_VERSION = "1.0.0"


class Proof(StrEnum):
    """What kind of evidence ended the loop; only the first two are ever called proven."""

    RED_TO_GREEN = "red-to-green"
    NEW_TESTS = "new-tests"
    SUITE_GREEN_AND_CLAIM = "suite-green+claim"
    CLAIMED = "claimed"


PROVEN = frozenset({Proof.RED_TO_GREEN, Proof.NEW_TESTS})


class Claim(Record, frozen=True, kw_only=True):
    """Something the agent said about being done, and when; never believed."""

    iteration: Ordinal
    text: str
    at: Timestamp | UnsetType = UNSET


class Ruling(Record, frozen=True, kw_only=True):
    """A decision at a gate, and whose it was."""

    gate: str
    kind: str | UnsetType = UNSET
    """What the gate was opened for."""
    decision: str
    by: str
    at: Timestamp | UnsetType = UNSET
    why: str | UnsetType = UNSET


class Receipt(Record, frozen=True, kw_only=True):
    """What was asked, claimed, checked before and after, changed, spent, and who decided.

    `spent` has what is known; the two counts beside it say of how many iterations it is not.
    """

    version: str
    loop_id: LoopId
    status: Status
    task: str
    iterations: Count
    finished_at: Timestamp
    started_at: Timestamp | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    proof: Proof | UnsetType = UNSET
    sandbox: str | UnsetType = UNSET
    network: str | UnsetType = UNSET
    """The agent's: shared or none."""
    shared: tuple[str, ...] | UnsetType = UNSET
    """What was opened in the walls, and the variables that were let in."""
    agent: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    checks_before: tuple[CompletionCheck, ...] = ()
    checks_after: tuple[CompletionCheck, ...] = ()
    claims: tuple[Claim, ...] = ()
    findings: tuple[Finding, ...] = ()
    changed: tuple[FileChange, ...] = ()
    spent: Usage | UnsetType = UNSET
    unknown_cost_iterations: Count | UnsetType = UNSET
    unknown_token_iterations: Count | UnsetType = UNSET
    worked_seconds: float | UnsetType = UNSET
    decided: tuple[Ruling, ...] = ()
    best_iteration: Ordinal | UnsetType = UNSET
    tree: str | UnsetType = UNSET
    resumed_from: LoopId | UnsetType = UNSET
    """The loop that this one went on from; its own changes and claims are in its own receipt."""
    left_out: dict[str, Count] | UnsetType = UNSET
    """How many entries of a list are only in the journal, by the list's name; the newest are here."""
