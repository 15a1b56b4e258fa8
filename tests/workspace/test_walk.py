"""A tree is taken in whole, whatever is in it and whatever happens to it meanwhile."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import pytest

from untilproven.errors import StoreFailed
from untilproven.workspace import contents, descent
from untilproven.workspace import walk as walking
from untilproven.workspace.entry import Note
from untilproven.workspace.manifest import Manifest, compare
from untilproven.workspace.walk import walk

WRITER = """
import itertools, os, sys
os.chdir(sys.argv[1])
os.makedirs("a", exist_ok=True)
print("up", flush=True)
for number in itertools.count():
    name = f"a/{number % 7}"
    with open(name, "w") as file:
        file.write("x" * (number % 3000))
    if number % 3 == 0:
        os.unlink(name)
    if number % 5 == 0:
        os.rename("a", "b"); os.symlink("b", "a"); os.unlink("a"); os.rename("b", "a")
    if number % 11 == 0:
        os.mkfifo("a/pipe"); os.unlink("a/pipe"); os.mkdir("a/pipe"); os.rmdir("a/pipe")
"""


def opened() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def settled(root: Path, manifest: Manifest) -> Manifest:
    """Walk until the files are old enough to be known by their times alone."""
    while max(entry.ctime for entry in manifest.entries.values()) >= manifest.began - walking._TICK:
        time.sleep(0.01)
        manifest = walk(root, before=manifest)
    return manifest


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read."""
    names: list[str] = []
    real = contents.hash_of_file

    def counted(directory: int, name: str, seen: os.stat_result) -> tuple[os.stat_result, str]:
        names.append(name)
        return real(directory, name, seen)

    monkeypatch.setattr(contents, "hash_of_file", counted)
    return names


def test_files_links_and_directories_are_listed_and_excluded_paths_are_not(root: Path) -> None:
    for name in (".git", ".aiwg/ralph/loops", "src/empty", "src/.git"):
        (root / name).mkdir(parents=True)
    for name in (".git/HEAD", ".aiwg/ralph/registry.json", ".aiwg/notes", "src/main.py", ".gitignore"):
        (root / name).write_text("x")
    (root / "link").symlink_to("src")
    found = walk(root, [PurePosixPath(".git"), PurePosixPath(".aiwg/ralph")])
    assert sorted(found.entries) == [".aiwg/notes", ".gitignore", "link", "src", "src/.git", "src/empty", "src/main.py"]
    assert found.notes == ()


def test_a_state_directory_that_was_just_made_changes_nothing(root: Path) -> None:
    before = walk(root, [PurePosixPath(".aiwg/ralph")])
    (root / ".aiwg/ralph/loops").mkdir(parents=True)
    assert walk(root, [PurePosixPath(".aiwg/ralph")]).tree == before.tree


def test_the_hash_of_a_file_is_what_sha256sum_says(root: Path) -> None:
    for name, size in (("small", 5), ("chunk", 1024 * 1024), ("large", 3 * 1024 * 1024 + 1), ("empty", 0)):
        (root / name).write_bytes(os.urandom(size))
    (root / "link").symlink_to("small")
    said = subprocess.run(["sha256sum", "small", "chunk", "large", "empty"], cwd=root, capture_output=True, check=True)
    entries = walk(root).entries
    for line in said.stdout.decode().splitlines():
        content, name = line.split()
        assert entries[name].content == content
    target = subprocess.run("printf small | sha256sum", shell=True, capture_output=True, check=True)
    assert entries["link"].content == target.stdout.decode().split()[0]


def test_the_same_content_has_the_same_hash_whenever_and_in_whatever_order_it_was_written(root: Path) -> None:
    def write(names: str) -> str:
        for name in names:
            (root / name).write_text(name)
        return walk(root).tree

    first = write("abc")
    os.utime(root / "a", ns=(1, 1))
    assert walk(root).tree == first
    for name in "abc":
        (root / name).unlink()
    assert walk(root).tree != first
    assert write("cba") == first


