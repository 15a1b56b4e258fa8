"""`ralph verify`, as a user types it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from support import ralph
from workspace.playing import TESTS

STAGE = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from pathlib import Path
from workspace.git.scenes.verifying import Proven
Proven(Path(sys.argv[1]))
"""


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with the commit of a loop; not in /tmp, which rooms do not show."""
    base = Path(tempfile.mkdtemp(prefix="verify-", dir="/var/tmp"))
    try:
        subprocess.run([sys.executable, "-P", "-c", STAGE, base], check=True, timeout=60, cwd="/")
        monkeypatch.setenv("HOME", str(base / "home"))
        yield base / "project"
    finally:
        shutil.rmtree(base)


def test_a_commit_is_proven_again(root: Path) -> None:
    ran = ralph("verify", "HEAD", cwd=root)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = dict(line.split(None, 1) for line in ran.stdout.splitlines())
    assert lines["claims"] == "red-to-green"
    assert lines["check"].endswith(": passed")
    assert lines["found"] == "proven again: the checks pass on this commit"


def test_a_check_that_fails_on_the_commit_ends_with_1(root: Path) -> None:
    ran = ralph("verify", "HEAD~1", "--until", "printf '\\033[31mred\\n'; false", cwd=root)
    assert ran.returncode == 1
    assert "not proven" in ran.stdout
    assert "red" in ran.stderr
    assert "\x1b" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "words", [["HEAD~1"], ["nowhere"], [], ["HEAD", "--check-timeout", "5"], ["HEAD", "--sandbox", "x"]]
)
def test_what_cannot_be_checked_is_a_usage_error(root: Path, words: list[str]) -> None:
    ran = ralph("verify", *words, cwd=root)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert ran.stdout == ""


def test_programs_get_json(root: Path) -> None:
    ran = ralph("verify", "HEAD", "--json", cwd=root)
    found = msgspec.json.decode(ran.stdout)
    assert (ran.returncode, found["proven"], found["why"], found["sandbox"]) == (0, True, "", "overlay")
    assert found["claim"]["proof"] == found["receipt"]["proof"] == "red-to-green"
    assert [check["passed"] for check in found["checks"]] == [True]
    ran = ralph("verify", "HEAD~1", "--json", cwd=root)
    error = msgspec.json.decode(ran.stdout)["error"]
    assert (ran.returncode, error["exit_code"], "--until" in error["hint"]) == (2, 2, True)


def test_without_a_room_it_is_said(root: Path) -> None:
    ran = ralph("verify", "HEAD", "--sandbox", "none", cwd=root)
    assert ran.returncode == 0, ran.stderr
    assert "ran as you" in ran.stderr


def test_a_check_that_takes_too_long_is_ended(root: Path) -> None:
    ran = ralph("verify", "HEAD", "--until", "sleep 60", "--check-timeout", "1s", cwd=root)
    assert ran.returncode == 1
    assert "stopped after 1 s" in ran.stderr


def test_outside_a_repository_it_says_so(root: Path) -> None:
    (root.parent / "bare").mkdir()
    ran = ralph("verify", "HEAD", "--until", "true", cwd=root.parent / "bare", env={**os.environ})
    assert ran.returncode == 2
    assert "not in a git repository" in ran.stderr
