"""What a person said of findings: right or wrong, for a while. It lies where no agent can reach it."""

import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from untilproven.guard.finding import Finding, Severity
from untilproven.model.iteration import FALSE_POSITIVE
from untilproven.store import files
from untilproven.store.vouch import user_state

VALID = timedelta(days=90)
_LARGEST = 4 * files.MIB

Verdict = Literal["false_positive", "confirmed"]


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    finding: str
    verdict: Verdict
    why: str
    at: datetime
    until: datetime


class Marks:
    """Of one project."""

    def __init__(self, root: Path) -> None:
        self._path = _place_of(root, user_state())

    def add(self, finding: str, verdict: Verdict, why: str, now: datetime) -> Mark:
        mark = Mark(finding, verdict, why, now, now + VALID)
        with files.explained(self._path):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with files.append_to(self._path) as file:
                files.write_all(file.fileno(), msgspec.json.encode(mark) + b"\n")
        return mark

    def valid(self, now: datetime) -> dict[str, Mark]:
        """The last word on each finding, as long as it holds."""
        try:
            lines = files.read(self._path, _LARGEST).splitlines()
        except FileNotFoundError:
            return {}
        marks = (msgspec.json.decode(line, type=Mark) for line in lines if line.strip())
        return {mark.finding: mark for mark in marks if mark.until > now}


@lru_cache(maxsize=8)
def _place_of(root: Path, state: Path) -> Path:
    name = sha256(os.fsencode(root.resolve())).hexdigest()[:24]
    return state / "marks" / f"{name}.jsonl"


def marked(findings: Iterable[Finding], marks: dict[str, Mark]) -> tuple[Finding, ...]:
    """A finding that was called wrong is a note; it stays on the record."""
    return tuple(
        msgspec.structs.replace(one, severity=Severity.LOW, explained=(*one.explained, FALSE_POSITIVE))
        if (mark := marks.get(one.id)) and mark.verdict == "false_positive"
        else one
        for one in findings
    )
