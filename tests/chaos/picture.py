"""A picture of a tree: every name with all that can be seen of it."""

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

NOT_THE_USERS = frozenset({".git", ".aiwg"})
DIARY = "diary"
"""The directory in which the user writes while a loop runs: no two runs have the same in it."""
TEMPORARY = ".ralph-merge-"


class Seen(NamedTuple):
    """One name: what it is, what is in it or where it leads, and when it was changed."""

    mode: int
    what: bytes
    mtime: int

    @property
    def thing(self) -> tuple[int, bytes]:
        """All that does not depend on when it was made."""
        return self.mode, self.what


Picture = Mapping[str, Seen]


def picture(root: Path, leave_out: Collection[str] = NOT_THE_USERS) -> dict[str, Seen]:
    found = {path: seen for path, seen in _walk(str(root), "") if path.partition("/")[0] not in leave_out}
    return {".": Seen(root.stat().st_mode, b"", 0)} | found


def _walk(root: str, below: str) -> Iterator[tuple[str, Seen]]:
    with os.scandir(f"{root}/{below}") as listing:
        names = sorted(item.name for item in listing)
    for name in names:
        path = f"{below}{name}"
        found = os.lstat(f"{root}/{path}")
        what = b""
        if stat.S_ISREG(found.st_mode):
            what = Path(root, path).read_bytes()
        elif stat.S_ISLNK(found.st_mode):
            what = os.fsencode(Path(root, path).readlink())
        yield path, Seen(found.st_mode, what, found.st_mtime_ns)
        if stat.S_ISDIR(found.st_mode):
            yield from _walk(root, f"{path}/")


def without_diary(seen: Picture) -> dict[str, Seen]:
    return {path: one for path, one in seen.items() if path.partition("/")[0] != DIARY}


def same_things(now: Picture, then: Picture, why: str) -> None:
    """The same names, modes, contents and links."""
    for path in sorted(now.keys() | then.keys()):
        is_now, was = now.get(path), then.get(path)
        assert is_now, f"{why}: {path!r} is missing"
        assert was, f"{why}: {path!r} is there"
        assert is_now.thing == was.thing, f"{why}: {path!r} is {is_now.thing}, and should be {was.thing}"


def untouched(
    now: Picture, start: Picture, then: Picture, *, but: Collection[str] = (), directories: bool = True
) -> None:
    """What was not changed between two pictures is now what it was to the nanosecond."""
    for path, was in start.items():
        if then.get(path) == was and path not in but and (directories or not stat.S_ISDIR(was.mode)):
            assert now.get(path) == was, f"{path!r} was not to be touched: it is {now.get(path)} and was {was}"


def between(now: Picture, before: Picture, after: Picture) -> None:
    """Every name is as it was before or as it is to be after; what has not changed is as it was."""
    for path in sorted(now.keys() | before.keys() | after.keys()):
        here, old, new = now.get(path), before.get(path), after.get(path)
        things = {one.thing if one else None for one in (old, new)}
        for one in (old, new):
            if one and stat.S_ISDIR(one.mode) and old != new:  # its mode comes when it is filled
                things |= {(stat.S_IFDIR | 0o700, b""), (one.mode | 0o700, b"")}
        if old and new and stat.S_IFMT(old.mode) != stat.S_IFMT(new.mode):
            things.add(None)
        allowed = TEMPORARY in path or (here.thing if here else None) in things
        assert allowed, f"in a merge {path!r} is {here}, which is neither {old} nor {new}"
