"""Entries of trees and of the index, and the bytes behind them."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from untilproven.workspace.git.confined import Git
from untilproven.workspace.git.running import GitFailed

REGULAR, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"


class Blob(NamedTuple):
    """What is at a path, as git writes it."""

    mode: str
    name: str


Entries = dict[str, Blob]


def in_commit(git: Git, commit: str) -> Entries:
    """Every path of a commit; a path that is there twice is refused."""
    found: Entries = {}
    if not commit:
        return found
    for line in _lines(git.out("ls-tree", "-r", "-z", "--full-tree", commit)):
        about, _, path = line.partition("\t")
        mode, _, name = about.split(" ")
        if path in found:
            raise GitFailed(f"{commit} has {path!r} twice")
        found[path] = Blob(mode, name)
    return found


def in_index(git: Git, index: Path) -> tuple[Entries, set[str]]:
    """Every path of an index, and those that have several versions because of a merge."""
    found: Entries = {}
    unmerged: set[str] = set()
    if not index.exists():
        return found, unmerged
    for line in _lines(git.out("ls-files", "--stage", "-z", index=index)):
        about, _, path = line.partition("\t")
        mode, name, stage = about.split(" ")
        found[path] = Blob(mode, name)
        if stage != "0":
            unmerged.add(path)
    return found, unmerged


def contents(git: Git, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """The bytes of blobs, one after the other."""
    asked = list(dict.fromkeys(names))
    if not asked:
        return
    parts = git.stream("cat-file", "--batch", stdin="".join(f"{name}\n" for name in asked).encode())
    source = _Source(parts)
    for name in asked:
        head = source.line().split()
        if len(head) != 3 or head[1] != b"blob":
            raise GitFailed(f"{name} is not in the repository: {b' '.join(head).decode('ascii', 'replace')}")
        yield name, source.take(int(head[2]))
        source.take(1)
    for _ in parts:
        raise GitFailed("git cat-file printed more than was asked for")


class _Source:
    """Reads a stream by lines and by counts."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._rest = bytearray()

    def line(self) -> bytes:
        while (at := self._rest.find(b"\n")) < 0:
            self._more()
        return self._cut(at + 1)[:-1]

    def take(self, count: int) -> bytes:
        while len(self._rest) < count:
            self._more()
        return self._cut(count)

    def _cut(self, count: int) -> bytes:
        data = bytes(self._rest[:count])
        del self._rest[:count]
        return data

    def _more(self) -> None:
        part = next(self._parts, b"")
        if not part:
            raise GitFailed("git cat-file ended too soon")
        self._rest += part


class Blobs:
    """Bytes that are to become blobs, exactly as they are: all of them at once, and in few files however many."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._path = git.private / f"blobs-{os.urandom(4).hex()}"
        self._count = 0
        self._path.write_bytes(b"feature done\n")

    def add(self, data: bytes) -> None:
        self._count += 1
        with self._path.open("ab") as file:
            file.write(b"blob\nmark :%d\ndata %d\n%b\n" % (self._count, len(data), data))

    def write(self) -> list[str]:
        """Their names, in the order in which they came."""
        if not self._count:
            return []
        with self._path.open("ab") as file:
            file.write(b"".join(b"get-mark :%d\n" % (number + 1) for number in range(self._count)) + b"done\n")
        names = self._git.out("fast-import", "--quiet", stdin=self._path).decode().split()
        if len(names) != self._count:
            raise GitFailed("git fast-import did not answer for every file")
        return names


def update(git: Git, index: Path, changes: Mapping[str, Blob | None]) -> None:
    """Change an index at these paths and nowhere else; what goes comes first, for a file may become a directory."""
    zeros = "0" * 40
    gone = [f"0 {zeros}\t{path}\0" for path, blob in changes.items() if blob is None]
    new = [f"{blob.mode} {blob.name}\t{path}\0" for path, blob in changes.items() if blob is not None]
    git.out("update-index", "-z", "--index-info", stdin=os.fsencode("".join([*gone, *new])), index=index)


def tree_of(git: Git, commit: str, changes: Mapping[str, Blob | None]) -> str:
    """The tree of a commit with these changes; the user's index has no part in it."""
    index = git.private / f"index-{os.urandom(4).hex()}"
    git.out("read-tree", *([commit] if commit else ["--empty"]), index=index)
    update(git, index, changes)
    return git.out("write-tree", index=index).decode().strip()


def _lines(output: bytes) -> list[str]:
    return [line for line in os.fsdecode(output).split("\0") if line]
