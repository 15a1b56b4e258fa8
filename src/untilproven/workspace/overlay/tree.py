"""A tree whose hash follows its changes: only the directories on the way to a change are hashed again."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from os import fsencode

from untilproven.workspace.entry import Entries, Entry
from untilproven.workspace.overlay.beneath import split

Changes = Mapping[str, Entry | None]
"""What is to be at a path from now on; None for nothing."""


class Tree:
    """Entries by path. The same entries have the same hash, however they came about; times do not matter."""

    def __init__(self, entries: Entries) -> None:
        self.entries: Entries = {}
        self._names: dict[str, set[str]] = {"": set()}
        self._hashes: dict[str, str] = {}
        self._stale: set[str] = {""}
        self.apply(entries)

    def apply(self, changes: Changes) -> dict[str, Entry | None]:
        """Make changes; returns those that take them back."""
        entries, undo = self.entries, {}
        for path, entry in changes.items():
            was = entries.get(path)
            if was is entry:
                continue
            undo[path] = was
            if entry is None:
                del entries[path]
                self._unlist(path)
            else:
                entries[path] = entry
                if was is None:
                    self._list(path)
            self._outdate(path)
        return undo

    def below(self, path: str) -> Iterator[str]:
        """Every path below one, in no particular order."""
        waiting = [path]
        while waiting:
            here = waiting.pop()
            for name in self._names.get(here, ()):
                inner = f"{here}/{name}" if here else name
                waiting.append(inner)
                if inner in self.entries:
                    yield inner

    def hash(self) -> str:
        """From the deepest directory up, so that each finds those below it done."""
        for path in sorted(self._stale, key=_depth, reverse=True):
            if not path or self._names.get(path):
                self._hashes[path] = self._hash_of(path)
            else:
                self._hashes.pop(path, None)
        self._stale.clear()
        return self._hashes[""]

    def _hash_of(self, directory: str) -> str:
        prefix = f"{directory}/" if directory else ""
        entries, hashes = self.entries, self._hashes
        lines = []
        for name in sorted(self._names[directory]):
            path = prefix + name
            entry = entries.get(path)
            told = f"{entry.mode:o} {entry.content}" if entry else "-"
            lines.append(f"{name}\0{told} {hashes.get(path, '')}\n")
        return sha256(fsencode("".join(lines))).hexdigest()

    def _list(self, path: str) -> None:
        """Directories on the way may have no entry of their own."""
        while path:
            parent, name = split(path)
            names = self._names.setdefault(parent, set())
            if name in names:
                return
            names.add(name)
            path = parent

    def _unlist(self, path: str) -> None:
        while path and path not in self.entries and not self._names.get(path):
            self._names.pop(path, None)
            parent, name = split(path)
            self._names[parent].discard(name)
            path = parent
        self._names.setdefault("", set())

    def _outdate(self, path: str) -> None:
        stale = self._stale
        stale.add(path)
        while path:
            path = split(path)[0]
            if path in stale:
                return
            stale.add(path)


def _depth(path: str) -> int:
    return path.count("/") + 1 if path else 0
