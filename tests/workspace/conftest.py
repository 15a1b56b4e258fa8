"""A tree, and a workspace on it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from untilproven.workspace.plain import PlainWorkspace

NOBODY = 65534


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
