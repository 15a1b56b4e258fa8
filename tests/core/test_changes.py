"""Many deltas amount to one: held against a tree that is really changed."""

from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.core.changes import NetChange
from untilproven.model.iteration import FileChange

Tree = dict[str, tuple[int, int]]
"""Contents and mode by path."""


def created(path: str, digest: str = "1") -> FileChange:
    return FileChange(path=path, change="created", hash=digest, size_bytes=1)


def modified(path: str, digest: str = "2") -> FileChange:
    return FileChange(path=path, change="modified", hash=digest, size_bytes=2)


def deleted(path: str) -> FileChange:
    return FileChange(path=path, change="deleted")


def renamed(previous: str, path: str) -> FileChange:
    return FileChange(path=path, change="renamed", previous_path=previous)


def mode(path: str) -> FileChange:
    return FileChange(path=path, change="mode", mode=0o755)


def net(*deltas: list[FileChange]) -> list[str]:
    change = NetChange()
    for delta in deltas:
        change.add(delta)
    return [
        f"{found.change} {found.previous_path}>{found.path}" if found.previous_path else f"{found.change} {found.path}"
        for found in change.result()
    ]


@pytest.mark.parametrize(
    ("deltas", "amounts_to"),
    [
        ([[created("a")], [deleted("a")]], []),
        ([[created("a")], [modified("a")]], ["created a"]),
        ([[modified("a")], [modified("a")]], ["modified a"]),
        ([[modified("a")], [deleted("a")]], ["deleted a"]),
        ([[deleted("a")], [created("a")]], ["modified a"]),
        ([[deleted("a")], [created("a")], [deleted("a")]], ["deleted a"]),
        ([[mode("a")], [modified("a")]], ["modified a"]),
        ([[mode("a")]], ["mode a"]),
        ([[created("a")], [mode("a")]], ["created a"]),
        ([[renamed("a", "b")]], ["renamed a>b"]),
        ([[renamed("a", "b")], [renamed("b", "c")]], ["renamed a>c"]),
        ([[renamed("a", "b")], [renamed("b", "a")]], []),
        ([[renamed("a", "b")], [modified("b")], [renamed("b", "a")]], ["modified a"]),
        ([[renamed("a", "b")], [deleted("b")]], ["deleted a"]),
        ([[created("a")], [renamed("a", "b")]], ["created b"]),
        ([[created("a")], [renamed("a", "b")], [deleted("b")]], []),
        ([[modified("a")], [renamed("a", "b")]], ["renamed a>b"]),
        ([[renamed("a", "b"), created("a")]], ["modified a", "created b"]),
        ([[created("a"), renamed("a", "b")]], ["modified a", "created b"]),
        ([[deleted("b")], [renamed("a", "b")]], ["deleted a", "modified b"]),
        ([[renamed("a", "b"), renamed("b", "a")]], ["modified a", "modified b"]),
        ([[renamed("a", "b"), renamed("b", "a")], [renamed("a", "b"), renamed("b", "a")]], []),
        ([[renamed("b", "c"), renamed("a", "b")]], ["deleted a", "modified b", "created c"]),
    ],
)
def test_what_follows_on_what(deltas: list[list[FileChange]], amounts_to: list[str]) -> None:
    assert net(*deltas) == amounts_to


def test_a_file_that_comes_back_with_other_contents_is_modified() -> None:
    change = NetChange()
    change.add([FileChange(path="b", change="renamed", previous_path="a", hash="1")])
    change.add([FileChange(path="a", change="renamed", previous_path="b", hash="2")])
    assert change.result() == [FileChange(path="a", change="modified", hash="2")]


def test_the_newest_that_is_known_is_told() -> None:
    change = NetChange()
    change.add([created("a", "1")])
    change.add([mode("a")])
    change.add([renamed("a", "b")])
    change.add([modified("b", "9")])
    assert change.result() == [FileChange(path="b", change="created", hash="9", size_bytes=2, mode=0o755)]


def difference(before: Tree, after: Tree, *, follow: bool) -> list[FileChange]:
    """The exact delta of two trees; renames are whole and unchanged files, if they are looked for."""
    gone = sorted(before.keys() - after.keys())
    found: list[FileChange] = []
    for path in sorted(after):
        known: dict[str, Any] = {"hash": str(after[path][0]), "size_bytes": 1, "mode": after[path][1]}
        if path not in before:
            source = next((old for old in gone if before[old] == after[path]), None) if follow else None
            if source is None:
                found.append(FileChange(path=path, change="created", **known))
            else:
                gone.remove(source)
                found.append(FileChange(path=path, change="renamed", previous_path=source, **known))
        elif before[path][0] != after[path][0]:
            found.append(FileChange(path=path, change="modified", **known))
        elif before[path] != after[path]:
            found.append(FileChange(path=path, change="mode", **known))
    return [*found, *(deleted(path) for path in gone)]


trees = st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.integers(0, 3), st.sampled_from([0o644, 0o755])))


@given(st.lists(trees, min_size=1, max_size=6), st.booleans(), st.randoms())
def test_the_net_change_leads_from_the_first_tree_to_the_last(history: list[Tree], follow: bool, order: Random) -> None:
    change = NetChange()
    for before, after in pairwise(history):
        delta = difference(before, after, follow=follow)
        order.shuffle(delta)
        change.add(delta)
    start, end, found = history[0], history[-1], change.result()
    paths = [one.path for one in found]
    assert len(set(paths)) == len(paths)
    by_kind = {kind: {one.path for one in found if one.change == kind} for kind in ("created", "modified", "mode")}
    moved = {str(one.previous_path): one.path for one in found if one.change == "renamed"}
    vanished = {one.path for one in found if one.change == "deleted"}
    assert by_kind["created"] | set(moved.values()) == end.keys() - start.keys()
    assert vanished | moved.keys() == start.keys() - end.keys()
    assert by_kind["modified"] | by_kind["mode"] <= start.keys() & end.keys()
    for path in start.keys() & end.keys():
        assert start[path] == end[path] or path in paths
        assert start[path][0] == end[path][0] or path in by_kind["modified"]
    for one in found:
        if one.change != "deleted":
            assert (one.hash, one.mode) == (str(end[one.path][0]), end[one.path][1])
