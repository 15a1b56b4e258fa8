"""Loop files of earlier tools: which of their shapes is this, and what is it as a state of ours?

What has a place in the state goes there; every other key stays, as it was, under the one extra key `legacy`.
Nothing in such a file tells whether its loop still runs, and this product could not steer it if it did: a loop
that had not ended becomes `paused`, which keeps a slot and waits for its user, and no pid is believed.
"""

import math
import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from untilproven.core import naming
from untilproven.core.beginning import new_state
from untilproven.core.lenient import MOST_MILLISECONDS, Pile, whole
from untilproven.core.text import cut
from untilproven.errors import Damaged, InvalidName
from untilproven.model import wire
from untilproven.model.fields import PauseReason
from untilproven.model.state import LoopConfiguration, LoopMetrics, LoopState
from untilproven.model.status import TERMINAL, Status

KEY = "legacy"
LEFT_OUT = "left_out_paths"
REASON_BYTES = 300
_VERSION = re.compile(r"2\.\d+\.\d+")
_IDS = ("loop_id", "loopId", "id")


class Shape(StrEnum):
    """Who wrote the file."""

    V2 = "v2"
    EXTERNAL = "external"
    AD_HOC = "ad-hoc"
    SYNC = "sync"
    HOOK = "hook"
    MINIMAL = "minimal"


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """What the file itself cannot tell: where it was found, and who takes the loop over."""

    migrated_from: str
    written_at: datetime
    owner: str
    working_directory: str


def recognise(raw: Mapping[str, Any]) -> Shape | None:
    """The shape of a legacy file, most telling keys first; None when it is none that we know."""
    keys = raw.keys()
    version = raw.get("version")
    if "loop_id" in keys and isinstance(version, str) and _VERSION.fullmatch(version):
        return Shape.V2
    if keys >= {"objective", "completionCriteria", "sessionId"}:
        return Shape.EXTERNAL
    if isinstance(raw.get("completion_criteria"), list | str) and "current_iteration" in keys:
        return Shape.AD_HOC
    if keys & {"startTimeMs", "timeoutMs"}:
        return Shape.SYNC
    if "startTimestamp" in keys:
        return Shape.HOOK
    if keys >= {"task", "completion", "maxIterations"}:
        return Shape.MINIMAL
    return None


def known_id(raw: Mapping[str, Any]) -> str | None:
    """The id the loop had, if it may be a file name here."""
    for value in map(raw.get, _IDS):
        if isinstance(value, str):
            try:
                return naming.loop_id(value)
            except InvalidName:
                continue
    return None


def task_of(raw: Mapping[str, Any]) -> str:
    """The words that a new id is made of."""
    return next((raw[key] for key in ("task", "objective") if isinstance(raw.get(key), str)), "")


def convert(raw: Mapping[str, Any], shape: Shape, loop_id: str, origin: Origin, *, at: datetime) -> LoopState:
    """The first state of the loop that carries this one on."""
    if shape is Shape.V2:
        return _from_v2(raw, loop_id, origin)
    return _from_v1(raw, _NAMES[shape], loop_id, origin, at)


_SET_ASIDE = frozenset(
    {
        "process",
        "pid",
        "vouch",
        "started_with",
        "journal_seq",
        "iteration_in_progress",
        "resumed_as",
        "working_directory",
        "migrated_from",
    }
)
"""What another runner's state says about itself and its surroundings: here it would be acted on."""


