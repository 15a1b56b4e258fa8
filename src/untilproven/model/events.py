"""What happened: the vocabulary of the journal and of `run --json`.

On disk an event is one JSON object: the header's fields, then the event's own. Readers skip types and
fields they do not know, so a later version may add both.
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from untilproven.model.fields import Count, Decision, LoopId, Ordinal, PauseReason, Timestamp
from untilproven.model.iteration import Action, Fate, FileChange, Finding, IterationResult, Usage
from untilproven.model.persistence import (
    BaselineMetrics,
    BestIteration,
    IterationEntry,
    QualityBreakdown,
    RecoveryAttempt,
    RegressionEvent,
    Reinforcement,
    TestResults,
)
from untilproven.model.state import ProcessIdentity
from untilproven.model.status import Status

EVENT_VERSION: Literal[1] = 1


class Header(msgspec.Struct, frozen=True, kw_only=True):
    v: Literal[1]
    ts: Timestamp
    loop_id: LoopId
    seq: Ordinal
    type: str


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """The journal is never rewritten, so events need not carry what they do not know."""


class LoopStarted(_Event, frozen=True, kw_only=True, tag="loop.started"):
    """The whole first state, as it stands in state.json; continued and migrated loops bring their past along.

    `started_with` is its digest, and `vouch` says that this user, on this machine, wrote it (store/vouch.py).
    """

    state: dict[str, Any]
    started_with: str
    vouch: str


class LoopAdopted(_Event, frozen=True, kw_only=True, tag="loop.adopted"):
    """A new process took over from a dead one; an unfinished iteration is discarded."""

    process: ProcessIdentity
    vouch: str
    discarded_iteration: Ordinal | UnsetType = UNSET
    last_seen: Timestamp | UnsetType = UNSET
    """The last sign of life of the process before."""
    usage: Usage | UnsetType = UNSET
    """What the agent had reported of the discarded iteration."""


class BaselineCaptured(_Event, frozen=True, kw_only=True, tag="baseline.captured"):
    """How things were before the first action of an agent. `measured` has all of it; source 003 knows a part."""

    baseline: BaselineMetrics
    measured: dict[str, Any] = {}


class TreeMeasured(_Event, frozen=True, kw_only=True, tag="tree.measured"):
    """The same after an iteration."""

    iteration: Ordinal
    measured: dict[str, Any] = {}


class IterationStarted(_Event, frozen=True, kw_only=True, tag="iteration.started"):
    iteration: Ordinal
    tree: str | UnsetType = UNSET


class AgentEvent(_Event, frozen=True, kw_only=True, tag="agent.event"):
    """Streamed and kept under `outputs/`, never in the journal."""

    iteration: Ordinal
    kind: Literal["text", "action", "usage", "limit", "error", "result"]
    text: str | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET


class IterationObserved(_Event, frozen=True, kw_only=True, tag="iteration.observed"):
    """The agent has ended: what it changed, how it ended, what it said and used."""

    iteration: Ordinal
    delta: tuple[FileChange, ...]
    actions: tuple[Action, ...] = ()
    tree: str | UnsetType = UNSET
    result: IterationResult | UnsetType = UNSET
    ended: str | UnsetType = UNSET
    """How its program ended, in words, unless it simply came to its end."""
    cut: str | UnsetType = UNSET
    """The limit that stopped it: wall, idle, output, time, cost or tokens."""
    interrupted: str | UnsetType = UNSET
    """Who stopped it at once: pause, abort or a signal."""
    not_started: str | UnsetType = UNSET
    diverged: str | UnsetType = UNSET
    """In what a strict replay differs from what was recorded."""
    unable: str | UnsetType = UNSET
    """Why the agent will not work the next time either, unless somebody sees to it."""
    claim: str | UnsetType = UNSET
    """The words with which the agent said that it is done."""
    usage: Usage | UnsetType = UNSET
    usage_limit: bool | UnsetType = UNSET
    resume_at: Timestamp | UnsetType = UNSET
    session: str | UnsetType = UNSET
    notes: tuple[str, ...] | UnsetType = UNSET
    duration_seconds: float | UnsetType = UNSET


class GuardFinding(_Event, frozen=True, kw_only=True, tag="guard.finding"):
    iteration: Ordinal
    finding: Finding
    regression: RegressionEvent | UnsetType = UNSET


class GuardFinished(_Event, frozen=True, kw_only=True, tag="guard.finished"):
    """Everything that the iteration changed has been compared with what it was; findings come before it."""

    iteration: Ordinal
    files: Count
    duration_seconds: float
    not_analysed: tuple[str, ...] = ()
    """Files whose inside was not looked at, with the reason."""
    skipped: str | UnsetType = UNSET
    """Why nothing was compared."""
    confirmed: Count | UnsetType = UNSET
    """How many of the loop's findings a person has called right by now; left out if none has been marked."""
    false_positives: Count | UnsetType = UNSET


