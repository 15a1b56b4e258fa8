"""A non-empty regular file of the tree, reached without a link."""

from pathlib import Path

import pytest

from untilproven.checks.file_exists import FileExistsCheck
from untilproven.contract import Evidence, Room


def look(room: Room, path: str) -> Evidence:
    return FileExistsCheck(path).run(room, timeout=1)


@pytest.mark.parametrize("path", ["specs/a.md", "./specs/a.md"])
def test_a_file_with_content_passes(room: Room, path: str) -> None:
    (room.root / "specs").mkdir()
    (room.root / "specs" / "a.md").write_text("x")
    assert look(room, path).passed
    assert look(room, str(room.root / "specs" / "a.md")).passed


def test_missing_empty_and_directory_are_not_yet(room: Room) -> None:
    (room.root / "empty").touch()
    (room.root / "directory").mkdir()
    for path in ("missing", "empty", "directory", "directory/missing", "empty/below"):
        assert (look(room, path).passed, look(room, path).broken) == (False, False), path


def test_no_link_is_followed(room: Room, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("x")
    (room.root / "link").symlink_to(tmp_path / "outside" / "file")
    (room.root / "directory").symlink_to(tmp_path / "outside")
    assert not look(room, "link").passed
    assert not look(room, "directory/file").passed


@pytest.mark.parametrize("path", ["../outside", "a/../../outside", "/etc/passwd", "", ".", "a\0b"])
def test_a_path_out_of_the_tree_is_broken(room: Room, path: str) -> None:
    (room.root.parent / "outside").write_text("x")
    assert look(room, path).broken
