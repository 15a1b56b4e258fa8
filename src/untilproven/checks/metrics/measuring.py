"""Measuring a tree, and writing down what was measured in the words of source 003."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from untilproven.checks.metrics import instruments as asked
from untilproven.checks.metrics.instruments import Instrument
from untilproven.checks.metrics.size import Size, size_of
from untilproven.checks.metrics.tools.tool import Counts, Kind
from untilproven.checks.metrics.unmeasured import Unmeasured
from untilproven.contract import Exchange, Room
from untilproven.model.persistence import BaselineMetrics, MetricsSnapshot

if TYPE_CHECKING:
    # Measuring comes before the agent's first turn; what reads reports of coverage does not.
    from untilproven.checks.metrics.coverage import Coverage

T = TypeVar("T")
_TAKEN = frozenset({"unmeasured", "why_unmeasured", "type_errors", "branch_coverage"})
"""Names beside the user's own."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """None for what could not be had; `unmeasured` says why, as `name: why`."""

    test_count: int | None = None
    coverage: float | None = None
    branch_coverage: float | None = None
    coverage_by_file: dict[str, float] = {}
    coverage_tool: str = ""
    type_errors: int | None = None
    typescript_errors: int | None = None
    """Those of the type errors that tsc found."""
    lint_errors: int | None = None
    lint_warnings: int | None = None
    file_count: int | None = None
    lines_of_code: int | None = None
    custom: dict[str, float] = {}
    unmeasured: tuple[str, ...] = ()


def measure(
    room: Room,
    instruments: Sequence[Instrument],
    custom: Mapping[str, str],
    *,
    tests: int | None,
    coverage: "Coverage | Unmeasured | None",
    timeout: float,
) -> Measured:
    """What tests and coverage were is known from the run of the checks. Each thing that is run here may take its share
    of the time that is left; whoever is quick leaves more to the others."""
    clock = _Shares(timeout, 1 + len(instruments) + len(custom))
    with room.scratch() as scratch:
        size = size_of(room, scratch, timeout=clock.next())
        counts = {one: asked.take(one, room, scratch, timeout=clock.next()) for one in instruments}
        own = {
            name: Unmeasured("the name is taken") if name in _TAKEN else _custom(line, room, scratch, clock.next())
            for name, line in custom.items()
        }
    return _measured(size, counts, own, tests, coverage)


def _custom(line: str, room: Room, scratch: Exchange, timeout: float) -> float | Unmeasured:
    from untilproven.checks.metrics import custom  # noqa: PLC0415  few users have numbers of their own

    return custom.take(line, room, scratch, timeout=timeout)


class _Shares:
    def __init__(self, timeout: float, things: int) -> None:
        self._end = time.monotonic() + timeout
        self._left = things

    def next(self) -> float:
        """Never nothing: a program that is given no time is ended as soon as it is seen to run."""
        share = (self._end - time.monotonic()) / max(self._left, 1)
        self._left -= 1
        return max(share, 0.1)


def _measured(
    size: Size,
    counts: Mapping[Instrument, Counts | Unmeasured],
    own: Mapping[str, float | Unmeasured],
    tests: int | None,
    coverage: "Coverage | Unmeasured | None",
) -> Measured:
    missing: list[str] = []

    def had(name: str, value: T | Unmeasured | None, why: str = "") -> T | None:
        if value is None or isinstance(value, Unmeasured):
            missing.append(f"{name}: {why if value is None else value.why}")
            return None
        return value

    found = had("coverage_percentage", coverage, "no run of the tests has left a coverage report")
    types = had("type_errors", _of_kind("types", counts), "no type checker that the project uses was found")
    linted = _of_kind("lint", counts)
    lint, _ = (
        had(name, linted, "no linter that the project uses was found") for name in ("lint_errors", "lint_warnings")
    )
    tsc = next((one for instrument, one in counts.items() if instrument.name == "tsc"), None)
    custom = {name: number for name, value in own.items() if (number := had(name, value)) is not None}
    return Measured(
        test_count=had("test_count", tests, "no check tells its tests apart"),
        coverage=found.lines if found else None,
        branch_coverage=had("branch_coverage", found.branches, "the coverage report has none") if found else None,
        coverage_by_file=found.by_file if found else {},
        coverage_tool=found.tool if found else "",
        type_errors=types.errors if types else None,
        typescript_errors=tsc.errors if isinstance(tsc, Counts) else None,
        lint_errors=lint.errors if lint else None,
        lint_warnings=lint.warnings if lint else None,
        file_count=had("file_count", size.files),
        lines_of_code=had("lines_of_code", size.lines),
        custom=custom,
        unmeasured=tuple(missing),
    )


def _of_kind(kind: Kind, counts: Mapping[Instrument, Counts | Unmeasured]) -> Counts | Unmeasured | None:
    """All of them together; a sum that lacks a part would look like an improvement."""
    found = [one for instrument, one in counts.items() if instrument.kind == kind]
    failed = [one for one in found if isinstance(one, Unmeasured)]
    if failed:
        return Unmeasured("; ".join(one.why for one in failed))
    known = [one for one in found if isinstance(one, Counts)]
    return Counts(sum(one.errors for one in known), sum(one.warnings for one in known)) if known else None


def as_baseline(measured: Measured, at: datetime) -> BaselineMetrics:
    """The source requires two numbers: one that could not be had is 0 and is named as unmeasured."""
    reasons = dict(one.split(": ", 1) for one in measured.unmeasured)
    others = {"type_errors": measured.type_errors, "branch_coverage": measured.branch_coverage}
    known = {name: number for name, number in others.items() if number is not None}
    unmeasured = {"unmeasured": list(reasons), "why_unmeasured": reasons} if reasons else {}
    custom = {**measured.custom, **known, **unmeasured}
    return BaselineMetrics(
        captured_at=at,
        test_count=measured.test_count or 0,
        coverage_percentage=measured.coverage or 0.0,
        typescript_errors=_known(measured.typescript_errors),
        lint_errors=_known(measured.lint_errors),
        lint_warnings=_known(measured.lint_warnings),
        file_count=_known(measured.file_count),
        lines_of_code=_known(measured.lines_of_code),
        custom_metrics=custom or UNSET,
    )


def as_snapshot(measured: Measured) -> MetricsSnapshot:
    return MetricsSnapshot(
        test_count=_known(measured.test_count),
        coverage_percentage=_known(measured.coverage),
        typescript_errors=_known(measured.typescript_errors),
        lint_errors=_known(measured.lint_errors),
    )


def _known(value: T | None) -> T | UnsetType:
    return UNSET if value is None else value
