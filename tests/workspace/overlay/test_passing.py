"""Directories for one iteration: always empty, made ready ahead, and made anew where that went wrong."""

import stat
from pathlib import Path

import pytest

from untilproven.workspace.overlay.passing import Passing
from untilproven.workspace.overlay.removal import remove


@pytest.fixture
def passing(tmp_path: Path) -> Passing:
    return Passing(tmp_path, remove)


def asked_for(passing: Passing) -> list[Path]:
    return [passing.directory("tmp", 0o1777), passing.directory("tmp/exchange"), passing.directory("work")]


def fill(directories: list[Path]) -> None:
    for directory in directories:
        assert [path.name for path in directory.iterdir() if path.name != "exchange"] == []
        (directory / "left").touch()


def test_what_was_asked_for_is_ready_and_empty_in_the_next_iteration(passing: Passing) -> None:
    passing.begin()
    fill(asked_for(passing))
    for _ in range(3):
        passing.prepare()
        ready = {path.relative_to(passing.coming): path.stat().st_ino for path in passing.coming.rglob("*")}
        assert {str(path) for path in ready} == {"tmp", "tmp/exchange", "work"}
        passing.begin()
        assert not passing.coming.exists()
        found = asked_for(passing)
        assert ready == {path.relative_to(passing.path): path.stat().st_ino for path in found}
        assert [stat.S_IMODE(path.stat().st_mode) for path in found] == [0o1777, 0o700, 0o700]
        fill(found)


def test_what_is_asked_for_twice_is_empty_twice(passing: Passing) -> None:
    passing.begin()
    fill([passing.directory("work")])
    passing.prepare()
    fill([passing.directory("work")])
    passing.begin()
    fill([passing.directory("work")])
    fill([passing.directory("work")])


def test_what_could_not_be_made_ready_is_made_when_it_is_asked_for(passing: Passing) -> None:
    passing.begin()
    fill(asked_for(passing))
    (passing.coming / "tmp").mkdir(parents=True)
    (passing.coming / "tmp/left").touch()
    passing.prepare()
    passing.begin()
    fill(asked_for(passing))
    assert not passing.coming.exists()


def test_without_anything_made_ready_an_iteration_begins_with_nothing(passing: Passing) -> None:
    passing.prepare()
    passing.begin()
    fill(asked_for(passing))
    passing.begin()
    assert list(passing.path.iterdir()) == []


def test_after_its_end_it_can_begin_again(passing: Passing) -> None:
    passing.begin()
    fill(asked_for(passing))
    passing.prepare()
    passing.end()
    assert not passing.path.exists()
    assert not passing.coming.exists()
    passing.begin()
    fill(asked_for(passing))
