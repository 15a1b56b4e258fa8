"""What leads from one tree to another, and remembering a tree over processes."""

import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.errors import Damaged, Foreign
from untilproven.model import wire
from untilproven.model.iteration import FileChange
from untilproven.workspace.entry import Entry
from untilproven.workspace.manifest import Manifest, compare, load, save, tree_hash
from untilproven.workspace.walk import walk

CONTENTS = ["1" * 64, "2" * 64, "3" * 64]


def told(changes: tuple[FileChange, ...]) -> list[tuple[str, ...]]:
    return [
        (change.change, change.previous_path, change.path) if change.previous_path else (change.change, change.path)
        for change in changes
    ]


def manifest_of(contents: dict[str, str]) -> Manifest:
    entries = {path: Entry(0o100644, 1, content=content) for path, content in contents.items()}
    return Manifest(entries, 0, tree_hash(entries))


def test_each_kind_of_change_is_told_with_what_the_file_now_is(root: Path) -> None:
    for name in ("same", "modified", "deleted", "mode", "renamed"):
        (root / name).write_text(f"content of {name}")
    before = walk(root)
    (root / "modified").write_text("!")
    (root / "deleted").unlink()
    (root / "mode").chmod(0o755)
    (root / "renamed").rename(root / "was renamed")
    (root / "created").write_text("new")
    after = walk(root, before=before)
    changes = compare(before, after)
    assert told(changes) == [
        ("created", "created"),
        ("deleted", "deleted"),
        ("mode", "mode"),
        ("modified", "modified"),
        ("renamed", "renamed", "was renamed"),
    ]
    for change in changes:
        if change.change != "deleted":
            entry = after.entries[change.path]
            assert (change.hash, change.size_bytes, change.mode) == (entry.content, entry.size, entry.mode)
    assert changes[2].mode == 0o100755
    assert wire.decode(FileChange, wire.encode(changes[0])) == changes[0]


def test_a_touch_is_no_change(root: Path) -> None:
    (root / "file").write_text("x")
    before = walk(root)
    os.utime(root / "file", ns=(1, 1))
    assert compare(before, walk(root, before=before)) == ()


def test_empty_directories_are_told_and_full_ones_follow_from_their_files(root: Path) -> None:
    (root / "old/inner").mkdir(parents=True)
    (root / "old/inner/file").write_text("x")
    (root / "gone/empty").mkdir(parents=True)
    before = walk(root)
    shutil.rmtree(root / "old")
    shutil.rmtree(root / "gone")
    (root / "new/empty").mkdir(parents=True)
    (root / "full").mkdir()
    (root / "full/file").write_text("y")
    assert told(compare(before, walk(root))) == [
        ("created", "full/file"),
        ("deleted", "gone/empty/"),
        ("created", "new/empty/"),
        ("deleted", "old/inner/file"),
    ]


def test_a_file_that_becomes_a_directory_and_back(root: Path) -> None:
    (root / "thing").write_text("x")
    file = walk(root)
    (root / "thing").unlink()
    (root / "thing").mkdir()
    empty = walk(root, before=file)
    (root / "thing/inner").write_text("y")
    full = walk(root, before=empty)
    shutil.rmtree(root / "thing")
    (root / "thing").write_text("x")
    back = walk(root, before=full)
    assert told(compare(file, empty)) == [("deleted", "thing"), ("created", "thing/")]
    assert told(compare(file, full)) == [("deleted", "thing"), ("created", "thing/inner")]
    assert told(compare(empty, full)) == [("created", "thing/inner")]
    assert told(compare(full, back)) == [("created", "thing"), ("deleted", "thing/inner")]
    assert compare(file, back) == ()


def test_a_file_that_becomes_a_link_to_its_own_content_is_modified(root: Path) -> None:
    (root / "file").write_text("target")
    before = walk(root)
    (root / "file").unlink()
    (root / "file").symlink_to("target")
    (change,) = compare(before, walk(root, before=before))
    assert (change.change, change.mode, change.size_bytes) == ("modified", 0o120777, 6)


