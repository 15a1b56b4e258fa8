"""`ralph doctor` as a process of its own, on machines made poorer with real namespaces and mounts."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from support import ralph
from untilproven.store.layout import Project

DOCTOR = f"{sys.executable} -P -m untilproven doctor --json"


def findings(text: str) -> dict[str, Any]:
    document = json.loads(text)
    assert set(document) == {"findings", "ok"}
    return {finding["name"]: finding for finding in document["findings"]}


def elsewhere(project: Project, *unshare: str, script: str = DOCTOR) -> tuple[int, dict[str, Any]]:
    """Run the doctor in a namespace with something taken away."""
    done = subprocess.run(
        ["unshare", *unshare, "sh", "-ec", script],
        cwd=project.root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, findings(done.stdout)


def test_a_machine_without_problems_exits_with_0_and_lists_every_probe(project: Project) -> None:
    done = ralph("doctor", "--json", cwd=project.root)
    found = findings(done.stdout)
    assert done.returncode == 0
    assert json.loads(done.stdout)["ok"] is True
    assert {"python", "search path", "git", "user namespaces", "overlay"} < set(found)
    assert {"bwrap", "agents", "project state", "user state", "clock"} < set(found)
    assert set(found["git"]) == {"name", "verdict", "found", "advice"}


def planted_git(directory: Path) -> Path:
    """A git that leaves a mark beside itself when it is run."""
    git = directory / "bin/git"
    git.parent.mkdir()
    git.write_text('#!/bin/sh\ntouch "$0-ran"\n')
    git.chmod(0o755)
    return git


def test_a_problem_exits_with_1_and_says_what_to_do(project: Project) -> None:
    planted = planted_git(project.root)
    env = {**os.environ, "PATH": f"{planted.parent}:{os.environ['PATH']}"}
    done = ralph("doctor", cwd=project.root, env=env)
    assert done.returncode == 1
    assert f"git: take {planted.parent} out of PATH" in done.stdout
    done = ralph("doctor", "--json", cwd=project.root, env=env)
    assert done.returncode == 1
    assert json.loads(done.stdout)["ok"] is False
    assert not planted.with_name("git-ran").exists()


def test_an_empty_path_leaves_the_other_probes_working(project: Project) -> None:
    done = ralph("doctor", "--json", cwd=project.root, env={**os.environ, "PATH": ""})
    found = findings(done.stdout)
    assert done.returncode == 0
    assert found["git"]["verdict"] == "warning"
    assert found["search path"]["verdict"] == "warning"
    assert found["overlay"]["verdict"] == "ok"


def test_nothing_is_written_into_the_project(project: Project) -> None:
    ralph("doctor", cwd=project.root)
    assert [path.name for path in project.root.rglob("*")] == [".git"]


def test_an_escape_sequence_in_a_directory_name_does_not_reach_the_terminal(project: Project) -> None:
    hostile = project.root / "\x1b[2Jgone"
    (hostile / ".git").mkdir(parents=True)
    planted = planted_git(hostile)
    # Colours on, because click strips every escape sequence, ours or not, from output that has none.
    env = {**os.environ, "PATH": f"{planted.parent}:{os.environ['PATH']}", "FORCE_COLOR": "1"}
    done = ralph("doctor", cwd=hostile, env=env)
    assert done.stdout.count("gone") > 2
    assert "\x1b[2J" not in done.stdout


def test_output_that_is_not_utf_8_is_mentioned_and_does_not_break_it(project: Project) -> None:
    done = ralph("doctor", "--json", cwd=project.root, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert findings(done.stdout)["text"]["verdict"] == "warning"


def test_an_ordinary_user_can_build_a_room_and_nothing_is_left_of_it(project: Project, own_home: Path) -> None:
    code, found = elsewhere(project, "--user", "--map-user=1000", "--map-group=1000")
    assert code == 0
    assert "you are root" not in found["user namespaces"]["found"]
    assert found["overlay"]["verdict"] == "ok"
    assert found["room"]["found"].startswith("overlay: one was built")
    left = (own_home / ".local/state/untilproven").rglob("*")
    assert sorted(path.name for path in left) == ["built", "rooms"]


def test_a_limit_of_no_namespaces_is_named(project: Project) -> None:
    code, found = elsewhere(
        project, "--user", "--map-root-user", script=f"echo 0 > /proc/sys/user/max_user_namespaces; {DOCTOR}"
    )
    assert code == 1
    assert "user.max_user_namespaces is 0" in found["user namespaces"]["found"]
    assert "sysctl -w user.max_user_namespaces" in found["user namespaces"]["advice"]
    assert found["overlay"]["found"] == "not tried: it needs a user namespace"


def test_a_user_who_may_not_make_namespaces_is_told_so(project: Project) -> None:
    # A process whose own user is not mapped gets EPERM, as under a policy that forbids it.
    code, found = elsewhere(project, "--user")
    assert code == 1
    assert "Operation not permitted" in found["user namespaces"]["found"]


def test_user_state_on_an_overlay_is_explained(project: Project, tmp_path: Path) -> None:
    container = tmp_path / "container"
    for name in ("lower", "upper", "work", "merged"):
        (container / name).mkdir(parents=True)
    mount = "mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr overlay merged"
    script = f"(cd {container}; {mount}); XDG_STATE_HOME={container}/merged {DOCTOR}"
    code, found = elsewhere(project, "--user", "--map-root-user", "--mount", script=script)
    assert code == 1
    assert "lies on an overlay itself" in found["overlay"]["found"]
    assert found["user namespaces"]["verdict"] == "ok"


def test_little_space_is_a_warning_and_none_a_problem(project: Project, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    verdicts = {}
    for size in ("50m", "500m", "2g"):
        script = f"mount -t tmpfs -o size={size} small {small}; XDG_STATE_HOME={small} {DOCTOR}"
        code, found = elsewhere(project, "--user", "--map-root-user", "--mount", script=script)
        verdicts[size] = (found["user state"]["verdict"], code)
    assert verdicts == {"50m": ("problem", 1), "500m": ("warning", 0), "2g": ("ok", 0)}


def test_a_read_only_project_is_a_problem(project: Project) -> None:
    script = f"mount -t tmpfs -o ro none {project.root}; cd {project.root}; {DOCTOR}"
    code, found = elsewhere(project, "--user", "--map-root-user", "--mount", script=script)
    assert code == 1
    assert "cannot be written" in found["project state"]["found"]