def _from_v2(raw: Mapping[str, Any], loop_id: str, origin: Origin) -> LoopState:
    """As it is, but for what could be acted on: this state will be vouched for, so keys we do not know go aside."""
    places = frozenset(LoopState.__struct_fields__) - _SET_ASIDE - {"extra"}
    left = {key: value for key, value in raw.items() if key not in places}
    if raw["loop_id"] != loop_id:
        left["loop_id"] = raw["loop_id"]
    try:
        state = wire.from_builtins(LoopState, {key: raw[key] for key in places & raw.keys()} | {"loop_id": loop_id})
    except wire.UNREADABLE as error:
        raise Damaged(f"it says it is version {raw['version']}, but is not valid: {error}") from error
    configuration = state.configuration
    if configuration and configuration.extra:
        left["configuration"] = configuration.extra
        configuration = replace(configuration, extra=UNSET)
    state = replace(
        state,
        configuration=configuration,
        working_directory=origin.working_directory,
        owner=state.owner or origin.owner,
        migrated_from=origin.migrated_from,
        extra={KEY: left},
    )
    if state.status in TERMINAL:
        return replace(state, completed_at=state.completed_at or origin.written_at)
    if state.status is Status.PAUSED:
        return replace(state, pause_reason=state.pause_reason or PauseReason.USER)
    return replace(state, status=Status.PAUSED, pause_reason=PauseReason.USER, reason=_reason(state.status))


class _Names(msgspec.Struct, frozen=True, kw_only=True):
    """What one shape calls the things that have a place in a state, and the limits its tool set by itself."""

    task: str = "task"
    criteria: str
    allowed: str = "maxIterations"
    allowed_by_default: int
    current: str = "currentIteration"
    counts_unfinished: bool = False
    started: tuple[str, ...] = ("startTime",)
    ended: tuple[str, ...]
    timeout_by_default: int | None = None
    """None where there is no timeout for the whole loop."""


_HOOK = _Names(
    criteria="completion",
    allowed_by_default=10,
    started=("startTime", "startTimestamp", "startTimeMs"),
    ended=("endTime", "endTimestamp"),
    timeout_by_default=60,
)
_NAMES = {
    Shape.HOOK: _HOOK,
    Shape.SYNC: _HOOK,
    Shape.MINIMAL: _HOOK,
    Shape.EXTERNAL: _Names(
        task="objective",
        criteria="completionCriteria",
        allowed_by_default=5,
        counts_unfinished=True,
        ended=("lastUpdate",),
    ),
    Shape.AD_HOC: _Names(
        criteria="completion_criteria",
        allowed="max_iterations",
        allowed_by_default=200,
        current="current_iteration",
        started=("started_at",),
        ended=("completed_at",),
    ),
}

_WORDS = {
    "running": Status.PAUSED,
    "in_progress": Status.PAUSED,
    "recovering": Status.PAUSED,
    "interrupted": Status.PAUSED,
    "paused": Status.PAUSED,
    "completing": Status.PAUSED,
    "success": Status.COMPLETED,
    "completed": Status.COMPLETED,
    "aborted": Status.ABORTED,
    "crashed": Status.CRASHED,
}
"""Every other word says why the loop failed: max_iterations, timeout, budget_exhausted, or free text."""


def _from_v1(raw: Mapping[str, Any], names: _Names, loop_id: str, origin: Origin, at: datetime) -> LoopState:
    pile = Pile({key: value for key, value in raw.items() if key not in _IDS or value != loop_id})
    status, reason = _status(raw)
    iteration = _finished_iterations(pile, names, status)
    state = new_state(
        loop_id,
        task="",
        completion_criteria=pile.lines(names.criteria),
        configuration=LoopConfiguration(
            max_iterations=pile.number(names.allowed, least=1) or names.allowed_by_default,
            timeout_minutes=_timeout(pile, names),
        ),
        owner=origin.owner,
        working_directory=origin.working_directory,
        process=UNSET,
        at=at,
    )
    ended = status in TERMINAL
    return replace(
        state,
        status=status,
        reason=reason,
        pause_reason=UNSET if ended else PauseReason.USER,
        iteration=iteration,
        task=pile.text(names.task),
        started_at=pile.moment(*names.started),
        completed_at=(pile.moment(*names.ended) or origin.written_at) if ended else UNSET,
        metrics=_metrics(raw, iteration),
        last_checkpoint=pile.text("last_checkpoint", "lastCheckpoint"),
        migrated_from=origin.migrated_from,
        extra={KEY: pile.left},
    )


