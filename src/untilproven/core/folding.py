"""From the journal to the full record of one iteration."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import UNSET
from msgspec.structs import replace

from untilproven.model import events
from untilproven.model.iteration import IterationRecord
from untilproven.model.persistence import Artifact
from untilproven.model.state import CompletionCheck


def iteration_record(loop_id: str, number: int, entries: Iterable[events.Entry]) -> IterationRecord:
    """What happened in iteration `number`, from the last time it was started."""
    record = IterationRecord(loop_id=loop_id, number=number)
    for entry in entries:
        if getattr(entry.event, "iteration", None) == number:
            record = _fold(record, entry)
    return record


def completion_check(event: events.CheckFinished, at: datetime) -> CompletionCheck:
    """A check that finished, as source 000 records it."""
    return CompletionCheck(
        iteration=event.iteration,
        timestamp=at,
        passed=event.passed,
        output=event.output,
        check=event.check,
        kind=event.kind,
        broken=event.broken,
    )


def _fold(record: IterationRecord, entry: events.Entry) -> IterationRecord:
    ts, event = entry.header.ts, entry.event
    match event:
        case events.IterationStarted():
            fresh = IterationRecord(loop_id=record.loop_id, number=record.number)
            return replace(fresh, started_at=ts, tree_before=event.tree)
        case events.IterationObserved():
            artifacts = tuple(
                Artifact(path=change.path, hash=change.hash, size_bytes=change.size_bytes)
                for change in event.delta
                if change.change != "deleted"
            )
            seen = replace(record, actions=event.actions, delta=event.delta, tree_after=event.tree, notes=event.notes)
            return replace(seen, artifacts=artifacts)
        case events.GuardFinding():
            return replace(record, findings=(*record.findings, event.finding))
        case events.CheckFinished():
            check = completion_check(event, ts)
            tests = event.tests if event.tests is not UNSET else record.test_results
            return replace(record, checks=(*record.checks, check), test_results=tests)
        case events.QualityScored():
            return replace(record, quality_score=event.score, quality_breakdown=event.breakdown)
        case events.IterationFinished():
            return replace(
                record,
                finished_at=ts,
                duration_seconds=event.duration_seconds,
                result=event.result,
                fate=event.fate,
                counted=event.counted,
                usage=event.usage,
            )
    return record
