"""What a room gets is empty and tells nothing, whether it was made for it or was there before."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from untilproven.workspace.overlay.removal import remove
from untilproven.workspace.overlay.untouched import Untouched


def _moved(path: Path) -> None:
    os.utime(path, (1, 1))


def _come_and_gone(path: Path) -> None:
    (path / "file").touch()
    (path / "file").unlink()
    os.utime(path, (2, 2))


def _looked_at(path: Path) -> None:
    os.utime(path, ns=(5, path.stat().st_mtime_ns))


def _told(path: Path) -> None:
    os.setxattr(path, "user.message", b"x")


def _a_link(path: Path) -> None:
    (path.parent / "elsewhere").mkdir(mode=0o750)
    path.rmdir()
    path.symlink_to("elsewhere")


TOUCHED: dict[str, Callable[[Path], object]] = {
    "a file": lambda path: (path / "file").touch(),
    "a directory": lambda path: (path / "directory").mkdir(),
    "another mode": lambda path: path.chmod(0o777),
    "the same mode once more": lambda path: path.chmod(0o750),
    "another time": _moved,
    "another time of the last look": _looked_at,
    "a file that is gone": _come_and_gone,
    "an attribute": _told,
    "a link": _a_link,
    "nothing": lambda path: path.rmdir(),
}


def test_what_was_left_as_it_was_is_given_again(tmp_path: Path) -> None:
    dropped: list[Path] = []

    def drop(path: Path) -> None:
        dropped.append(path)
        remove(path)

    untouched, path = Untouched(drop), tmp_path / "given"
    for _ in range(3):
        untouched.give(path, 0o750)
        assert list(path.iterdir()) == []
        time.sleep(0.01)
    assert dropped == [path], "only the first time nothing is known of it"
    untouched.give(path, 0o1777)
    assert path.stat().st_mode & 0o7777 == 0o1777


@pytest.mark.parametrize("how", TOUCHED)
def test_what_was_touched_is_made_anew(tmp_path: Path, how: str) -> None:
    dropped: list[Path] = []

    def drop(path: Path) -> None:
        dropped.append(path)
        remove(path)

    untouched, path = Untouched(drop), tmp_path / "given"
    untouched.give(path, 0o750)
    untouched.give(path, 0o750)
    assert len(dropped) == 1, "only the first time nothing is known of it"
    time.sleep(0.02)  # the clock of the file system stands still for some milliseconds
    TOUCHED[how](path)
    untouched.give(path, 0o750)
    assert len(dropped) == 2
    assert not path.is_symlink()
    assert path.stat().st_mode & 0o7777 == 0o750
    assert path.stat().st_mtime > 1e9
    assert list(path.iterdir()) == []
    assert os.listxattr(path) == []


def test_what_another_process_has_left_is_not_given(tmp_path: Path) -> None:
    path = tmp_path / "given"
    Untouched(remove).give(path, 0o750)
    before = path.stat()
    os.utime(path, (1, 1))
    Untouched(remove).give(path, 0o750)
    assert path.stat().st_mtime_ns >= before.st_mtime_ns
