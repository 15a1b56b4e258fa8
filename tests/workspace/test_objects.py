"""Bytes by content: written once, never half, and nothing that is not what its name says comes out."""

import errno
import os
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from untilproven.errors import Damaged
from untilproven.store.files import MIB
from untilproven.workspace.entry import Entry
from untilproven.workspace.objects import Objects


@pytest.fixture
def objects(tmp_path: Path) -> Iterator[Objects]:
    found = Objects(tmp_path / "objects")
    yield found
    found.close()


@pytest.fixture
def directory(root: Path) -> Iterator[int]:
    fd = os.open(root, os.O_RDONLY)
    yield fd
    os.close(fd)


def entry_of(path: Path, *, hashed: bool = True) -> Entry:
    seen = path.lstat()
    data = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
    content = sha256(data).hexdigest() if hashed else f"{seen.st_size} bytes of {seen.st_mtime_ns}"
    return Entry(seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, content)


@pytest.mark.parametrize("how", ["put", "take"])
@pytest.mark.parametrize("size", [0, 5, MIB + 1, 3 * MIB])
@pytest.mark.parametrize("hashed", [True, False])
def test_what_is_put_comes_back(
    objects: Objects, root: Path, directory: int, how: str, size: int, hashed: bool
) -> None:
    path = root / "file"
    path.write_bytes(os.urandom(size))
    path.chmod(0o640)
    os.utime(path, ns=(1, 1_600_000_000_000_000_007))
    entry = entry_of(path, hashed=hashed)
    assert not objects.has(entry.content)
    getattr(objects, how)(directory, "file", entry)
    assert objects.has(entry.content)
    objects.sync()
    objects.bring(entry, directory, "copy")
    assert (root / "copy").read_bytes() == path.read_bytes()
    seen = (root / "copy").stat()
    assert (seen.st_mode, seen.st_mtime_ns) == (entry.mode, entry.mtime)
    assert objects.read(entry, size) == path.read_bytes()
    assert objects.read(entry, size - 1) is None or not size
    assert stat.S_IMODE(objects.path.stat().st_mode) == 0o700


def test_a_link_is_where_it_leads(objects: Objects, root: Path, directory: int) -> None:
    (root / "link").symlink_to(os.fsdecode(b"nowhere\n\xff"))
    entry = entry_of(root / "link")
    objects.take(directory, "link", entry)
    objects.bring(entry, directory, "copy")
    assert (root / "copy").readlink() == (root / "link").readlink()
    (root / "text").write_bytes(b"nowhere\n\xff")
    assert objects.has(entry_of(root / "text").content)


def test_taking_makes_no_copy_and_putting_does(objects: Objects, root: Path, directory: int) -> None:
    for name in ("taken", "put"):
        (root / name).write_text(name)
    objects.take(directory, "taken", entry_of(root / "taken"))
    objects.put(directory, "put", entry_of(root / "put"))
    assert (root / "taken").stat().st_nlink == 2
    assert (root / "put").stat().st_nlink == 1


def test_taking_from_where_no_second_name_can_be_is_putting(
    objects: Objects, root: Path, directory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "another file system")

    monkeypatch.setattr(os, "link", refused)
    (root / "file").write_text("x")
    objects.take(directory, "file", entry_of(root / "file"))
    assert (root / "file").stat().st_nlink == 1
    assert objects.has(entry_of(root / "file").content)


@pytest.mark.parametrize("hashed", [True, False])
def test_what_has_changed_meanwhile_is_refused_and_leaves_nothing(
    objects: Objects, root: Path, directory: int, hashed: bool
) -> None:
    (root / "file").write_text("before")
    entry = entry_of(root / "file", hashed=hashed)
    (root / "file").write_text("after!")
    os.utime(root / "file", ns=(5, 5))
    with pytest.raises(Damaged):
        objects.put(directory, "file", entry)
    assert not objects.has(entry.content)
    assert list(objects.path.iterdir()) == []


@pytest.mark.parametrize("instead", ["directory", "fifo", "link"])
def test_what_is_no_file_any_more_is_not_waited_for_nor_followed(
    objects: Objects, root: Path, directory: int, instead: str
) -> None:
    path = root / "file"
    path.write_text("x")
    entry = entry_of(path)
    path.unlink()
    if instead == "directory":
        path.mkdir()
    elif instead == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/etc/passwd")
    for act in (objects.put, objects.take):
        with pytest.raises((Damaged, OSError)):
            act(directory, "file", entry)
    assert not objects.has(entry.content)


def test_what_is_spoilt_does_not_come_out(objects: Objects, root: Path, directory: int) -> None:
    (root / "file").write_text("whole")
    entry = entry_of(root / "file")
    objects.put(directory, "file", entry)
    stored = objects.path / entry.content
    stored.write_text("wrong")
    with pytest.raises(Damaged):
        objects.bring(entry, directory, "copy")
    with pytest.raises(Damaged):
        objects.read(entry, 100)
    stored.unlink()
    with pytest.raises(Damaged, match="missing"):
        objects.bring(entry, directory, "copy")
    assert not (root / "copy").exists()


def test_a_name_that_lost_its_bytes_is_written_again(objects: Objects, root: Path, directory: int) -> None:
    (root / "file").write_text("whole")
    entry = entry_of(root / "file")
    objects.put(directory, "file", entry)
    (objects.path / entry.content).write_bytes(b"")
    objects.put(directory, "file", entry)
    objects.bring(entry, directory, "copy")
    assert (root / "copy").read_text() == "whole"


def test_what_exists_is_not_written_over(objects: Objects, root: Path, directory: int) -> None:
    (root / "file").write_text("x")
    entry = entry_of(root / "file")
    objects.put(directory, "file", entry)
    (root / "mine").write_text("mine")
    with pytest.raises(FileExistsError):
        objects.bring(entry, directory, "mine")
    assert (root / "mine").read_text() == "mine"


def test_the_content_cannot_lead_anywhere_else(objects: Objects, directory: int) -> None:
    for content in ("../" * 20 + "x" * 4, "/etc/passwd", "."):
        assert not objects.has(content)
        with pytest.raises(Damaged):
            objects.bring(Entry(0o100644, 1, content=content), directory, "copy")


def test_a_sweep_leaves_what_is_named(objects: Objects, root: Path, directory: int) -> None:
    entries = []
    for number in range(3):
        (root / str(number)).write_bytes(b"x" * (100 + number))
        entries.append(entry_of(root / str(number), hashed=number != 1))
        objects.put(directory, str(number), entries[-1])
    (objects.path / ".half").write_bytes(b"1234")
    assert objects.sweep([entries[0].content, entries[1].content]) == 102 + 4
    assert [objects.has(entry.content) for entry in entries] == [True, True, False]
    assert Objects(root / "never").sweep([]) == 0


def test_a_file_that_its_owner_may_not_read_is_kept_all_the_same(as_ordinary_user: Path) -> None:
    objects = Objects(as_ordinary_user / "objects")
    path = as_ordinary_user / "closed"
    path.write_text("mine")
    entry = entry_of(path, hashed=False)
    path.chmod(0)
    fd = os.open(as_ordinary_user, os.O_RDONLY)
    try:
        objects.put(fd, "closed", entry)
        path.unlink()
        objects.bring(entry, fd, "copy")
    finally:
        os.close(fd)
        objects.close()
    assert (as_ordinary_user / "copy").read_text() == "mine"
