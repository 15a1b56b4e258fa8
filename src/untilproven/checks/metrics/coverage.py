"""Coverage, from the report that a run of the tests has left in the tree."""

import os
from collections.abc import Callable
from pathlib import PurePosixPath

import msgspec

from untilproven.checks.metrics.names import Names
from untilproven.checks.metrics.readers import cobertura, coverage_py, gocover, istanbul, jacoco, lcov
from untilproven.checks.metrics.readers.counted import Counted, total
from untilproven.checks.metrics.unmeasured import Unmeasured, because
from untilproven.checks.reports.results import Unreadable
from untilproven.contract import Room
from untilproven.store.files import READ_LIMIT

_CLOCK = 0.02
"""A file system's clock ticks this much later than the one we read, at most."""

_PLACES: tuple[tuple[str, Callable[[bytes], Counted]], ...] = (
    ("coverage.json", coverage_py.read),
    ("coverage.xml", cobertura.read),
    ("cobertura.xml", cobertura.read),
    ("cobertura-coverage.xml", cobertura.read),
    ("coverage/coverage-summary.json", istanbul.summary),
    ("coverage/coverage-final.json", istanbul.final),
    ("coverage/cobertura-coverage.xml", cobertura.read),
    ("coverage/coverage.xml", cobertura.read),
    ("coverage/lcov.info", lcov.read),
    ("lcov.info", lcov.read),
    ("coverage.lcov", lcov.read),
    ("coverage.out", gocover.read),
    ("cover.out", gocover.read),
    ("c.out", gocover.read),
    ("coverage.txt", gocover.read),
    ("target/site/jacoco-aggregate/jacoco.xml", jacoco.read),
    ("target/site/jacoco/jacoco.xml", jacoco.read),
    ("build/reports/jacoco/test/jacocoTestReport.xml", jacoco.read),
    ("*/target/site/jacoco/jacoco.xml", jacoco.read),
    ("*/build/reports/jacoco/test/jacocoTestReport.xml", jacoco.read),
    ("TestResults/*/coverage.cobertura.xml", cobertura.read),
    ("*/TestResults/*/coverage.cobertura.xml", cobertura.read),
)
"""Where tools put their reports unless they are told otherwise. The first that is there and new is read; where a
pattern finds several, each is of a part of the project."""


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """In percent. Lines, or statements where a tool counts only those."""

    lines: float
    branches: float | None
    """None if the tool did not look at branches."""
    by_file: dict[str, float]
    """By paths from the project's root on."""
    tool: str


def find_coverage(room: Room, since: float) -> Coverage | Unmeasured:
    """`since` is when the run began: a report that is older says nothing about this tree."""
    why = ""
    for pattern, read in _PLACES:
        paths = room.find(pattern) if "*" in pattern else [PurePosixPath(pattern)]
        there = {path: found for path in paths if (found := room.look(path))}
        old = [path for path, found in there.items() if _is_old(found, since)]
        if old:
            why = why or _too_old(old, len(there))
        elif there:
            try:
                return _coverage(room, {path: _read(room, path, read) for path in there})
            except Unreadable as unreadable:
                why = why or str(unreadable)
    return because(why or "the tests left no coverage report in a place that is known")


def _is_old(found: os.stat_result, since: float) -> bool:
    """By both clocks: the time of a change cannot be set, the time of writing can."""
    return min(found.st_mtime, found.st_ctime) < since - _CLOCK


def _too_old(old: list[PurePosixPath], there: int) -> str:
    if len(old) < there:
        return f"{len(old)} of {there} coverage reports are older than the run, {old[0]} for one"
    return f"{old[0]} is older than the run"


def _read(room: Room, path: PurePosixPath, read: Callable[[bytes], Counted]) -> Counted:
    report = room.read(path, READ_LIMIT)
    if report is None:
        raise Unreadable(f"{path} has more than {READ_LIMIT} bytes, or cannot be read")
    try:
        return read(report)
    except Unreadable as unreadable:
        raise Unreadable(f"{path}: {unreadable}") from unreadable


def _coverage(room: Room, reports: dict[PurePosixPath, Counted]) -> Coverage:
    lines = total(report.lines for report in reports.values())
    if not lines.valid:
        raise Unreadable(f"{next(iter(reports))}: no line was looked at")
    branches = [report.branches for report in reports.values() if report.branches]
    by_file: dict[str, float] = {}
    for path, report in reports.items():
        names = Names(room, path, report)
        for name, share in report.files.items():
            if share.valid and (inside := names.path_of(name)):
                by_file[inside] = share.percent
    return Coverage(
        lines=lines.percent,
        branches=total(branches).percent if branches else None,
        by_file=by_file,
        tool=next(iter(reports.values())).tool,
    )
