"""Files of another group cannot be copied into a layer by a user who is not root: the agent is told."""

import os
from pathlib import Path

import pytest

from untilproven.workspace.overlay.groups import has_other_groups


def test_files_of_the_users_own_group_are_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.chown(tmp_path / "file", -1, os.getegid())
    assert not has_other_groups(tmp_path)


def test_a_file_of_another_group_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "getegid", lambda: (tmp_path / "file").stat().st_gid + 1)
    assert has_other_groups(tmp_path)


def test_a_tree_that_is_gone_has_none(tmp_path: Path) -> None:
    assert not has_other_groups(tmp_path / "gone")
