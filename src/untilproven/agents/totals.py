"""Sums over a session, turned into what one run used."""

import contextlib
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from untilproven.agents.spending import SUMS
from untilproven.errors import RalphError
from untilproven.model.iteration import Usage
from untilproven.model.wire import UNREADABLE
from untilproven.store import files

_ROUNDING = 1e-9


def since(before: Usage, now: Usage) -> Usage:
    """What was used between two reports of sums. A sum that falls is no sum: what was used is unknown then."""
    told: dict[str, Any] = {}
    for name in SUMS:
        if (sum_now := getattr(now, name)) is not UNSET:
            told[name] = sum_now - (getattr(before, name) or 0)
    if any(value < -_ROUNDING for value in told.values()):
        return Usage(agent=now.agent, model=now.model)
    if "cost_usd" in told:
        told["cost_usd"] = round(max(told["cost_usd"], 0.0), 9)
        told["cost_source"] = now.cost_source
    return Usage(**told, agent=now.agent, model=now.model)


def _told(usage: Usage) -> bool:
    return any(getattr(usage, name) is not UNSET for name in SUMS)


class Totals:
    """What has been counted of each session, beside the agent's directory, where it cannot come."""

    def __init__(self, beside: Path) -> None:
        self._path = beside / "totals.json"

    def knows(self, session: str) -> bool:
        """Whether the session is one that was begun, or gone on with, here."""
        return session in self._read()

    def of(self, session: str) -> Usage:
        return self._read().get(session, Usage()) if session else Usage()

    def keep(self, session: str, sums: Usage) -> None:
        """Only the last session is ever gone on with; none if the last run began none. Where this run told no sums, or
        less than the one before, the earlier ones still hold: what it used is in the next."""
        if not _told(sums) or not _told(since(self.of(session), sums)):
            sums = self.of(session)
        files.replace(self._path, msgspec.json.encode({session: sums} if session else {}), durable=False)

    def _read(self) -> dict[str, Usage]:
        with contextlib.suppress(OSError, RalphError, *UNREADABLE):
            return msgspec.json.decode(files.read(self._path), type=dict[str, Usage])
        return {}
