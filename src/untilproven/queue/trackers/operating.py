"""Doing something at a tracker once, although we may be killed anywhere and answers get lost."""

from collections.abc import Callable
from datetime import datetime
from typing import Literal, TypeVar

import msgspec
from msgspec import UNSET

from untilproven.core.text import cut
from untilproven.model.tracker import Kind, TrackerLine, TrackerOp, TrackerSeen
from untilproven.queue.trackers.contract import TrackerFailed, Unclear
from untilproven.queue.trackers.deciding import Seen, key_of
from untilproven.store import clock
from untilproven.store.lines import Lines

_REASON = 500
_Made = TypeVar("_Made")


class Op(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do; what has the same key was the same thing."""

    task_id: str
    kind: Kind
    fingerprint: str
    tracker: str

    @property
    def key(self) -> str:
        return key_of(self.task_id, self.kind, self.fingerprint)


class Ops:
    """What was done from here, as tracker-ops.jsonl has it."""

    def __init__(self, lines: Lines[TrackerLine], now: clock.Clock = clock.now) -> None:
        self._lines = lines
        self._now = now
        self._last: dict[str, TrackerOp] = {}
        self.seen: dict[str, Seen] = {}
        found = lines.read()
        self.damage = found.damage
        for line in found.records:
            if isinstance(line, TrackerOp):
                self._last[line.key] = line
            else:
                self.seen[line.task_id] = Seen(line.state, line.words, line.ours)

    @property
    def done(self) -> frozenset[str]:
        return frozenset(key for key, op in self._last.items() if op.status == "succeeded")

    def once(self, op: Op, do: Callable[[], _Made], look: Callable[[datetime], _Made | None]) -> _Made:
        """Do it, and write down how that ended. If it may have been done before, look there first."""
        before = self._last.get(op.key)
        if before and before.status != "failed":
            found = look(before.timestamp)
            if found:
                self._write(op, "succeeded")
                return found
        self._write(op, "started")
        try:
            made = do()
        except Unclear as error:
            self._write(op, "failed_unknown", error.message)
            raise
        except TrackerFailed as error:
            self._write(op, "failed", error.message)
            raise
        self._write(op, "succeeded")
        return made

    def remember(self, *now_seen: tuple[str, str, Seen]) -> None:
        """How the issues of these tasks stand: each task's id, its issue's, and what was seen."""
        lines = []
        for task_id, external_id, seen in now_seen:
            if self.seen.get(task_id) != seen:
                self.seen[task_id] = seen
                lines.append(
                    TrackerSeen(
                        task_id=task_id,
                        external_id=external_id,
                        state=seen.state,
                        ours=seen.ours,
                        words=seen.words,
                        timestamp=self._now(),
                    )
                )
        if lines:
            self._lines.append(*lines)

    def _write(
        self, op: Op, status: Literal["started", "succeeded", "failed", "failed_unknown"], reason: str = ""
    ) -> None:
        line = TrackerOp(
            key=op.key,
            task_id=op.task_id,
            tracker=op.tracker,
            op=op.kind,
            status=status,
            timestamp=self._now(),
            reason=cut(reason, _REASON) if reason else UNSET,
        )
        self._lines.append(line)
        self._last[op.key] = line
