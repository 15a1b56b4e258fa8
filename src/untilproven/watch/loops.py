"""What a person wants to know of the loops: one line each, or all about one."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from untilproven.core.stale import Liveness
from untilproven.core.text import text
from untilproven.errors import RalphError
from untilproven.model import wire
from untilproven.model.registry import ActiveLoop
from untilproven.model.state import LoopConfiguration, LoopMetrics, LoopState, ProgressTracking
from untilproven.model.status import HAS_PROCESS, Status
from untilproven.store import clock, reader
from untilproven.store.layout import StateDirectory
from untilproven.store.lock import undisturbed
from untilproven.store.registry import read_registry

HEAD = ("LOOP", "STATUS", "ITERATION", "LAST SEEN", "PROCESS", "TASK")
_TASK_SHOWN = 60
_CLOCK_SLACK = 60


class Row(msgspec.Struct, frozen=True):
    """One loop in the table. `registered` says whether it takes a slot."""

    view: reader.LoopView
    entry: ActiveLoop | None

    @property
    def registered(self) -> bool:
        return self.entry is not None and not self.view.foreign

    def cells(self) -> tuple[str, ...]:
        state = self.view.state
        allowed = (state.configuration or LoopConfiguration()).max_iterations
        seen = (self.entry.last_active if self.entry else UNSET) or state.last_updated
        return (
            state.loop_id,
            describe_status(self.view),
            f"{state.iteration}/{allowed}",
            ago(seen),
            describe_process(self.view),
            one_line(state.task or ""),
        )

    def as_json(self) -> dict[str, Any]:
        state = self.view.state
        summary: dict[str, Any] = {
            "loop_id": state.loop_id,
            "status": state.status,
            "iteration": state.iteration,
            "task": state.task,
            "started_at": state.started_at,
            "last_active": (self.entry.last_active if self.entry else UNSET) or state.last_updated,
            "completed_at": state.completed_at,
            "pid": state.pid,
            "process": self.view.liveness,
            "registered": self.registered,
            "foreign": self.view.foreign,
            "directory": text(str(self.view.directory.path)),
            "max_iterations": (state.configuration or LoopConfiguration()).max_iterations,
            "pause_reason": state.pause_reason,
            "resumed_as": state.resumed_as,
        }
        return {key: value for key, value in summary.items() if value is not UNSET}


class Overview(msgspec.Struct, frozen=True):
    rows: tuple[Row, ...]
    damage: tuple[str, ...]
    slots_used: int


class Detail(msgspec.Struct, frozen=True):
    """All about one loop; `asked` is the id that led here."""

    row: Row
    asked: str

    @property
    def damage(self) -> tuple[str, ...]:
        return self.row.view.damage

    def as_json(self) -> dict[str, Any]:
        return {
            **self.row.as_json(),
            "asked": self.asked,
            "source": self.row.view.source,
            "damage": list(self.damage),
            "state": wire.to_builtins(self.row.view.state),
        }

    def lines(self) -> list[tuple[str, str]]:
        view, state = self.row.view, self.row.view.state
        shown = [
            ("loop", state.loop_id),
            ("task", state.task or "(none recorded)"),
            ("status", describe_status(view)),
            ("iteration", f"{state.iteration} of {(state.configuration or LoopConfiguration()).max_iterations}"),
            ("process", describe_process(view)),
            ("started", moment(state.started_at)),
            ("last seen", moment(state.last_updated)),
            *_history(state),
            *_money(state.metrics or LoopMetrics()),
            ("directory", str(view.directory.path)),
        ]
        if self.asked != state.loop_id:
            shown.insert(1, ("continues", self.asked))
        if view.foreign:
            shown.append(
                ("foreign", "not started by you on this machine, in this directory: nothing in it is acted on")
            )
        return shown


def _history(state: LoopState) -> list[tuple[str, str]]:
    shown = []
    check = (state.progress or ProgressTracking()).last_completion_check
    if check:
        verdict = "passed" if check.passed else "failed"
        shown.append(("last check", f"{check.check or 'completion'} {verdict}, iteration {check.iteration or '?'}"))
    if state.best_iteration and state.best_iteration.iteration:
        score = state.best_iteration.quality_score
        shown.append(("best", f"iteration {state.best_iteration.iteration}" + (f", score {score:g}" if score else "")))
    if state.error_context and state.error_context.error_message:
        shown.append(("error", state.error_context.error_message))
    if state.last_checkpoint:
        shown.append(("checkpoint", state.last_checkpoint))
    return shown


def _money(metrics: LoopMetrics) -> list[tuple[str, str]]:
    """What was spent, as far as anybody reported it."""
    unknown = metrics.unknown_cost_iterations or 0
    cost = "unknown" if metrics.total_cost_usd is UNSET else f"${metrics.total_cost_usd:.4f}"
    if unknown and metrics.total_cost_usd is not UNSET:
        cost += f" and {unknown} iterations of unknown cost"
    tokens = "unknown" if metrics.total_tokens is UNSET else f"{metrics.total_tokens:,}"
    return [("spent", f"{cost}; {tokens} tokens")]


def overview(directory: StateDirectory, *, every: bool) -> Overview:
    """The registered loops; with `every`, also those that ended, were archived, or are not registered."""
    if not directory.exists():
        return Overview((), (), 0)
    found = _overview(directory, every=every)
    if found.damage:
        # Perhaps somebody was just making or moving a loop: look again while nobody does.
        with undisturbed(directory.registry_lock, timeout=2.0):
            return _overview(directory, every=every)
    return found


def _overview(directory: StateDirectory, *, every: bool) -> Overview:
    found = read_registry(directory)
    entries = {entry.loop_id: entry for entry in found.registry.active_loops}
    names = list(entries)
    if every:
        names += [loop.loop_id for loop in directory.all_loops(archived=True) if loop.loop_id not in entries]
    rows, damage = [], list(found.damage)
    for name in names:
        try:
            row = Row(reader.view(directory, name), entries.get(name))
        except RalphError as error:
            damage.append(error.message)
            continue
        damage.extend(f"{name}: {line}" for line in row.view.damage)
        rows.append(row)
    return Overview(tuple(rows), tuple(damage), sum(row.registered for row in rows))


def one(directory: StateDirectory, loop_id: str, *, exact: bool = False) -> Detail:
    """A loop, or the one that took over from it; `exact` is that very one, to look back at."""
    directory.exists()
    view = reader.view(directory, loop_id) if exact else reader.resolve(directory, loop_id)
    entries = {entry.loop_id: entry for entry in read_registry(directory).registry.active_loops}
    return Detail(Row(view, entries.get(view.state.loop_id)), loop_id)


def describe_status(view: reader.LoopView) -> str:
    state = view.state
    if view.foreign:
        return f"{state.status} (foreign)"
    if state.status is Status.PAUSED and state.pause_reason:
        return f"paused ({state.pause_reason})"
    return str(state.status)


def describe_process(view: reader.LoopView) -> str:
    if view.state.status not in HAS_PROCESS:
        return "-"
    pid = f"{view.state.pid} " if view.state.pid else ""
    return f"{pid}{'cannot be seen from here' if view.liveness is Liveness.UNKNOWN else view.liveness}"


def one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _TASK_SHOWN else flat[: _TASK_SHOWN - 3] + "..."


def moment(at: datetime | UnsetType) -> str:
    return f"{at.astimezone(clock.UTC):%Y-%m-%d %H:%M:%S} UTC ({ago(at)})" if at else "unknown"


def ago(at: datetime | UnsetType) -> str:
    if not at:
        return "unknown"
    seconds = int((clock.now() - at).total_seconds())
    if seconds < -_CLOCK_SLACK:
        return "in the future"
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit} ago"
    return f"{max(seconds, 0)}s ago"
