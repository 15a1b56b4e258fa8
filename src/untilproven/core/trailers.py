"""The message of a commit, and what its last lines say about the loop that made it. A trailer proves nothing."""

import re

import msgspec

from untilproven.core.text import printable
from untilproven.errors import UsageError
from untilproven.model.receipt import Proof

SUBJECT_LENGTH = 72
_TRAILER = r"[A-Za-z0-9][A-Za-z0-9-]*: ?.*"
_OURS = "Ralph-"
_RECEIPT = r"sha256:[0-9a-f]{64}"


class Trailers(msgspec.Struct, frozen=True, kw_only=True):
    """What a commit claims. `receipt` is the SHA-256 of receipt.json, with its name before it."""

    loop_id: str
    proof: str
    receipt: str
    task_id: str = ""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a message: the task's first line becomes the subject."""

    task: str
    loop_id: str
    proof: Proof
    receipt: str
    task_id: str = ""
    body: str = ""

    @property
    def subject(self) -> str:
        lines = (" ".join(line.split()) for line in printable(self.task).splitlines())
        first = next((line for line in lines if line), "") or f"Work of {self.loop_id}"
        return _short(f"{self.task_id}: {first}" if self.task_id else first)

    def text(self) -> str:
        said = {"Loop": self.loop_id, "Task": self.task_id, "Proof": self.proof.value, "Receipt": self.receipt}
        trailers = [f"{_OURS}{name}: {_one_line(value)}" for name, value in said.items() if value]
        body = "\n".join(line.rstrip() for line in printable(self.body).strip().splitlines())
        return "\n\n".join(part for part in (self.subject, body, "\n".join(trailers)) if part) + "\n"


class Plain(msgspec.Struct, frozen=True, kw_only=True):
    """The message of a commit that has no work in it, and proves nothing: only how a task ended."""

    about: str
    status: str
    loop_id: str = ""
    task_id: str = ""

    @property
    def subject(self) -> str:
        return _short(self.about)

    def text(self) -> str:
        said = {"Loop": self.loop_id, "Task": self.task_id, "Status": self.status}
        trailers = [f"{_OURS}{name}: {_one_line(value)}" for name, value in said.items() if value]
        return "\n\n".join([self.subject, "\n".join(trailers)]) + "\n"


def made_by(message: str) -> tuple[str, str]:
    """The loop and the task that a commit names, whatever it says about proof; empty where it names none."""
    try:
        found = _found(message)
    except UsageError:
        return "", ""
    return found.get(f"{_OURS}Loop", ""), found.get(f"{_OURS}Task", "")


def read(message: str) -> Trailers | None:
    """What the last paragraph says; None if it claims no proof, an error if it says something twice or not whole."""
    found = _found(message)
    if not found or found.keys() & {f"{_OURS}Status", f"{_OURS}Proof", f"{_OURS}Receipt"} == {f"{_OURS}Status"}:
        return None
    loop, proof, receipt = (found.get(f"{_OURS}{name}", "") for name in ("Loop", "Proof", "Receipt"))
    if not loop or not proof or not re.fullmatch(_RECEIPT, receipt):
        raise UsageError("the commit does not say which loop made it, with which proof and receipt")
    return Trailers(loop_id=loop, proof=proof, receipt=receipt, task_id=found.get(f"{_OURS}Task", ""))


def _found(message: str) -> dict[str, str]:
    last = message.strip().rpartition("\n\n")[2].splitlines()
    pairs = [line.partition(": ") for line in last if line.startswith(_OURS)]
    if not pairs or not all(re.fullmatch(_TRAILER, line) or line[:1].isspace() for line in last):
        return {}
    found = {name: value.strip() for name, _, value in pairs}
    if len(found) != len(pairs):
        raise UsageError("the commit says the same about its loop more than once: nothing of it is believed")
    return found


def _one_line(value: str) -> str:
    return " ".join(printable(value).split())


def _short(words: str) -> str:
    words = _one_line(words)
    return words if len(words) <= SUBJECT_LENGTH else f"{words[: SUBJECT_LENGTH - 3].rstrip()}..."
