"""An iteration, or the checks of a loop, looked back at."""

from msgspec import UNSET

from untilproven.core.text import printable
from untilproven.model.iteration import Blocked, Complete, Continue, Failed, IterationRecord
from untilproven.model.state import CompletionCheck, LoopState, ProgressTracking
from untilproven.watch.console import words
from untilproven.watch.console.lines import one_line

HEAD = ("ITERATION", "RESULT", "FATE", "TIME", "CHECKS", "CHANGED")
_ACTIONS = 20


def row(record: IterationRecord) -> tuple[str, ...]:
    """One line of the table of iterations."""
    checks = ", ".join(f"{words.seen(check).verdict} {words.seen(check).name}" for check in record.checks)
    return (
        str(record.number),
        _result(record).partition(":")[0],
        f"{record.fate or '?'}{'' if record.counted in (True, UNSET) else ' (not counted)'}",
        "?" if record.duration_seconds is UNSET else words.duration(record.duration_seconds),
        checks or "-",
        words.changed(record.delta).removeprefix("changed "),
    )


def iteration(record: IterationRecord) -> list[tuple[str, str]]:
    """All that is known about one iteration, as labels and texts."""
    told = [
        ("iteration", f"{record.number} of {record.loop_id}"),
        ("result", _result(record)),
        ("fate", _fate(record)),
        ("time", "unknown" if record.duration_seconds is UNSET else words.duration(record.duration_seconds)),
        ("spent", words.used(record.usage) or "unknown"),
        ("tree", f"{one_line(record.tree_before or '?')} -> {one_line(record.tree_after or '?')}"),
        ("changed", "\n".join(f"{change.change} {one_line(change.path)}" for change in record.delta) or "nothing"),
        ("actions", _actions(record)),
    ]
    told += [("note", one_line(note)) for note in record.notes or ()]
    for finding in record.findings:
        what = one_line(finding.message or finding.pattern_name)
        told.append(("finding", f"{finding.severity}: {one_line(finding.path or '')} {what}"))
    return told + [("check", _check(check)) for check in record.checks]


def checks(state: LoopState) -> list[tuple[str, str]]:
    """The checks of a loop before the work and as they came out last."""
    seen = (state.progress or ProgressTracking()).completion_checks or ()
    before = {check.check: check for check in seen if check.iteration == 0}
    after = {check.check: check for check in seen if check.iteration}
    return [
        (label, "\n".join(f"{words.seen(check).verdict} {words.seen(check).name}" for check in found.values()))
        for label, found in (("before", before), ("now", after))
        if found
    ]


def _result(record: IterationRecord) -> str:
    match record.result:
        case Continue(reason=reason):
            return f"continue: {one_line(reason)}" if reason else "continue"
        case Complete():
            return "complete (claimed)"
        case Blocked(blocker=blocker):
            return f"blocked: {one_line(blocker)}"
        case Failed(error=error):
            return f"failed: {one_line(error)}"
    return "not finished"


def _fate(record: IterationRecord) -> str:
    counted = ", not counted" if record.counted is False else ""
    return f"{record.fate}{counted}" if record.fate else "not decided yet"


def _actions(record: IterationRecord) -> str:
    shown = [f"{action.kind:<5} {one_line(action.target)}" for action in record.actions[-_ACTIONS:]]
    earlier = len(record.actions) - len(shown)
    return "\n".join([*([f"({earlier} earlier ones)"] if earlier else []), *shown]) or "none reported"


def _check(check: CompletionCheck) -> str:
    seen = words.seen(check)
    output = "\n".join(f"  {line}" for line in printable(check.output or "").splitlines())
    return f"{seen.verdict} {seen.name}" + (f"\n{output}" if output else "")
