"""A tree, and a workspace on it."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from untilproven.workspace.plain import PlainWorkspace
from workspace.playing import NOBODY, WHO, Play, is_readable, played


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
def workspace(root: Path) -> PlainWorkspace:
    return PlainWorkspace(root, [PurePosixPath(".git"), PurePosixPath(".aiwg/ralph")])


@pytest.fixture
def as_ordinary_user() -> Iterator[Path]:
    """A directory of an ordinary user, who we are meanwhile: to root nothing is closed."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    us = os.geteuid()
    if us == 0:
        os.chown(path, NOBODY, -1)
        os.seteuid(NOBODY)
    try:
        yield path
    finally:
        os.seteuid(us)
        for directory in path.rglob("*"):
            if directory.is_dir() and not directory.is_symlink():
                directory.chmod(0o755)
        shutil.rmtree(path)


@pytest.fixture(params=WHO)
def play(request: pytest.FixtureRequest) -> Iterator[Play]:
    """Plays a scene of those beside the test, as root and as an ordinary user."""
    user = NOBODY if request.param == "as a user" and os.geteuid() == 0 else None
    if user and not is_readable(user):
        pytest.skip("an ordinary user cannot read this clone: have it in a directory that is open to all")
    base = Path(tempfile.mkdtemp(prefix="ralph-scene-", dir="/var/tmp"))  # what is in /tmp is not seen in a room
    base.chmod(0o755)
    if user:
        os.chown(base, user, user)
    try:
        yield lambda file, scene: played(request.path.parent / "scenes" / f"{file}.py", scene, base, user)
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", base], check=False, capture_output=True)
        shutil.rmtree(base)
