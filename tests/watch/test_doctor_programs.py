"""Programs that are there, are missing, hang, or were planted by the project."""

import os
import time
from pathlib import Path

import pytest

from untilproven.store.layout import Project
from untilproven.watch import doctor
from untilproven.watch.doctor import Finding, SearchPath

# Probes work in forked children; a test worker has threads, which newer Pythons warn about. `ralph` has none.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def program(path: Path, script: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def on_path(project: Project, *entries: Path | str) -> SearchPath:
    return SearchPath(":".join(map(str, entries)), project)


class TestSearchPath:
    def test_relative_empty_and_project_entries_are_not_used_and_said_once(
        self, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(project.root)
        inside = project.root / "bin"
        link = tmp_path / "link"
        link.symlink_to(inside)
        programs = on_path(project, "bin", "", inside, link, "/usr/bin")
        assert set(programs.distrusted()) == {"bin", "", str(inside), str(link)}
        assert programs.trusted() == "/usr/bin"
        finding = doctor.search_path(programs)
        assert finding.verdict == "warning"
        assert "'bin' (relative)" in finding.found

    def test_an_environment_inside_the_project_is_ordinary(self, project: Project) -> None:
        finding = doctor.search_path(on_path(project, project.root / ".venv/bin", "/usr/bin"))
        assert finding.verdict == "ok"
        assert ".venv/bin" in finding.found

    def test_the_main_worktree_is_part_of_the_project(self, tmp_path: Path) -> None:
        programs = on_path(Project(tmp_path / "linked", tmp_path / "main"), tmp_path / "main/bin")
        assert programs.distrusted()


class TestGit:
    def test_a_real_git_is_asked_for_its_version(self, project: Project) -> None:
        finding = doctor.git(SearchPath(os.environ["PATH"], project))
        assert finding.verdict == "ok"
        assert finding.found[0].isdigit()

    def test_a_git_planted_in_the_project_is_a_problem_and_is_not_run(self, project: Project) -> None:
        mark = project.root / "it-ran"
        planted = program(project.root / "bin/git", f"touch {mark}")
        finding = doctor.git(on_path(project, planted.parent, "/usr/bin"))
        assert finding.verdict == "problem"
        assert str(planted) in finding.found
        assert not mark.exists()

    def test_a_git_that_is_a_link_into_the_project_is_not_run(self, project: Project, tmp_path: Path) -> None:
        mark = project.root / "it-ran"
        planted = program(project.root / "tool", f"touch {mark}")
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/git").symlink_to(planted)
        finding = doctor.git(on_path(project, tmp_path / "bin"))
        assert finding.verdict == "problem"
        assert not mark.exists()

    def test_a_git_found_through_a_relative_entry_is_not_run(
        self, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        mark = tmp_path / "it-ran"
        program(tmp_path / "tools/git", f"touch {mark}")
        finding = doctor.git(on_path(project, "tools"))
        assert finding.verdict == "problem"
        assert not mark.exists()

    def test_it_runs_far_from_the_project_and_from_the_users_environment(
        self, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(project.root)
        monkeypatch.setenv("GIT_EXEC_PATH", str(project.root))
        git = program(tmp_path / "bin/git", 'echo "cwd=$PWD exec=$GIT_EXEC_PATH path=$PATH"')
        finding = doctor.git(on_path(project, "", git.parent, project.root))
        assert finding.found == f"cwd=/ exec= path={git.parent} ({git})"

    def test_a_machine_without_git_is_told_what_it_misses(self, project: Project) -> None:
        finding = doctor.git(SearchPath("", project))
        assert finding.verdict == "warning"
        assert "install git" in finding.advice

    def test_a_git_that_hangs_is_given_up(self, project: Project, tmp_path: Path) -> None:
        git = program(tmp_path / "bin/git", "exec sleep 60")
        begun = time.monotonic()
        (finding,) = doctor.examine({"git": lambda: doctor.git(on_path(project, git.parent, "/usr/bin", "/bin"))})
        assert time.monotonic() - begun < 30
        assert finding.verdict == "problem"
        assert "timed out" in finding.found


class TestBwrap:
    def test_its_help_tells_whether_it_can_mount_an_overlay(self, project: Project, tmp_path: Path) -> None:
        bwrap = program(
            tmp_path / "new/bwrap", 'test "$1" = --help && echo "  --overlay-src SRC" || echo bubblewrap 0.12.0'
        )
        assert doctor.bwrap(on_path(project, bwrap.parent)).found == f"0.12.0 ({bwrap}), can mount an overlay"
        bwrap = program(tmp_path / "old/bwrap", 'test "$1" = --help && echo "  --bind SRC" || echo bubblewrap 0.8.0')
        assert doctor.bwrap(on_path(project, bwrap.parent)).found == f"0.8.0 ({bwrap}), cannot mount an overlay"

    def test_one_in_the_project_is_not_run(self, project: Project) -> None:
        mark = project.root / "it-ran"
        planted = program(project.root / "bwrap", f"touch {mark}")
        assert doctor.bwrap(on_path(project, planted.parent)).verdict == "warning"
        assert not mark.exists()

    def test_a_machine_without_it_is_fine(self, project: Project) -> None:
        assert doctor.bwrap(SearchPath("", project)).verdict == "ok"


class TestAgents:
    def test_an_agent_is_found_and_never_started(self, project: Project, tmp_path: Path) -> None:
        mark = tmp_path / "it-ran"
        claude = program(tmp_path / "bin/claude", f"touch {mark}")
        finding = doctor.agents(on_path(project, claude.parent))
        assert finding == Finding("agents", "ok", f"claude ({claude})")
        assert not mark.exists()

    def test_one_inside_the_project_is_reported_as_not_used(self, project: Project, tmp_path: Path) -> None:
        codex = program(tmp_path / "bin/codex")
        planted = program(project.root / "node_modules/.bin/claude")
        finding = doctor.agents(on_path(project, planted.parent, codex.parent))
        assert finding.verdict == "warning"
        assert f"codex ({codex})" in finding.found
        assert f"claude ({planted})" not in finding.found
        assert f"{planted} lies inside the project and is not used" in finding.found

    def test_none_is_a_warning_that_names_them(self, project: Project) -> None:
        finding = doctor.agents(SearchPath("", project))
        assert finding.verdict == "warning"
        assert "claude" in finding.advice
