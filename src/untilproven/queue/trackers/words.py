"""Titles and texts on their way to a tracker and back, and the marks by which ours are found again."""

import hashlib
import re

from untilproven.core.prompt import fenced
from untilproven.core.text import cut, printable
from untilproven.model.receipt import PROVEN, Receipt
from untilproven.model.task import Task, TaskStatus

_TITLE = 256
_BODY = 60_000
_REASON = 2000
_CHECKS = 10
_MARK = re.compile(r"<!-- untilproven:([^\s<>]{1,200}) -->")


def fingerprint(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def marker(task: Task) -> str:
    """The same in every clone of a queue, and another in every other queue."""
    return f"{task.id}:{fingerprint(task.id, str(task.created_at or ''))}"


def marked(text: str, mark: str) -> str:
    return f"{text}\n\n<!-- untilproven:{mark} -->".lstrip("\n")


def mark_of(text: str) -> str:
    """The last mark in a text: what is quoted stands before it."""
    found = _MARK.findall(text)
    return found[-1] if found else ""


def title_of(raw: str) -> str:
    """On one line, without what a terminal would obey."""
    line = " ".join(printable(raw).split())
    return (line if len(line) <= _TITLE else line[: _TITLE - 1].rstrip() + "\u2026") or "(no title)"


def body_of(raw: str) -> str:
    """Without our marks, and no longer than can be read; what comes out of it would come out of it again."""
    plain = raw[: 4 * _BODY].replace("\r\n", "\n")
    while _MARK.search(plain):
        plain = _MARK.sub("", plain)
    short = cut(printable(plain).strip(), _BODY)
    return "\n".join(line.rstrip() for line in short.split("\n")).strip()


def told(task: Task) -> str:
    """What is said there about a task of ours."""
    parts = [(task.description or "").strip()]
    if task.acceptance_criteria:
        parts.append("Accepted when:\n" + "\n".join(f"- {one}" for one in task.acceptance_criteria))
    return body_of("\n\n".join(part for part in parts if part))


def proof(task: Task, receipt: Receipt | None) -> str:
    """What is said there about how work on a task ended. What others said is fenced: it pings and links nobody."""
    lines = [_verdict(task, receipt)]
    if receipt:
        lines += [
            f"- {'passed' if check.passed else 'failed'}: `{_code(check.check)}`"
            for check in receipt.checks_after[:_CHECKS]
            if check.check
        ]
        lines.append(f"- iterations: {receipt.iterations}; loop: `{_code(receipt.loop_id)}`")
    if task.status is TaskStatus.BLOCKED and task.blocker:
        lines += ["", fenced(cut(printable(task.blocker), _REASON))]
    return "\n".join(lines)


def _verdict(task: Task, receipt: Receipt | None) -> str:
    if task.status is TaskStatus.BLOCKED:
        return f"Work on {task.id} was given up for now:"
    if receipt and receipt.proof:
        proven = "proven" if receipt.proof in PROVEN else "done, not proven"
        return f"{task.id} is {proven} (`{receipt.proof.value}`)."
    return f"{task.id} is done."


def _code(text: str) -> str:
    return title_of(text.replace("`", "'"))