@pytest.mark.parametrize("change", ["content", "name", "mode", "kind", "target", "directory", "directory's mode"])
def test_whatever_changes_the_tree_changes_its_hash(root: Path, change: str) -> None:
    (root / "file").write_text("target")
    (root / "link").symlink_to("target")
    (root / "directory").mkdir(mode=0o755)
    before = walk(root)
    match change:
        case "content":
            (root / "file").write_text("teapot")
        case "name":
            (root / "file").rename(root / "other")
        case "mode":
            (root / "file").chmod(0o755)
        case "kind":
            (root / "file").unlink()
            (root / "file").symlink_to("target")
        case "target":
            (root / "link").unlink()
            (root / "link").symlink_to("teapot")
        case "directory":
            (root / "new").mkdir()
        case _:
            (root / "directory").chmod(0o700)
    assert walk(root, before=before).tree != before.tree


def test_no_link_is_followed(root: Path) -> None:
    (root / "etc").symlink_to("/etc")
    (root / "self").symlink_to(".")
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to("nowhere")
    (root / "passwd").symlink_to("/etc/passwd")
    assert sorted(walk(root).entries) == ["dangling", "etc", "loop", "passwd", "self"]


def test_what_is_no_file_is_noted_and_never_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    if os.geteuid() == 0:
        os.mknod(root / "null", 0o20666, os.makedev(1, 3))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "socket"))
        found = walk(root)
    assert found.entries == {}
    names = ["null", "pipe", "socket"] if os.geteuid() == 0 else ["pipe", "socket"]
    assert sorted(found.notes) == [Note(walking.SPECIAL, name) for name in names]


def test_a_file_that_became_a_pipe_or_a_link_after_it_was_seen_is_not_waited_for_or_followed(root: Path) -> None:
    (root / "file").write_text("x")
    seen = (root / "file").stat()
    (root / "file").unlink()
    directory = os.open(root, os.O_RDONLY)
    try:
        os.mkfifo(root / "file")
        with pytest.raises(contents.NotWhatItWas):
            contents.hash_of_file(directory, "file", seen)
        (root / "file").unlink()
        (root / "file").symlink_to("/etc/passwd")
        with pytest.raises(OSError, match="Too many levels"):
            contents.hash_of_file(directory, "file", seen)
    finally:
        os.close(directory)


def test_a_file_that_grows_without_end_is_not_read_without_end(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "LARGEST_FILE", 4096)
    (root / "file").write_bytes(b"x" * 5000)
    real = os.fstat
    monkeypatch.setattr(os, "fstat", lambda fd: os.stat_result((*real(fd)[:6], 100, *real(fd)[7:])))
    monkeypatch.setattr(contents, "_CHUNK", 1000)
    directory = os.open(root, os.O_RDONLY)
    try:
        with pytest.raises(contents.NotWhatItWas, match="grows"):
            contents.hash_of_file(directory, "file", (root / "file").stat())
    finally:
        os.close(directory)


def test_names_may_be_anything(root: Path) -> None:
    names = [b"new\nline", b"back\\slash", b"\xff\xfe", b"\x1b[31m", b"-rf", " \u00fc".encode(), b"'\""]
    for name in names:
        (root / os.fsdecode(name)).write_bytes(name)
        (root / os.fsdecode(b"d" + name)).mkdir()
        (root / os.fsdecode(b"d" + name) / "file").symlink_to(os.fsdecode(name))
    found = walk(root)
    assert len(found.entries) == 3 * len(names)
    assert found.notes == ()
    assert walk(root, before=found).tree == found.tree


def test_a_tree_deeper_than_any_path_can_name_is_walked_to_its_end(root: Path) -> None:
    depth, before = 900, opened()
    home = os.open(root, os.O_RDONLY)
    directory = os.dup(home)
    for _ in range(depth):
        for name in ("deep", "side"):
            os.mkdir(name, dir_fd=directory)
        inner = os.open("deep", os.O_RDONLY, dir_fd=directory)
        os.close(directory)
        directory = inner
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=directory))
    os.close(directory)
    os.close(home)
    found = walk(root)
    assert len(found.entries) == 2 * depth + 1
    assert found.entries["deep/" * depth + "bottom"].size == 0
    assert found.notes == ()
    assert opened() == before
    subprocess.run(["rm", "-rf", root / "deep"], check=True)


