"""The probes, each on a machine that has what it looks for, lacks it, or lies about it."""

import errno
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from untilproven.store.layout import Project
from untilproven.store.vouch import user_state
from untilproven.watch import doctor
from untilproven.watch.doctor import Finding, Kernel, SearchPath

# Probes work in forked children; a test worker has threads, which newer Pythons warn about. `ralph` has none.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def program(path: Path, script: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def on_path(project: Project, *entries: Path | str) -> SearchPath:
    return SearchPath(":".join(map(str, entries)), project)


def fine() -> Finding:
    return Finding("fine", "ok", "here")


class TestExamining:
    def test_a_probe_that_raises_is_a_finding_and_the_others_still_answer(self) -> None:
        def broken() -> Finding:
            raise ValueError("no idea")

        found = doctor.examine({"first": fine, "broken": broken, "last": fine})
        assert [finding.verdict for finding in found] == ["ok", "problem", "ok"]
        assert found[1].name == "broken"
        assert found[1].found == "probe failed: ValueError: no idea"

    def test_a_probe_that_hangs_is_given_up_at_its_deadline(self) -> None:
        def hanging() -> Finding:
            time.sleep(60)
            return fine()

        begun = time.monotonic()
        found = doctor.examine({"hanging": hanging, "last": fine}, seconds=0.5)
        assert time.monotonic() - begun < 20
        assert found[0].found.startswith("probe failed: no answer within 0.5 s")
        assert found[1] == fine()

    def test_a_probe_whose_process_dies_takes_nobody_along(self) -> None:
        def dying() -> Finding:
            os.kill(os.getpid(), 9)
            return fine()

        found = doctor.examine({"dying": dying, "last": fine})
        assert [finding.verdict for finding in found] == ["problem", "ok"]

    def test_a_probe_with_nothing_to_say_is_left_out(self) -> None:
        assert doctor.examine({"silent": lambda: None, "last": fine}) == [fine()]

    def test_a_file_name_that_is_not_text_can_be_told(self) -> None:
        name = os.fsdecode(b"/opt/\xff/bin")
        (found,) = doctor.examine({"odd": lambda: Finding("odd", "ok", name)})
        assert found.found == "/opt/\\udcff/bin"


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


class TestRoom:
    def test_a_namespace_is_really_made_and_stays_in_its_child(self) -> None:
        before = Path("/proc/self/ns/user").readlink()
        finding = doctor.user_namespaces()
        assert finding.verdict == "ok"
        assert ("you are root" in finding.found) == (os.geteuid() == 0)
        assert Path("/proc/self/ns/user").readlink() == before

    def test_an_overlay_is_really_mounted_and_leaves_nothing_behind(self, project: Project) -> None:
        finding = doctor.overlay(project)
        assert finding.verdict == "ok"
        assert str(user_state()) in finding.found
        assert list(user_state().iterdir()) == []

    def test_commas_and_colons_in_the_path_do_not_matter(
        self, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "a,b:c"))
        assert doctor.overlay(project).verdict == "ok"

    def test_user_state_inside_the_project_is_not_written(
        self, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_STATE_HOME", str(project.root / "state"))
        assert doctor.overlay(project).verdict == "warning"
        assert doctor.own_state(project).verdict == "warning"
        assert not (project.root / "state").exists()

    @pytest.mark.parametrize(
        ("error", "kernel", "word", "advice"),
        [
            (errno.EPERM, Kernel(apparmor_restrict="1"), "AppArmor", "kernel.apparmor_restrict_unprivileged_userns=0"),
            (errno.EACCES, Kernel(apparmor_restrict="1"), "AppArmor", "kernel.apparmor_restrict_unprivileged_userns=0"),
            (errno.EPERM, Kernel(userns_clone="0"), "unprivileged_userns_clone", "unprivileged_userns_clone=1"),
            (errno.EPERM, Kernel(container=True), "container", "seccomp=unconfined"),
            (errno.EPERM, Kernel(apparmor_restrict="0"), "policy", "allow user namespaces"),
            (
                errno.ENOSPC,
                Kernel(max_user_namespaces="0"),
                "user.max_user_namespaces is 0",
                "max_user_namespaces=15000",
            ),
            (errno.ENOSYS, Kernel(), "built without", "CONFIG_USER_NS"),
        ],
    )
    def test_a_refused_namespace_is_explained(self, error: int, kernel: Kernel, word: str, advice: str) -> None:
        why, what = doctor.why_no_namespace(error, kernel)
        assert word in why
        assert advice in what

    @pytest.mark.parametrize(
        ("error", "kind", "word"),
        [
            (errno.EINVAL, "overlay", "container"),
            (errno.EINVAL, "nfs4", "nfs4"),
            (errno.ENODEV, "ext4", "no overlay"),
            (errno.EPERM, "ext4", "5.11"),
        ],
    )
    def test_a_refused_overlay_is_explained(self, error: int, kind: str, word: str) -> None:
        assert word in doctor.why_no_overlay(error, kind)[0]


class TestPlaces:
    def test_the_project_is_looked_at_and_not_written(self, project: Project) -> None:
        before = sorted(project.root.rglob("*"))
        finding = doctor.project_state(project)
        assert finding.verdict == "ok"
        assert "MiB free" in finding.found
        assert sorted(project.root.rglob("*")) == before

    @pytest.mark.parametrize("part", [".aiwg", ".aiwg/ralph", ".aiwg/ralph/loops"])
    def test_a_link_in_the_state_directory_is_not_followed(self, project: Project, tmp_path: Path, part: str) -> None:
        elsewhere = tmp_path / "elsewhere"
        (elsewhere / "ralph/loops").mkdir(parents=True)
        (project.root / part).parent.mkdir(parents=True, exist_ok=True)
        (project.root / part).symlink_to(elsewhere)
        finding = doctor.project_state(project)
        assert finding.verdict == "problem"
        assert "symbolic link" in finding.found

    def test_the_users_own_directory_is_tried_by_writing(self, project: Project) -> None:
        finding = doctor.own_state(project)
        assert finding.verdict == "ok"
        assert user_state().stat().st_mode & 0o777 == 0o700
        assert list(user_state().iterdir()) == []

    def test_a_user_directory_that_cannot_be_made_is_a_problem(
        self, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
        finding = doctor.own_state(project)
        assert finding.verdict == "problem"
        assert "cannot be written" in finding.found


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
