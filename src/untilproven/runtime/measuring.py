"""How things are: types, lint, coverage, size and the user's own numbers, before the work and after each iteration."""

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from untilproven.checks.metrics.instruments import Instrument, find_instruments
from untilproven.checks.metrics.measuring import Measured, as_baseline, measure
from untilproven.contract import Room
from untilproven.model import events
from untilproven.store import clock
from untilproven.store.journal import scan

if TYPE_CHECKING:
    from untilproven.guard.finding import Signal
    from untilproven.runtime.driver import Driver

_SECONDS = 120.0
"""How long all of it may take."""


def run(driver: "Driver", iteration: int) -> None:
    if iteration == 0:
        driver.gauges.baseline = baseline = _measured(driver, driver.cast.workspace.checking(driver.supervision()))
        driver.record(
            events.BaselineCaptured(baseline=as_baseline(baseline, clock.now()), measured=msgspec.to_builtins(baseline))
        )
        return
    gauges = driver.gauges
    gauges.baseline = gauges.baseline or _captured(driver)
    gauges.now = _measured(driver, _as_configured(driver)) if _is_worth_it(driver) else None
    found = _worse(driver, iteration, gauges.baseline, gauges.now) if gauges.baseline and gauges.now else []
    said = msgspec.to_builtins(gauges.now) if gauges.now else {}
    driver.record(*found, events.TreeMeasured(iteration=iteration, measured=said))


def _worse(driver: "Driver", iteration: int, was: Measured, now: Measured) -> list[events.Event]:
    """What got worse, as the guard sees it."""
    from untilproven.checks.metrics.comparing import drops  # noqa: PLC0415  not loaded before the agent's first turn
    from untilproven.guard.judging import weigh  # noqa: PLC0415
    from untilproven.runtime.judging import recorded  # noqa: PLC0415

    signals = drops(was, now, sensitive=driver.course.plan.sensitive)
    signals += _over_intent(driver, signals)
    findings = [recorded(one, allowed=False) for one in weigh(signals, {}, task=driver.cast.task)]
    return [events.GuardFinding(iteration=iteration, finding=one, regression=UNSET) for one in findings]


def _over_intent(driver: "Driver", signals: "list[Signal]") -> "list[Signal]":
    """The checks pass, while the tests cover less and ask less: LP-022."""
    lap = driver.course.lap
    weaker = (
        [one for one in lap.findings if (one.details or {}).get("category") == "assertion_weakening"] if lap else []
    )
    fallen = any(signal.name == "coverage-drop" for signal in signals)
    if not lap or not lap.checks or not weaker or not fallen or not all(check.passed for check in lap.checks.values()):
        return []
    from untilproven.guard.finding import Signal as Seen  # noqa: PLC0415  see above

    return [Seen("metrics-over-intent", ".", 1, "the project", amount=len(weaker))]


def _is_worth_it(driver: "Driver") -> bool:
    """Whether there is anything that may have changed for better or worse."""
    return bool(instruments(driver) or driver.course.plan.metrics or driver.gauges.coverage)


def _measured(driver: "Driver", room: Room) -> Measured:
    plan = driver.course.plan
    lap = driver.course.lap
    checks = lap.checks if lap else driver.course.control
    counted = [check.tests for check in checks.values() if check.tests]
    custom = dict(one.split("=", 1) for one in plan.metrics)
    return measure(
        room,
        instruments(driver),
        custom,
        tests=sum(tests.total or 0 for tests in counted) if counted else None,
        coverage=driver.gauges.coverage,
        timeout=_SECONDS,
    )


def instruments(driver: "Driver") -> tuple[Instrument, ...]:
    """Those that the project used when the loop began: what an agent configures later measures nothing."""
    if driver.gauges.instruments is None:
        driver.gauges.instruments = find_instruments(_at_start(driver))
    return driver.gauges.instruments


def _at_start(driver: "Driver") -> Room:
    workspace = driver.cast.workspace
    return workspace.checking(driver.supervision(), tuple(workspace.since_start()))


def _as_configured(driver: "Driver") -> Room:
    """The agent's work, with dependencies, tests' and tools' configuration as they were."""
    from untilproven.checks.protected import kinds_of  # noqa: PLC0415  see the driver

    workspace = driver.cast.workspace
    kinds = kinds_of(workspace.since_start())
    held = tuple(path for path, kind in kinds.items() if kind in {"configuration", "dependencies", "cache", "mixed"})
    return workspace.checking(driver.supervision(), held)


def _captured(driver: "Driver") -> Measured | None:
    """The baseline, for whoever has taken the loop over."""
    for found in scan(driver.writer.loop.journal, driver.writer.loop.loop_id):
        if isinstance(found, events.Entry) and isinstance(found.event, events.BaselineCaptured):
            return msgspec.convert(found.event.measured, Measured)
    return None
