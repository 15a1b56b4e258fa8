"""A receipt in words, for people."""

from collections import Counter
from collections.abc import Iterable

from msgspec import UNSET

from untilproven.core.text import printable
from untilproven.model.iteration import Usage
from untilproven.model.receipt import PROVEN, Proof, Receipt, Ruling
from untilproven.model.state import CompletionCheck
from untilproven.model.status import Status

_LONGEST = 160
_NAMED = 5
_PROTECTION = {
    "none": "none (unprotected)",
    "shadow": "shadow (best effort)",
    "session": "none: the agent ran as you, in your session, not confined; its work was checked in a room",
    "session-bare": "none: the agent ran as you, in your session, not confined, and so did the checks",
}
_DECIDED = {
    Proof.RED_TO_GREEN: "the checks",
    Proof.NEW_TESTS: "the checks",
    Proof.SUITE_GREEN_AND_CLAIM: "the checks and the agent's claim",
    Proof.CLAIMED: "the agent's claim",
}
_RULED = {"approve": "approved", "reject": "rejected", "abort": "aborted"}


def receipt_text(receipt: Receipt) -> list[tuple[str, str]]:
    """Label and text, one line each, fit for a terminal."""
    lines = [
        ("asked", _line(receipt.task.strip().partition("\n")[0], _LONGEST)),
        ("claimed", _claimed(receipt)),
        ("proof", proof_text(receipt)),
        ("before", _checks(receipt.checks_before)),
        ("after", _checks(receipt.checks_after)),
        ("changed", _changed(receipt)),
        ("spent", _spent(receipt)),
        ("sandbox", _sandbox(receipt)),
        ("decided by", _decided(receipt)),
    ]
    return [(label, _line(text, 3 * _LONGEST)) for label, text in lines if text]


def _sandbox(receipt: Receipt) -> str:
    text = _PROTECTION.get(receipt.sandbox or "", receipt.sandbox or "unknown")
    if receipt.network == "none":
        text += ", no network"
    return f"{text}, shared: {', '.join(receipt.shared)}" if receipt.shared else text


def proof_text(receipt: Receipt) -> str:
    """What may be said of the work; only two kinds of proof are called proven."""
    proof = receipt.proof
    if proof in PROVEN:
        return f"proven: {proof}"
    if receipt.status is Status.COMPLETED and proof is Proof.SUITE_GREEN_AND_CLAIM:
        return "checks green, work claimed"
    if receipt.status is Status.COMPLETED and proof is Proof.CLAIMED:
        return "claimed (trusted by --trust-promise)"
    reason = (receipt.reason or f"the loop is {receipt.status}").removeprefix("not proven: ")
    return f"not proven: {reason}"


def _claimed(receipt: Receipt) -> str:
    if not receipt.claims:
        return "nothing"
    last, count = receipt.claims[-1], len(receipt.claims) + (receipt.left_out or {}).get("claims", 0)
    text = f"{_line(last.text, 60)!r} in iteration {last.iteration}"
    return text if count == 1 else f"{text}, {count} times in all"


def _checks(checks: Iterable[CompletionCheck]) -> str:
    return _some([f"{check.check or 'check'} {_verdict(check)}" for check in checks], "no check was run")


def _verdict(check: CompletionCheck) -> str:
    if check.broken:
        return "could not run"
    return "passed" if check.passed else "failed"


def _changed(receipt: Receipt) -> str:
    count = len(receipt.changed) + (receipt.left_out or {}).get("changed", 0)
    if not count:
        return "nothing"
    kinds = Counter("mode changed" if change.change == "mode" else change.change for change in receipt.changed)
    detail = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    return f"{_plural(count, 'file')} ({detail})" if count == len(receipt.changed) else _plural(count, "file")


def _spent(receipt: Receipt) -> str:
    spent = receipt.spent or Usage()
    parts = [_plural(receipt.iterations, "iteration")]
    if receipt.worked_seconds is not UNSET:
        parts.append(_duration(receipt.worked_seconds))
    if spent.total_tokens is not UNSET:
        least = "at least " if receipt.unknown_token_iterations else ""
        parts.append(f"{least}{spent.total_tokens:,} tokens")
    unknown = receipt.unknown_cost_iterations or 0
    if spent.cost_usd is UNSET:
        parts.append("cost unknown")
    elif unknown:
        parts.append(f"at least ${spent.cost_usd:.2f} (cost of {_plural(unknown, 'iteration')} unknown)")
    else:
        parts.append(f"${spent.cost_usd:.2f}")
    return ", ".join(parts)


def _decided(receipt: Receipt) -> str:
    by = _DECIDED.get(receipt.proof) if receipt.proof and receipt.status is Status.COMPLETED else None
    return _some([*([by] if by else []), *(_ruling(ruling) for ruling in receipt.decided)], "")


def _ruling(ruling: Ruling) -> str:
    why = f" ({ruling.why})" if ruling.why else ""
    return f"{ruling.by}: {_RULED.get(ruling.decision, ruling.decision)} {ruling.kind or ruling.gate}{why}"


def _some(texts: list[str], none: str) -> str:
    more = [f"{len(texts) - _NAMED} more"] if len(texts) > _NAMED else []
    return "; ".join([*(_line(text, _LONGEST // 2) for text in texts[:_NAMED]), *more]) or none


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _line(text: str, longest: int) -> str:
    """One line, not too long, without anything that moves a cursor."""
    flat = " ".join(printable(text).split())
    return f"{flat[: longest - 1]}…" if len(flat) > longest else flat
