"""Directories that can be written, cannot, or lead elsewhere."""

from pathlib import Path

import pytest

from untilproven.store.layout import Project
from untilproven.store.vouch import user_state
from untilproven.watch import doctor


def test_the_project_is_looked_at_and_not_written(project: Project) -> None:
    before = sorted(project.root.rglob("*"))
    finding = doctor.project_state(project)
    assert finding.verdict == "ok"
    assert "MiB free" in finding.found
    assert sorted(project.root.rglob("*")) == before


@pytest.mark.parametrize("part", [".aiwg", ".aiwg/ralph", ".aiwg/ralph/loops"])
def test_a_link_in_the_state_directory_is_not_followed(project: Project, tmp_path: Path, part: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "ralph/loops").mkdir(parents=True)
    (project.root / part).parent.mkdir(parents=True, exist_ok=True)
    (project.root / part).symlink_to(elsewhere)
    finding = doctor.project_state(project)
    assert finding.verdict == "problem"
    assert "symbolic link" in finding.found


def test_the_users_own_directory_is_tried_by_writing(project: Project) -> None:
    finding = doctor.own_state(project)
    assert finding.verdict == "ok"
    assert user_state().stat().st_mode & 0o777 == 0o700
    assert list(user_state().iterdir()) == []


def test_a_user_directory_that_cannot_be_made_is_a_problem(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    finding = doctor.own_state(project)
    assert finding.verdict == "problem"
    assert "cannot be written" in finding.found