def test_renames_are_paired_by_content_first_where_the_name_is_the_same(root: Path) -> None:
    for name in ("a/one", "b/two", "b/three"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("the same")
    before = walk(root)
    for old, new in (("a/one", "d/one"), ("b/two", "c/two"), ("b/three", "c/four")):
        (root / new).parent.mkdir(exist_ok=True)
        (root / old).rename(root / new)
    assert told(compare(before, walk(root))) == [
        ("renamed", "b/three", "c/four"),
        ("renamed", "b/two", "c/two"),
        ("renamed", "a/one", "d/one"),
    ]


def test_links_are_renamed_and_empty_files_are_not(root: Path) -> None:
    (root / "link").symlink_to("somewhere")
    (root / "empty").write_text("")
    before = walk(root)
    (root / "link").rename(root / "moved")
    (root / "empty").rename(root / "still empty")
    assert told(compare(before, walk(root))) == [
        ("deleted", "empty"),
        ("renamed", "link", "moved"),
        ("created", "still empty"),
    ]


def test_a_rename_with_another_mode_says_which(root: Path) -> None:
    (root / "a").write_text("x")
    before = walk(root)
    (root / "a").rename(root / "b")
    (root / "b").chmod(0o700)
    (change,) = compare(before, walk(root))
    assert (change.change, change.mode) == ("renamed", 0o100700)


def test_a_chain_of_renames_loses_nothing(root: Path) -> None:
    for name in "abc":
        (root / name).write_text(name)
    before = walk(root)
    for old, new in ("cd", "bc", "ab"):
        (root / old).rename(root / new)
    assert told(compare(before, walk(root))) == [
        ("deleted", "a"),
        ("modified", "b"),
        ("modified", "c"),
        ("created", "d"),
    ]


@given(
    st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from(CONTENTS)),
    st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from(CONTENTS)),
)
def test_doing_what_is_told_leads_to_the_other_tree(first: dict[str, str], second: dict[str, str]) -> None:
    before, after = manifest_of(first), manifest_of(second)
    changes = compare(before, after)
    done = dict(first)
    for change in changes:
        if change.change in {"deleted", "renamed"}:
            del done[change.previous_path or change.path]
    for change in changes:
        if change.change != "deleted":
            assert change.previous_path or change.change != "renamed"
            done[change.path] = str(change.hash)
    assert done == second
    turned = manifest_of(dict(reversed(second.items())))
    assert turned.tree == after.tree
    assert compare(before, turned) == changes


def test_paths_that_are_not_text_can_be_stored(root: Path) -> None:
    before = walk(root)
    for name in (b"\xff\n", b"d\xfe/\xfd"):
        path = root / os.fsdecode(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    changes = compare(before, walk(root))
    assert [change.path for change in changes] == ["?\n", "d?/?"]
    assert all(wire.decode(FileChange, wire.encode(change)) == change for change in changes)


def test_ten_thousand_changed_files_are_no_trouble(root: Path, tmp_path: Path) -> None:
    for content in range(7):
        (tmp_path / f"{content}").write_text(f"{content}")
    for at in range(100):
        (root / f"d{at}").mkdir()
        for number in range(100):
            os.link(tmp_path / f"{number % 7}", root / f"d{at}/{number}")
    before = walk(root)
    (root / "moved").mkdir()
    for at in range(100):
        (root / f"d{at}").rename(root / f"moved/d{at}")
    began = time.process_time()
    changes = compare(before, walk(root))
    assert time.process_time() - began < 5
    assert len(changes) == 10_000
    assert {change.change for change in changes} == {"renamed"}
    assert all(change.path == f"moved/{change.previous_path}" for change in changes)


def test_a_saved_tree_can_be_compared_with_by_a_later_process(root: Path, tmp_path: Path) -> None:
    for name in (b"plain", b"\xff", b"new\nline"):
        (root / os.fsdecode(name)).write_bytes(name)
    (root / "empty").mkdir()
    (root / "link").symlink_to("plain")
    start, path = walk(root), tmp_path / "start"
    umask = os.umask(0o022)
    save(start, path)
    assert os.umask(umask) == 0o022
    assert path.stat().st_mode & 0o777 == 0o600
    assert load(path) == start
    (root / "plain").write_text("changed")
    assert told(compare(load(path), walk(root))) == [("modified", "plain")]


@pytest.mark.parametrize("damage", ["cut", "empty", "forged", "other", "directory"])
def test_a_saved_tree_that_is_damaged_is_never_taken_for_one(root: Path, tmp_path: Path, damage: str) -> None:
    (root / "file").write_text("x")
    path = tmp_path / "start"
    save(walk(root), path)
    data = path.read_bytes()
    match damage:
        case "cut":
            path.write_bytes(data[:-7])
        case "empty":
            path.write_bytes(b"")
        case "forged":
            path.write_bytes(data.replace(b"file", b"fil3"))
        case "other":
            path.write_bytes(b'{"json": 1}')
        case _:
            path.unlink()
            path.mkdir()
    with pytest.raises(Damaged):
        load(path)


def test_a_saved_tree_that_is_missing_or_a_link_is_not_believed(root: Path, tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="missing"):
        load(tmp_path / "start")
    save(walk(root), tmp_path / "real")
    (tmp_path / "start").symlink_to("real")
    with pytest.raises(Foreign):
        load(tmp_path / "start")
