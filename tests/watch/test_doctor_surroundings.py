"""An old Python, a clock that is off, output that cannot show every character."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from untilproven.store.layout import Project
from untilproven.watch import doctor
from untilproven.watch.doctor import Finding

NOW = datetime(2026, 11, 16, tzinfo=UTC)


class TestClock:
    def test_a_sane_clock_is_ok(self, project: Project) -> None:
        assert doctor.system_clock(project, NOW) == Finding("clock", "ok", "2026-11-16 00:00:00 UTC")

    def test_a_year_before_the_program_was_written_is_a_warning(self, project: Project) -> None:
        assert doctor.system_clock(project, datetime(2024, 12, 31, tzinfo=UTC)).verdict == "warning"

    @pytest.mark.parametrize("name", ["registry.json", "loops/ralph-fix-a1b2c3d4/state.json"])
    @pytest.mark.parametrize(("ahead", "verdict"), [(timedelta(minutes=4), "ok"), (timedelta(minutes=6), "warning")])
    def test_state_written_in_the_future_means_the_clock_was_set_back(
        self, project: Project, name: str, ahead: timedelta, verdict: str
    ) -> None:
        path = project.state.path / name
        path.parent.mkdir(parents=True)
        path.write_text("{}")
        moment = (NOW + ahead).timestamp()
        os.utime(path, (moment, moment))
        assert doctor.system_clock(project, NOW).verdict == verdict

    def test_a_link_in_the_state_directory_tells_no_time(self, project: Project, tmp_path: Path) -> None:
        (tmp_path / "elsewhere/ralph").mkdir(parents=True)
        path = tmp_path / "elsewhere/ralph/registry.json"
        path.write_text("{}")
        moment = (NOW + timedelta(days=1)).timestamp()
        os.utime(path, (moment, moment))
        (project.root / ".aiwg").symlink_to(tmp_path / "elsewhere")
        assert doctor.system_clock(project, NOW).verdict == "ok"


def test_an_old_python_is_a_problem() -> None:
    assert doctor.python((3, 10, 9)).verdict == "problem"
    assert doctor.python((3, 11, 0)).verdict == "ok"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", None])
def test_output_that_is_not_utf_8_is_a_warning(encoding: str | None) -> None:
    finding = doctor.text_encoding(encoding)
    assert finding is not None
    assert finding.verdict == "warning"


def test_utf_8_is_not_worth_a_word() -> None:
    assert doctor.text_encoding("UTF8") is None
