"""A room really built, and each way a kernel refuses one explained."""

import errno
import os
from pathlib import Path

import pytest

from untilproven.store.layout import Project
from untilproven.store.vouch import user_state
from untilproven.watch import doctor
from untilproven.watch.doctor import Kernel, sandbox

# Probes work in forked children; a test worker has threads, which newer Pythons warn about. `ralph` has none.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def test_a_namespace_is_really_made_and_stays_in_its_child() -> None:
    before = Path("/proc/self/ns/user").readlink()
    finding = doctor.user_namespaces()
    assert finding.verdict == "ok"
    assert ("you are root" in finding.found) == (os.geteuid() == 0)
    assert Path("/proc/self/ns/user").readlink() == before


def test_an_overlay_is_really_mounted_and_leaves_nothing_behind(project: Project) -> None:
    finding = doctor.overlay(project)
    assert finding.verdict == "ok"
    assert str(user_state()) in finding.found
    assert list(user_state().iterdir()) == []


def test_commas_and_colons_in_the_path_do_not_matter(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "a,b:c"))
    assert doctor.overlay(project).verdict == "ok"


def test_user_state_inside_the_project_is_not_written(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_refused_namespace_is_explained(error: int, kernel: Kernel, word: str, advice: str) -> None:
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
def test_a_refused_overlay_is_explained(error: int, kind: str, word: str) -> None:
    assert word in doctor.why_no_overlay(error, kind)[0]


def test_the_room_that_a_loop_gets_is_found_by_building_it() -> None:
    finding = doctor.room()
    assert finding.verdict == "ok"
    assert finding.found.startswith("overlay: one was built")


def test_where_no_overlay_can_be_built_the_reason_and_what_there_is_instead_are_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "overlay_refused", lambda *, again: "no namespaces" if again else "")
    finding = doctor.room()
    assert finding.verdict == "warning"
    assert finding.found.startswith("shadow, best effort (")
    assert finding.found.endswith("no overlay: no namespaces")
    monkeypatch.setattr(sandbox, "shadow_refused", lambda: "no Landlock")
    finding = doctor.room()
    assert finding.verdict == "problem"
    assert finding.found == "none: overlay: no namespaces; shadow: no Landlock"
    assert "--sandbox none" in finding.advice
