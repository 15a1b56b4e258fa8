import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import UNSET

from untilproven.checks.metrics.coverage import Coverage
from untilproven.checks.metrics.instruments import Instrument, find_instruments
from untilproven.checks.metrics.measuring import Measured, as_baseline, as_snapshot, measure
from untilproven.checks.metrics.unmeasured import Unmeasured
from untilproven.contract import Room
from untilproven.model import wire
from untilproven.model.persistence import BaselineMetrics

AT = datetime(2026, 11, 16, tzinfo=UTC)
COVERAGE = Coverage(lines=81.5, branches=None, by_file={"a.py": 81.5}, tool="lcov")


def reasons(measured: Measured) -> dict[str, str]:
    return dict(one.split(": ", 1) for one in measured.unmeasured)


@pytest.fixture
def project(room: Room) -> Room:
    """One error for mypy and one for ruff."""
    (room.root / "mypy.ini").write_text("[mypy]\n")
    (room.root / "ruff.toml").write_text("[lint]\nselect = ['F']\n")
    (room.root / "a.py").write_text('import os\n\nx: int = "a"\n')
    return room


def test_a_tree_is_measured_with_the_real_tools(project: Room) -> None:
    instruments = find_instruments(project)
    custom = {"size of a": "wc -c < a.py", "broken": "exit 3"}
    measured = measure(project, instruments, custom, tests=3, coverage=COVERAGE, timeout=100)
    assert measured == Measured(
        test_count=3,
        coverage=81.5,
        coverage_by_file={"a.py": 81.5},
        coverage_tool="lcov",
        type_errors=1,
        lint_errors=1,
        lint_warnings=0,
        file_count=3,
        lines_of_code=5,
        custom={"size of a": 24},
        unmeasured=("broken: it exited with 3:", "branch_coverage: the coverage report has none"),
    )


def test_what_could_not_be_had_is_named_with_its_reason(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path("/nowhere")))
    coverage = Unmeasured("coverage.xml is older than the run")
    measured = measure(room, (), {}, tests=None, coverage=coverage, timeout=10)
    why = reasons(measured)
    assert why["test_count"] == "no check tells its tests apart"
    assert why["coverage_percentage"] == "coverage.xml is older than the run"
    assert why["type_errors"] == "no type checker that the project uses was found"
    assert why.keys() >= {"lint_errors", "lint_warnings", "file_count", "lines_of_code"}
    assert measured == Measured(unmeasured=measured.unmeasured)


def test_a_sum_that_lacks_a_part_is_no_sum(project: Room) -> None:
    tsc = Instrument("tsc", "types", ("false",))
    measured = measure(project, (*find_instruments(project), tsc), {}, tests=1, coverage=None, timeout=100)
    assert measured.type_errors is None
    assert measured.typescript_errors is None
    assert measured.lint_errors == 1
    assert reasons(measured)["type_errors"].startswith("tsc")


def test_an_instrument_gets_its_share_of_the_time_and_no_more(project: Room) -> None:
    slow = Instrument("mypy", "types", ("sleep", "100"))
    ruff = next(one for one in find_instruments(project) if one.name == "ruff")
    measured = measure(project, (slow, ruff), {}, tests=1, coverage=None, timeout=12)
    assert measured.lint_errors == 1
    assert measured.type_errors is None
    given = re.fullmatch(r"mypy stopped after ([\d.]+) s without an end:", reasons(measured)["type_errors"])
    assert given
    assert 1 < float(given[1]) <= 6


def test_the_names_that_the_record_uses_are_not_the_user_s(project: Room) -> None:
    measured = measure(project, (), {"unmeasured": "echo 1"}, tests=1, coverage=COVERAGE, timeout=10)
    assert measured.custom == {}
    assert reasons(measured)["unmeasured"] == "the name is taken"


def test_a_required_number_that_is_unknown_is_zero_and_named() -> None:
    measured = Measured(unmeasured=("test_count: no tests: none", "coverage_percentage: no report"))
    baseline = as_baseline(measured, AT)
    assert (baseline.test_count, baseline.coverage_percentage) == (0, 0)
    assert baseline.custom_metrics == {
        "unmeasured": ["test_count", "coverage_percentage"],
        "why_unmeasured": {"test_count": "no tests: none", "coverage_percentage": "no report"},
    }
    for field in ("typescript_errors", "lint_errors", "lint_warnings", "file_count", "lines_of_code"):
        assert getattr(baseline, field) is UNSET
    assert as_snapshot(measured).test_count is UNSET
    assert as_snapshot(measured).coverage_percentage is UNSET


def test_a_zero_that_was_measured_is_not_named() -> None:
    baseline = as_baseline(Measured(test_count=0, coverage=0, type_errors=0, lint_errors=0), AT)
    assert baseline.custom_metrics == {"type_errors": 0}
    assert baseline.lint_errors == 0


def test_what_is_known_is_written_in_the_source_s_words() -> None:
    measured = Measured(
        test_count=5,
        coverage=81.5,
        branch_coverage=60,
        type_errors=7,
        typescript_errors=4,
        lint_errors=1,
        lint_warnings=2,
        file_count=3,
        lines_of_code=9,
        custom={"bundle": 14.5},
    )
    baseline = as_baseline(measured, AT)
    assert wire.decode(BaselineMetrics, wire.encode(baseline)) == baseline
    assert wire.to_builtins(baseline) == {
        "captured_at": "2026-11-16T00:00:00Z",
        "test_count": 5,
        "coverage_percentage": 81.5,
        "typescript_errors": 4,
        "lint_errors": 1,
        "lint_warnings": 2,
        "file_count": 3,
        "lines_of_code": 9,
        "custom_metrics": {"bundle": 14.5, "type_errors": 7, "branch_coverage": 60},
    }
    assert wire.to_builtins(as_snapshot(measured)) == {
        "test_count": 5,
        "coverage_percentage": 81.5,
        "typescript_errors": 4,
        "lint_errors": 1,
    }