class TreeRestored(_Event, frozen=True, kw_only=True, tag="tree.restored"):
    """The tree is again what it was after an iteration: a human accepted it, or it was the best."""

    iteration: Ordinal
    tree: str


class TreeChanged(_Event, frozen=True, kw_only=True, tag="tree.changed"):
    """Somebody else changed the tree after the checks of this iteration had seen it."""

    iteration: Ordinal
    tree: str


class CheckFinished(_Event, frozen=True, kw_only=True, tag="check.finished"):
    """`iteration` is 0 for the negative control, before any work."""

    iteration: Count
    check: str
    kind: str
    passed: bool
    output: str | UnsetType = UNSET
    broken: bool | UnsetType = UNSET
    missing: str | UnsetType = UNSET
    """A program in the tree that the check names and that is not there."""
    lost: str | UnsetType = UNSET
    """What was green in the control and is not any more, in a sentence."""
    tests: TestResults | UnsetType = UNSET
    outcomes: dict[str, str] | UnsetType = UNSET
    """In the control: how each test ended, so that later ones can be compared with it."""
    duration_seconds: float | UnsetType = UNSET
    only_with: tuple[str, ...] | UnsetType = UNSET
    """What it needs the agent's version of to pass, although that was to stay as it was: tests, their configuration,
    installed dependencies."""
    canary: Literal["seen", "hidden", "impossible"] | UnsetType = UNSET
    """Whether a failing test that was planted was reported as failing."""
    new_tests: tuple[str, ...] | UnsetType = UNSET
    """Tests of the agent's that pass now and fail on the code as it was."""
    flaky: tuple[str, ...] | UnsetType = UNSET
    """Tests that failed and then passed on the same tree."""
    same_as: Ordinal | UnsetType = UNSET
    """The iteration in which the same tree was checked; it was not checked again."""


class QualityScored(_Event, frozen=True, kw_only=True, tag="quality.scored"):
    iteration: Ordinal
    score: float
    breakdown: QualityBreakdown


class IterationFinished(_Event, frozen=True, kw_only=True, tag="iteration.finished"):
    """`progressed` says whether it counts as successful; a result that is not counted raises no total."""

    iteration: Ordinal
    result: IterationResult
    fate: Fate
    counted: bool
    progressed: bool
    duration_seconds: float
    usage: Usage | UnsetType = UNSET
    entry: IterationEntry | UnsetType = UNSET
    best: BestIteration | UnsetType = UNSET
    estimated_completion: Timestamp | UnsetType = UNSET


class CheckpointWritten(_Event, frozen=True, kw_only=True, tag="checkpoint.written"):
    iteration: Count
    path: str


CONFLICT = "conflict"
"""The kind of gate that opens where the user and the agent changed the same file."""

DESTRUCTIVE, RECOVERY = "destructive", "recovery"
"""The kinds of gates at which an iteration is held back: for what the guard saw in it, or because telling the agent did
not help."""


