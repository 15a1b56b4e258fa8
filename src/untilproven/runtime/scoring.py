"""What an iteration amounts to: its score, its line in the history, and whether it is the best so far."""

from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from untilproven.checks.metrics.measuring import as_snapshot
from untilproven.core import quality
from untilproven.core.course import Course, Lap
from untilproven.model import events
from untilproven.model.iteration import Fate
from untilproven.model.persistence import Artifact, BestIteration, IterationEntry, TestResults
from untilproven.runtime.gauges import Gauges
from untilproven.store import clock

if TYPE_CHECKING:
    from untilproven.runtime.driver import Driver

_LISTED = 20
"""How many changed files the history names; the iteration's own record has them all."""


def scored(driver: "Driver", finished: events.IterationFinished) -> tuple[events.Event, ...]:
    """The end of an iteration, preceded by its score if there is evidence for one."""
    course, lap = driver.course, driver.course.lap
    if lap is None or finished.fate is not Fate.KEPT or not finished.counted:
        return (finished,)
    found = quality.score(_evidence(driver, lap, finished))
    if found is None:
        return (finished,)
    score, breakdown = found
    entry = IterationEntry(
        iteration=finished.iteration,
        timestamp=clock.now(),
        quality_score=score,
        quality_delta=round(score - course.scores[-1].score, 1) if course.scores else 0.0,
        quality_breakdown=breakdown,
        artifacts=tuple(
            Artifact(path=change.path, hash=change.hash, size_bytes=change.size_bytes)
            for change in driver.changes[:_LISTED]
            if change.change != "deleted"
        ),
        snapshot_path=_record_of(driver, finished.iteration),
        test_results=_tests(lap),
        metrics_snapshot=as_snapshot(driver.gauges.now) if driver.gauges.now else UNSET,
        regression_detected=any(check.lost for check in lap.checks.values()),
        recovery_attempted=bool(course.refusals),
    )
    best = _best(course, quality.Scored(finished.iteration, score, clean=not lap.findings), entry)
    return events.QualityScored(iteration=finished.iteration, score=score, breakdown=breakdown), replace(
        finished, entry=entry, best=best or UNSET
    )


def _evidence(driver: "Driver", lap: Lap, finished: events.IterationFinished) -> quality.Evidence:
    course = driver.course
    return quality.Evidence(
        checks=lap.checks,
        wanted=tuple(check.line for check in course.plan.checks if check.role == "until"),
        control=course.control,
        findings=lap.findings if lap.judged else None,
        files=len(driver.changes),
        problems=_problems(driver.gauges),
        new_warnings=_more(driver.gauges),
        progressed=finished.progressed,
    )


def _problems(gauges: Gauges) -> tuple[tuple[int, int], ...]:
    was, now = gauges.baseline, gauges.now
    if was is None or now is None:
        return ()
    pairs = ((was.type_errors, now.type_errors), (was.lint_errors, now.lint_errors))
    return tuple((before, after) for before, after in pairs if before is not None and after is not None)


def _more(gauges: Gauges) -> int | None:
    was, now = gauges.baseline, gauges.now
    if was is None or now is None or was.lint_warnings is None or now.lint_warnings is None:
        return None
    return now.lint_warnings - was.lint_warnings


def _best(course: Course, new: quality.Scored, entry: IterationEntry) -> BestIteration | None:
    """None if an earlier one stays the best."""
    if quality.best((*course.scores, new)) is not new:
        return None
    enough = "" if new.score >= quality.ACCEPTABLE else f"; none has reached {quality.ACCEPTABLE} yet"
    return BestIteration(
        iteration=new.iteration,
        quality_score=new.score,
        snapshot_path=entry.snapshot_path,
        updated_at=entry.timestamp,
        selection_reason=f"Highest quality score ({new.score:g}%){enough}",
    )


def _tests(lap: Lap) -> TestResults | UnsetType:
    counted = [check.tests for check in lap.checks.values() if check.tests]
    return counted[0] if counted else UNSET


def _record_of(driver: "Driver", number: int) -> str:
    path, home = driver.writer.loop.iteration(number), driver.cast.project.state.home
    return str(path).removeprefix(f"{home}/")
