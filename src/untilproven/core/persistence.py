"""Source 003's state update protocol, and the shallow merge it prescribes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from untilproven.model.persistence import (
    BaselineMetrics,
    BestIteration,
    IterationEntry,
    RegressionEvent,
    Reinforcement,
    ReinforcementChange,
)
from untilproven.model.plan import Plan
from untilproven.model.state import LoopMetrics, LoopState, Totals

KEPT_ENTRIES = 200
"""How many of the newest entries of each list stay in state.json; the rest is in the journal."""

INITIALIZED = "Loop initialization"
"""Why there is a first level, in the source's words."""


def shallow_merge(base: Mapping[str, Any], extension: Mapping[str, Any]) -> dict[str, Any]:
    """Every key of the extension replaces the base's whole; nothing is merged deeper."""
    return {**base, **extension}


def appended(state: LoopState, name: str, item: object) -> LoopState:
    """Add to one of the capped lists and count it."""
    entries: tuple[object, ...] | UnsetType = getattr(state, name)
    entries = entries or ()
    totals = state.totals or Totals()
    total = max(getattr(totals, name), len(entries)) + 1
    return replace(
        state,
        **{name: (*entries, item)[-KEPT_ENTRIES:]},
        totals=replace(totals, **{name: total}),
    )


def on_loop_start(state: LoopState, baseline: BaselineMetrics, at: datetime) -> LoopState:
    state = replace(
        state,
        baseline_metrics=baseline,
        detection_enabled=True,
        iteration_history=state.iteration_history or (),
        regression_events=state.regression_events or (),
    )
    level = (fixed_level(state.plan) if state.plan else None) or Reinforcement.MINIMAL
    return reinforced(state, level, INITIALIZED, iteration=1, at=at)


def on_iteration_complete(
    state: LoopState, entry: IterationEntry | UnsetType, best: BestIteration | UnsetType
) -> LoopState:
    """`metrics.total_iterations` is raised here and nowhere else, so no iteration counts twice."""
    if entry:
        state = appended(state, "iteration_history", entry)
    metrics = state.metrics or LoopMetrics()
    return replace(
        state,
        best_iteration=best or state.best_iteration,
        metrics=replace(metrics, total_iterations=(metrics.total_iterations or 0) + 1),
    )


def on_regression_detected(state: LoopState, regression: RegressionEvent) -> LoopState:
    """The source counts an attempt for every regression, whether or not recovery is then skipped."""
    state = appended(state, "regression_events", regression)
    return replace(state, recovery_attempts=(state.recovery_attempts or 0) + 1)


def on_loop_complete(state: LoopState) -> LoopState:
    """Detection ends with the loop, however it ends; the best iteration is as recorded."""
    if state.detection_enabled is UNSET:
        return state
    return replace(state, detection_enabled=False)


def fixed_level(plan: Plan) -> Reinforcement | None:
    """The level that the user wants throughout; None if it follows the loop."""
    return None if plan.reinforcement == "adaptive" else Reinforcement(plan.reinforcement.upper())


def reinforced(state: LoopState, level: Reinforcement, reason: str, *, iteration: int, at: datetime) -> LoopState:
    """Change the level and say why; asking for the level in force changes nothing."""
    current = state.reinforcement_level or Reinforcement.OFF
    if level is current:
        return replace(state, reinforcement_level=level)
    change = ReinforcementChange(
        timestamp=at, iteration=iteration, from_level=current.value, to_level=level.value, reason=reason
    )
    return replace(appended(state, "reinforcement_history", change), reinforcement_level=level)