class GateOpened(_Event, frozen=True, kw_only=True, tag="gate.opened"):
    gate_id: str
    kind: str
    message: str
    iteration: Count
    deadline: Timestamp | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET


class GateDecided(_Event, frozen=True, kw_only=True, tag="gate.decided"):
    gate_id: str
    decision: Decision
    by: Literal["human", "policy", "timeout"]
    why: str | UnsetType = UNSET


class RecoveryStep(_Event, frozen=True, kw_only=True, tag="recovery.step"):
    """The attempt as it now stands; a later step of the same attempt replaces it."""

    attempt: RecoveryAttempt


class ReinforcementChanged(_Event, frozen=True, kw_only=True, tag="reinforcement.changed"):
    iteration: Count
    to_level: Reinforcement
    reason: str


class LimitReached(_Event, frozen=True, kw_only=True, tag="limit.reached"):
    limit: str
    observed: float | UnsetType = UNSET
    allowed: float | UnsetType = UNSET
    message: str | UnsetType = UNSET


class StatusChanged(_Event, frozen=True, kw_only=True, tag="status.changed"):
    to: Status
    reason: str | UnsetType = UNSET
    pause_reason: PauseReason | UnsetType = UNSET
    resume_at: Timestamp | UnsetType = UNSET
    error: str | UnsetType = UNSET
    stack_trace: str | UnsetType = UNSET


class LoopContinued(_Event, frozen=True, kw_only=True, tag="loop.continued"):
    """This ended loop's place was taken by another."""

    resumed_as: LoopId


class NotCommitted(msgspec.Struct, frozen=True, kw_only=True):
    """A path of the loop's work that is not in its commit."""

    path: str
    why: str


class WorkCommitted(_Event, frozen=True, kw_only=True, tag="work.committed"):
    """Without `commit` there was nothing to commit."""

    commit: str | UnsetType = UNSET
    branch: str | UnsetType = UNSET
    paths: Count = 0
    left_out: tuple[NotCommitted, ...] = ()
    ignored: Count = 0
    """How many paths git ignores."""


class StateUpdated(_Event, frozen=True, kw_only=True, tag="state.updated"):
    """Named fields replaced whole (source 000 update_state; source 003 shallow merge)."""

    set: dict[str, Any]


class JournalRepaired(_Event, frozen=True, kw_only=True, tag="journal.repaired"):
    """A line that was never finished was dropped from the end of the journal."""

    dropped_bytes: Ordinal
    dropped_text: str


class LoopFinished(_Event, frozen=True, kw_only=True, tag="loop.finished"):
    status: Status
    exit_code: Count
    iterations: Count
    reason: str | UnsetType = UNSET
    proof: str | UnsetType = UNSET
    best_iteration: Ordinal | UnsetType = UNSET
    cost_usd: float | UnsetType = UNSET
    tokens: Count | UnsetType = UNSET
    undelivered: bool | UnsetType = UNSET
    """Its work is in its snapshots, and not in the user's tree."""


Event = (
    LoopStarted
    | LoopAdopted
    | BaselineCaptured
    | TreeMeasured
    | IterationStarted
    | AgentEvent
    | IterationObserved
    | GuardFinding
    | GuardFinished
    | TreeRestored
    | TreeChanged
    | CheckFinished
    | QualityScored
    | IterationFinished
    | CheckpointWritten
    | GateOpened
    | GateDecided
    | RecoveryStep
    | ReinforcementChanged
    | LimitReached
    | StatusChanged
    | LoopContinued
    | WorkCommitted
    | StateUpdated
    | JournalRepaired
    | LoopFinished
)

KNOWN_TYPES: frozenset[str] = frozenset(str(member.__struct_config__.tag) for member in Event.__args__)


class Entry(msgspec.Struct, frozen=True):
    """One line of a journal. An event of a type this version does not know has no body here."""

    header: Header
    event: Event | None
