"""The agent's own directory: whatever the agent does in it, we are led nowhere else."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.actor import mode
from untilproven.agents.home import Home, forget
from untilproven.errors import StoreFailed
from workspace.playing import NOBODY

LOOP = "ralph-x-00000000"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "project", LOOP, "claude")
    made.make()
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What the agent would like us to read and write."""
    path = tmp_path / "outside"
    path.mkdir()
    (path / "secret").write_text("secret")
    return path


def test_what_is_written_is_private_and_is_read_again(home: Home) -> None:
    home.write("a/b/c.json", b"1")
    home.write("a/b/c.json", b"2")
    assert home.read("a/b/c.json") == b"2"
    assert mode(home.path / "a/b/c.json") == 0o600
    assert mode(home.path / "a") == 0o700
    assert [path.name for path in (home.path / "a/b").iterdir()] == ["c.json"]
    home.remove("a/b/c.json")
    assert home.read("a/b/c.json") is None
    home.remove("a/b/c.json")


def test_a_link_in_the_place_of_a_file_is_replaced(home: Home, outside: Path) -> None:
    (home.path / "x").symlink_to(outside / "secret")
    assert home.read("x") is None
    home.write("x", b"ours")
    assert (outside / "secret").read_text() == "secret"
    assert home.read("x") == b"ours"


def test_a_link_on_the_way_is_replaced_by_a_directory(home: Home, outside: Path) -> None:
    (home.path / "d").symlink_to(outside)
    assert home.read("d/secret") is None
    home.write("d/secret", b"ours")
    home.write("d/new", b"ours")
    home.remove("d/secret")
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("secret", "secret")]


def test_a_link_in_the_place_of_the_whole_directory_is_replaced(home: Home, outside: Path) -> None:
    home.path.rmdir()
    home.path.symlink_to(outside)
    assert home.read("secret") is None
    assert home.newest("*") is None
    home.write("secret", b"ours")
    assert (outside / "secret").read_text() == "secret"
    assert home.path.is_dir()
    assert not home.path.is_symlink()


def test_a_link_in_the_place_of_the_directory_of_all_agents_is_replaced(home: Home, outside: Path) -> None:
    home.path.rmdir()
    home.path.parent.rmdir()
    home.path.parent.symlink_to(outside)
    home.make()
    home.write("new", b"ours")
    assert [path.name for path in outside.iterdir()] == ["secret"]


@pytest.mark.parametrize("kind", ["fifo", "directory", "full directory", "file without rights"])
def test_whatever_else_stands_in_the_place_of_a_file_is_replaced(home: Home, kind: str) -> None:
    place = home.path / "x"
    match kind:
        case "fifo":
            os.mkfifo(place)
        case "directory":
            place.mkdir()
        case "full directory":
            (place / "in").mkdir(parents=True)
            (place / "in/file").write_text("x")
        case _:
            place.touch(0)
    home.write("x", b"ours")
    assert home.read("x") == b"ours"
    assert mode(place) == 0o600


def test_a_directory_in_the_place_of_a_file_is_removed(home: Home) -> None:
    (home.path / "x/y").mkdir(parents=True)
    home.remove("x")
    assert list(home.path.iterdir()) == []


def test_a_file_in_the_place_of_a_directory_is_replaced(home: Home) -> None:
    (home.path / "d").write_text("x")
    home.write("d/x", b"ours")
    assert home.read("d/x") == b"ours"


@pytest.mark.parametrize("kind", ["fifo", "huge"])
def test_what_is_no_small_file_is_not_read(home: Home, kind: str) -> None:
    if kind == "fifo":
        os.mkfifo(home.path / "x")
    else:
        (home.path / "x").write_bytes(b"x" * (1024 * 1024 + 1))
    assert home.read("x") is None


def test_the_newest_is_found_by_its_pattern(home: Home, outside: Path) -> None:
    home.write("s/1/a.jsonl", b"old")
    home.write("s/2/b.jsonl", b"new")
    os.utime(home.path / "s/1/a.jsonl", (1, 1))
    assert home.newest("s/**/*.jsonl") == b"new"
    assert home.newest("s/**/a*.jsonl") == b"old"
    assert home.newest("t/**/*.jsonl") is None
    (home.path / "t").symlink_to(outside)
    assert home.newest("t/*") is None


def test_what_cannot_be_written_says_why(home: Home) -> None:
    with pytest.raises(StoreFailed, match="File name too long"):
        home.write("x" * 300, b"")


def test_nothing_is_left_of_a_loop_and_another_loop_stays(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "project", "ralph-y-00000000", "claude")
    other.make()
    home.write("a/b", b"x")
    forget(tmp_path / "project", LOOP)
    assert not home.beside.exists()
    assert other.path.is_dir()
    forget(tmp_path / "project", LOOP)
    forget(tmp_path / "project", "ralph-y-00000000")
    assert not home.beside.parent.exists()


@pytest.fixture
def as_ordinary_user(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of an ordinary user, who we are meanwhile: to root nothing is closed."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    monkeypatch.setenv("XDG_STATE_HOME", str(path / "state"))
    us = os.geteuid()
    if us == 0:
        os.chown(path, NOBODY, -1)
        os.seteuid(NOBODY)
    try:
        yield path
    finally:
        os.seteuid(us)
        shutil.rmtree(path)


def test_a_directory_that_forbids_to_be_entered_is_said_and_in_the_end_forgotten(as_ordinary_user: Path) -> None:
    root = as_ordinary_user / "project"
    home = Home(root, LOOP, "claude")
    home.make()
    home.write("a/b/c", b"x")
    (home.path / "a/link").symlink_to(as_ordinary_user)
    (home.path / "a/b").chmod(0)
    (home.path / "a").chmod(0)
    assert home.read("a/b/c") is None
    with pytest.raises(StoreFailed, match="Permission denied"):
        home.write("a/d", b"x")
    forget(root, LOOP)
    assert not home.beside.exists()
    assert as_ordinary_user.stat().st_mode & 0o777 == 0o755
