"""From the journal to the receipt: one pass, and little more in memory than the result."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from untilproven.core.changes import NetChange
from untilproven.core.folding import completion_check
from untilproven.core.tally import Newest, SpentTokens
from untilproven.core.text import cut
from untilproven.model import events, wire
from untilproven.model.fields import Decision
from untilproven.model.iteration import Complete, Fate, FileChange, Finding, Usage
from untilproven.model.receipt import RECEIPT_VERSION, Claim, Proof, Receipt, Ruling
from untilproven.model.state import CompletionCheck, LoopMetrics, LoopState, ProgressTracking
from untilproven.model.status import Status

TEXT_BYTES = 4096
LISTED_CHANGES = 10_000


def receipt(
    entries: Iterable[events.Entry],
    state: LoopState,
    *,
    finished_at: datetime,
    status: Status,
    reason: str,
    proof: Proof | None,
) -> Receipt:
    """The receipt of a loop that ends now; `state` is its last, and its ledger counts what earlier loops brought."""
    book = _Book()
    for entry in entries:
        book.add(entry)
    plan, metrics, best = state.plan, state.metrics or LoopMetrics(), state.best_iteration
    changed = book.changed.result()
    return Receipt(
        version=RECEIPT_VERSION,
        loop_id=state.loop_id,
        status=status,
        task=state.task or "",
        iterations=state.iteration,
        started_at=state.started_at,
        finished_at=finished_at,
        reason=cut(reason, TEXT_BYTES) or UNSET,
        proof=proof or UNSET,
        sandbox=plan.sandbox if plan else UNSET,
        network=plan.network if plan and plan.sandbox != "none" else UNSET,
        shared=((*plan.share, *plan.env) if plan else ()) or UNSET,
        agent=plan.agent if plan else UNSET,
        model=plan.model if plan else UNSET,
        checks_before=tuple(book.control.values()),
        checks_after=tuple(book.last.values()),
        claims=book.claims.items(),
        findings=book.findings(),
        changed=tuple(changed[:LISTED_CHANGES]),
        spent=book.spent.usage(metrics, plan.agent if plan else UNSET),
        unknown_cost_iterations=metrics.unknown_cost_iterations or UNSET,
        unknown_token_iterations=book.spent.unknown or UNSET,
        worked_seconds=metrics.active_seconds,
        decided=book.rulings.items(),
        best_iteration=best.iteration if best else UNSET,
        tree=book.tree,
        resumed_from=state.resumed_from,
        left_out=book.left_out(changed) or UNSET,
    )


class _Book:
    """What the entries so far amount to."""

    def __init__(self) -> None:
        self.control: dict[str, CompletionCheck] = {}
        self.last: dict[str, CompletionCheck] = {}
        """The checks of the last iteration that ran any."""
        self.claims: Newest[Claim] = Newest()
        self.rulings: Newest[Ruling] = Newest()
        self.changed = NetChange()
        self.spent = SpentTokens()
        self.tree: str | UnsetType = UNSET
        self._blocking: Newest[tuple[int, Finding]] = Newest()
        self._other: Newest[tuple[int, Finding]] = Newest()
        self._gates: dict[str, events.GateOpened] = {}
        self._parked: dict[int, events.IterationObserved] = {}
        self._lap = 0
        """The iteration under way."""
        self._observed: events.IterationObserved | None = None
        self._checks: dict[str, CompletionCheck] = {}

    def add(self, entry: events.Entry) -> None:
        event, at = entry.event, entry.header.ts
        match event:
            case events.LoopStarted():
                self._brought(event)
            case events.LoopAdopted():
                self.spent.unknown += bool(event.discarded_iteration)
                self._begin(0)
            case events.CheckFinished():
                self._checked(completion_check(event, at))
            case events.GuardFinding():
                listed = self._blocking if event.finding.blocking else self._other
                listed.add((entry.header.seq, _short(event.finding)))
            case events.GateOpened():
                self._gates[event.gate_id] = event
            case events.GateDecided():
                self._decided(event, at)
            case _:
                self._worked(event, at)

    def _worked(self, event: events.Event | None, at: datetime) -> None:
        match event:
            case events.IterationStarted():
                self._begin(event.iteration)
                self.tree = event.tree if self.tree is UNSET else self.tree
            case events.TreeChanged():
                self.tree = event.tree
            case events.IterationObserved():
                self._observed = event
                self._claimed(event, at)
            case events.IterationFinished():
                self._finished(event)

    def _brought(self, event: events.LoopStarted) -> None:
        """A loop that goes on from another brings that one's checks along."""
        try:
            progress = wire.from_builtins(ProgressTracking, event.state.get("progress") or {})
        except wire.UNREADABLE:
            return
        for check in progress.completion_checks or ():
            self._checked(check)

    def _begin(self, iteration: int) -> None:
        """What came of an iteration that was never finished does not count."""
        self._lap, self._observed, self._checks = iteration, None, {}

    def _checked(self, check: CompletionCheck) -> None:
        check = replace(check, output=cut(check.output, TEXT_BYTES)) if check.output else check
        name = check.check or ""
        if check.iteration == 0:
            self.control[name] = check
        elif check.iteration == self._lap:
            self._checks[name] = check
        elif any(check.iteration == other.iteration for other in self.last.values()):
            self.last[name] = check
        else:
            self.last = {name: check}

    def _claimed(self, event: events.IterationObserved, at: datetime) -> None:
        words = event.claim or ("complete" if isinstance(event.result, Complete) else "")
        if words:
            self.claims.add(Claim(iteration=event.iteration, text=cut(words, TEXT_BYTES), at=at))

    def _finished(self, event: events.IterationFinished) -> None:
        self.last = self._checks or self.last
        self.spent.add(event.usage or Usage())
        observed = self._observed
        if observed and event.fate is Fate.KEPT:
            self._kept(observed)
        elif observed and event.fate is Fate.PARKED:
            self._parked[event.iteration] = observed
        self._begin(0)

    def _kept(self, observed: events.IterationObserved) -> None:
        self.changed.add(observed.delta)
        self.tree = observed.tree or self.tree

    def _decided(self, event: events.GateDecided, at: datetime) -> None:
        gate = self._gates.pop(event.gate_id, None)
        why = cut(event.why, TEXT_BYTES) if event.why else UNSET
        kind = gate.kind if gate else UNSET
        ruling = Ruling(gate=event.gate_id, kind=kind, decision=event.decision.value, by=event.by, at=at, why=why)
        self.rulings.add(ruling)
        parked = self._parked.pop(gate.iteration, None) if gate else None
        if parked and event.decision is Decision.APPROVE:
            self._kept(parked)

    def findings(self) -> tuple[Finding, ...]:
        """Those that block are not crowded out by those that do not."""
        both = sorted([*self._blocking.items(), *self._other.items()], key=lambda found: found[0])
        return tuple(finding for _, finding in both)

    def left_out(self, changed: list[FileChange]) -> dict[str, int]:
        counts = {
            "changed": max(len(changed) - LISTED_CHANGES, 0),
            "claims": self.claims.dropped,
            "decided": self.rulings.dropped,
            "findings": self._blocking.dropped + self._other.dropped,
        }
        return {name: count for name, count in counts.items() if count}


def _short(finding: Finding) -> Finding:
    return replace(finding, message=cut(finding.message, TEXT_BYTES)) if finding.message else finding