def test_few_directories_are_open_at_once_and_none_afterwards(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most, before = 0, opened()
    real = os.scandir

    def counted(directory: int) -> "os._ScandirIterator[str]":
        nonlocal most
        most = max(most, opened() - before)
        return real(directory)

    for at in range(200):
        place = root.joinpath(*["d"] * (at % 100), f"side{at}")
        place.mkdir(parents=True)
    monkeypatch.setattr(os, "scandir", counted)
    walk(root)
    assert 0 < most <= descent.MOST_HELD + 5
    assert opened() == before


def test_what_was_reached_again_from_the_root_goes_through_no_link(root: Path) -> None:
    (root / "real/inner").mkdir(parents=True)
    (root / "link").symlink_to("real")
    with descent.Descent(root) as down:
        (_, here), *_ = [next(iter(down))]
        assert isinstance(here, int)
        lost = descent._Held(-1)
        os.close(down._enter(lost, "real/inner"))
        with pytest.raises(NotADirectoryError):
            down._enter(lost, "link/inner")


def test_what_did_not_change_is_not_read_again(root: Path, reads: list[str]) -> None:
    for name in "abc":
        (root / name).write_text(name)
    found = settled(root, walk(root))
    reads.clear()
    (root / "b").write_text("B")
    assert walk(root, before=found).tree != found.tree
    assert reads == ["b"]


def test_a_change_within_the_same_tick_of_the_clock_is_seen(root: Path) -> None:
    file = root / "file"
    file.write_text("one")
    found = walk(root)
    file.write_text("two")
    was = found.entries["file"]
    now = file.stat()
    found.entries["file"] = type(was)(
        now.st_mode, now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino, was.content
    )
    assert [change.change for change in compare(found, walk(root, before=found))] == ["modified"]


def test_a_change_that_hides_behind_its_old_size_and_time_is_seen(root: Path) -> None:
    file = root / "file"
    file.write_text("one")
    found = settled(root, walk(root))
    then = file.stat()
    file.write_text("two")
    os.utime(file, ns=(then.st_atime_ns, then.st_mtime_ns))
    assert [change.change for change in compare(found, walk(root, before=found))] == ["modified"]


def test_a_giant_is_known_by_size_and_time_and_noted(root: Path) -> None:
    with (root / "giant").open("wb") as file:
        file.truncate(1 << 40)
    began = time.monotonic()
    found = walk(root)
    assert time.monotonic() - began < 5
    assert found.notes == (Note(walking.LARGE, "giant"),)
    assert walk(root, before=found).tree == found.tree
    os.utime(root / "giant", ns=(1, 1))
    (change,) = compare(found, walk(root, before=found))
    assert (change.change, change.size_bytes) == ("modified", 1 << 40)
    assert not change.hash


def test_beyond_the_budget_nothing_is_read_and_nothing_seems_changed(
    root: Path, monkeypatch: pytest.MonkeyPatch, reads: list[str]
) -> None:
    monkeypatch.setattr(walking, "BUDGET", 1000)
    for at in range(20):
        (root / f"file{at}").write_bytes(b"x" * 100)
    found = walk(root)
    assert len(reads) == 10
    assert set(found.notes) == {Note(walking.OVER_BUDGET)}
    again = walk(root, before=found)
    assert compare(found, again) == ()
    monkeypatch.setattr(walking, "BUDGET", 0)
    assert compare(found, walk(root, before=again)) == ()
    (root / "file3").write_bytes(b"y" * 101)
    assert [change.path for change in compare(found, walk(root, before=again))] == ["file3"]


def test_a_program_with_anothers_rights_is_noted(root: Path) -> None:
    (root / "program").write_text("x")
    (root / "program").chmod(0o4755)
    (root / "directory").mkdir()
    (root / "directory").chmod(0o2755)
    assert walk(root).notes == (Note(walking.PRIVILEGED, "program"),)


def test_what_is_closed_to_us_is_noted_and_counts_as_unchanged(as_ordinary_user: Path) -> None:
    root = as_ordinary_user
    for name in ("closed", "blind", "open"):
        (root / name).mkdir()
        (root / name / "file").write_text("x")
    (root / "closed/inner").mkdir()
    (root / "closed/inner/file").write_text("x")
    before = walk(root)
    (root / "closed").chmod(0)
    (root / "open/file").unlink()
    (root / "blind").chmod(0o400)
    found = walk(root, before=before)
    assert set(found.notes) == {Note(walking.UNSEEN, "closed"), Note(walking.UNSEEN, "blind/file")}
    changes = compare(before, found)
    assert [(change.path, change.change) for change in changes] == [
        ("blind/", "mode"),
        ("closed/", "mode"),
        ("open/file", "deleted"),
    ]


def test_a_file_that_cannot_be_read_is_noted_and_known_by_size_and_time(as_ordinary_user: Path) -> None:
    file = as_ordinary_user / "file"
    file.write_text("x")
    file.chmod(0)
    found = walk(as_ordinary_user)
    assert found.notes == (Note(walking.UNREADABLE, "file"),)
    file.chmod(0o200)
    file.write_text("yy")
    assert [change.change for change in compare(found, walk(as_ordinary_user, before=found))] == ["modified"]


def test_whoever_we_are_modes_that_close_a_file_are_seen(root: Path) -> None:
    (root / "file").write_text("x")
    (root / "directory").mkdir()
    before = walk(root)
    (root / "file").chmod(0)
    (root / "directory").chmod(0)
    changes = compare(before, walk(root, before=before))
    (root / "directory").chmod(0o755)
    assert {change.path for change in changes} == {"directory/", "file"}


def test_a_root_that_is_gone_is_said(root: Path) -> None:
    root.rmdir()
    with pytest.raises(StoreFailed, match=r"cannot look into .*project"):
        walk(root)


@contextmanager
def writer_in(root: Path) -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(root)], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
            yield
        finally:
            process.kill()


