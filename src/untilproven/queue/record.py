"""What one run of the queue has used, so that its limits hold although it was killed and begun again."""

from datetime import datetime

import msgspec

from untilproven.core.decide import spent
from untilproven.errors import Damaged, RalphError
from untilproven.model import wire
from untilproven.model.fields import Timestamp
from untilproven.model.wire import Record
from untilproven.store import files, reader
from untilproven.store.layout import Project

_NAME = "run.json"
_BELIEVED = 16 * files.MIB


class Attempt(Record, frozen=True, kw_only=True):
    """A loop that worked on a task in this run, and what it had used before."""

    task_id: str
    loop_id: str
    cost_before: float = 0.0
    seconds_before: float = 0.0
    side_by_side: bool = False


class RunRecord(Record, frozen=True, kw_only=True):
    started_at: Timestamp
    attempts: tuple[Attempt, ...] = ()
    ended: tuple[str, ...] = ()
    """The tasks that came to an end, done or blocked, in their order."""
    seconds: float = 0.0
    """How long several worked side by side; of one after the other their loops know it."""


class Used(msgspec.Struct, frozen=True, kw_only=True):
    seconds: float
    cost_usd: float
    unknown: bool
    """Whether the cost of some iteration could not be seen."""


NOTHING = Used(seconds=0.0, cost_usd=0.0, unknown=False)


class RunBook:
    """The record on the disk: there while a run is under way, gone when it has come to its end."""

    def __init__(self, project: Project, now: datetime) -> None:
        """Go on with the run that was cut off, or begin one."""
        self._project = project
        self._path = project.state.path / _NAME
        self.record = RunRecord(started_at=now)
        try:
            self.record = wire.decode(RunRecord, files.read(self._path, _BELIEVED))
        except FileNotFoundError:
            self._save()
        except wire.UNREADABLE as error:
            raise Damaged(
                f"{self._path} cannot be read, so nobody knows what the last run has used: {error}",
                hint=f"to begin a new run: rm {self._path}",
            ) from error

    @property
    def goes_on(self) -> bool:
        return bool(self.record.attempts)

    def began(self, task_id: str, loop_id: str, before: Used, *, side_by_side: bool) -> None:
        """A loop that takes over from another brings along what that had used."""
        if any(one.loop_id == loop_id for one in self.record.attempts):
            return
        one = Attempt(
            task_id=task_id,
            loop_id=loop_id,
            cost_before=before.cost_usd,
            seconds_before=before.seconds,
            side_by_side=side_by_side,
        )
        self._change(attempts=(*self.record.attempts, one))

    def ended(self, task_id: str) -> None:
        self._change(ended=(*self.record.ended, task_id))

    def passed(self, seconds: float) -> None:
        self._change(seconds=self.record.seconds + seconds)

    def close(self) -> None:
        self._path.unlink(missing_ok=True)

    def used(self) -> Used:
        """By all loops of the run together."""
        found = [(one, self.used_by(one.loop_id)) for one in self.record.attempts]
        worked = sum(max(used.seconds - one.seconds_before, 0.0) for one, used in found if not one.side_by_side)
        return Used(
            seconds=self.record.seconds + worked,
            cost_usd=sum(max(used.cost_usd - one.cost_before, 0.0) for one, used in found),
            unknown=any(used.unknown for _, used in found),
        )

    def used_by(self, loop_id: str) -> Used:
        try:
            known = spent(reader.view(self._project.state, loop_id).state)
        except RalphError:  # a loop that was never made, or is gone
            return NOTHING
        return Used(seconds=known.seconds, cost_usd=known.cost_usd or 0.0, unknown=known.cost_unknown)

    def _change(self, **changes: object) -> None:
        self.record = msgspec.structs.replace(self.record, **changes)
        self._save()

    def _save(self) -> None:
        files.replace(self._path, wire.encode(self.record) + b"\n", durable=True)