def _status(raw: Mapping[str, Any]) -> tuple[Status, str]:
    """What becomes of it, and what it was; a file without a status may still tell that the loop is over."""
    final = raw.get("finalResult")
    why = final.get("reason") if isinstance(final, dict) else None
    word = raw.get("status")
    if isinstance(word, str) and word.strip():
        was = word.strip()
        return _WORDS.get(was.lower(), Status.FAILED), _reason(was, why if why != was else None)
    if raw.get("completed") is True:
        return Status.COMPLETED, _reason("completed", why)
    if raw.get("active") is False:
        return Status.FAILED, _reason("no longer active", why)
    return Status.PAUSED, _reason("not ended", why)


def _reason(was: str, why: object = None) -> str:
    text = f"migrated; was {was}" + (f": {why}" if isinstance(why, str) and why else "")
    return cut(text, REASON_BYTES)


def _finished_iterations(pile: Pile, names: _Names, status: Status) -> int:
    """How many iterations were finished; one that was in progress is not carried over."""
    current = whole(pile.left.get(names.current), least=0)
    listed = pile.left.get("iterations")
    recorded = len(listed) if isinstance(listed, list) else 0
    finished = recorded
    if current is not None and not names.counts_unfinished:
        finished = max(current, recorded)
    elif current is not None and not recorded:
        finished = current if status is Status.COMPLETED else max(current - 1, 0)
    if finished == current:
        del pile.left[names.current]
    return finished


def _timeout(pile: Pile, names: _Names) -> int | UnsetType:
    if names.timeout_by_default is None:
        return UNSET
    minutes = pile.number("timeoutMinutes", least=1)
    if minutes is not None:
        return minutes
    milliseconds = pile.number("timeoutMs", least=1, most=MOST_MILLISECONDS)
    return names.timeout_by_default if milliseconds is None else math.ceil(milliseconds / 60_000)


def _metrics(raw: Mapping[str, Any], iteration: int) -> LoopMetrics:
    """Nobody reported what those iterations cost, so their cost is unknown and not zero."""
    if not iteration:
        return LoopMetrics(total_iterations=0)
    metrics = LoopMetrics(total_iterations=iteration, unknown_cost_iterations=iteration)
    took = _milliseconds(raw, iteration)
    if took is None:
        return metrics
    return replace(
        metrics, total_duration_seconds=round(took / 1000), average_iteration_time_seconds=took / 1000 / iteration
    )


def _milliseconds(raw: Mapping[str, Any], iteration: int) -> int | None:
    """The sum over all iterations if each one's time is known, else what the file says of the whole."""
    listed = raw.get("iterations")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    times = [entry.get("duration_ms", entry.get("duration")) for entry in entries]
    known = [took for took in (whole(time, least=0, most=MOST_MILLISECONDS) for time in times) if took is not None]
    if len(known) == iteration:
        return sum(known)
    return whole(raw.get("totalDuration_ms"), least=0, most=MOST_MILLISECONDS)


def paths_in(state: LoopState) -> list[str]:
    """Every checkpoint and snapshot that this state names, each once."""
    best = state.best_iteration.snapshot_path if state.best_iteration else UNSET
    history = [entry.snapshot_path for entry in state.iteration_history or ()]
    return list(dict.fromkeys(path for path in (state.last_checkpoint, best, *history) if path))


def relocated(state: LoopState, moved: Mapping[str, str]) -> LoopState:
    """The state with its paths where the files are now; a path that leads nowhere is kept only under `legacy`."""

    def now(path: str | UnsetType) -> str | UnsetType:
        return moved.get(path, UNSET) if path else UNSET

    left_out = [path for path in paths_in(state) if path not in moved]
    best, history, extra = state.best_iteration, state.iteration_history, state.extra or {}
    return replace(
        state,
        last_checkpoint=now(state.last_checkpoint),
        best_iteration=replace(best, snapshot_path=now(best.snapshot_path)) if best else best,
        iteration_history=tuple(replace(entry, snapshot_path=now(entry.snapshot_path)) for entry in history)
        if history
        else history,
        extra=extra | {KEY: extra.get(KEY, {}) | {LEFT_OUT: left_out}} if left_out else extra,
    )