def test_a_walk_ends_well_while_everything_is_written_moved_and_replaced(root: Path) -> None:
    before = opened()
    (root / "steady").write_text("x")
    with writer_in(root):
        found = walk(root)
        deadline, changed = time.monotonic() + 60, 0
        while changed < 100:
            assert time.monotonic() < deadline
            after = walk(root, before=found)
            assert "steady" in after.entries
            assert all(entry.is_directory or entry.is_hashed or entry.size for entry in after.entries.values())
            changed += bool(compare(found, after))
            found = after
    assert opened() == before
    quiet = walk(root, before=found)
    assert quiet.tree == walk(root).tree


def test_what_vanishes_between_two_looks_is_gone_and_not_noted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "file").write_text("x")
    (root / "directory").mkdir()
    before = walk(root)
    read, below = contents.hash_of_file, descent.Descent.below

    def read_too_late(directory: int, name: str, seen: os.stat_result) -> tuple[os.stat_result, str]:
        (root / "file").unlink()
        return read(directory, name, seen)

    def enter_too_late(down: descent.Descent, paths: list[str]) -> None:
        shutil.rmtree(root / "directory", ignore_errors=True)
        below(down, paths)

    monkeypatch.setattr(contents, "hash_of_file", read_too_late)
    monkeypatch.setattr(descent.Descent, "below", enter_too_late)
    found = walk(root, before=before)
    assert (set(found.entries), found.notes) == ({"directory"}, ())
    assert walk(root, before=found).entries == {}


def test_a_walk_that_is_interrupted_leaves_nothing_open(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a/b/c").mkdir(parents=True)
    (root / "a/b/c/file").write_text("x")
    before = opened()

    def interrupt(*_: object) -> tuple[os.stat_result, str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(contents, "hash_of_file", interrupt)
    with contextlib.suppress(KeyboardInterrupt):
        walk(root)
    assert opened() == before
