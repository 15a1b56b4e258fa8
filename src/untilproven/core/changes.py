"""Many changes, one after another, as the one change that they amount to."""

from collections.abc import Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from untilproven.model.iteration import FileChange


class _File:
    """A file that is not as it was, or where it was, at the start."""

    __slots__ = ("hash", "mode", "mode_changed", "modified", "origin", "size")

    def __init__(self, origin: str | None) -> None:
        self.origin = origin
        """Its path at the start; None if it was not there."""
        self.modified = self.mode_changed = False
        self.hash: str | UnsetType = UNSET
        self.size: int | UnsetType = UNSET
        self.mode: int | UnsetType = UNSET

    def learn(self, change: FileChange) -> None:
        """A rename alone does not change what is in a file."""
        differs = self.hash is not UNSET and change.hash is not UNSET and self.hash != change.hash
        self.modified |= differs or change.change in {"created", "modified"}
        self.mode_changed |= change.change == "mode"
        self.hash = self.hash if change.hash is UNSET else change.hash
        self.size = self.size if change.size_bytes is UNSET else change.size_bytes
        self.mode = self.mode if change.mode is UNSET else change.mode

    def changed(self, path: str, how: Literal["created", "modified", "mode"]) -> FileChange:
        return FileChange(path=path, change=how, hash=self.hash, size_bytes=self.size, mode=self.mode)

    def renamed(self, path: str, previous: str) -> FileChange:
        return FileChange(
            path=path,
            change="renamed",
            previous_path=previous,
            hash=self.hash,
            size_bytes=self.size,
            mode=self.mode,
        )


class NetChange:
    """Folds deltas. What was created and deleted again has not happened; a renamed file is followed."""

    def __init__(self) -> None:
        self._now: dict[str, _File] = {}
        self._gone: set[str] = set()

    def add(self, delta: Sequence[FileChange]) -> None:
        """One iteration's changes, which happened at once: paths are vacated before any is filled."""
        for change in delta:
            if change.change == "deleted":
                self._delete(change.path)
        moved = [(self._take(change.previous_path or change.path), change) for change in delta if _moves(change)]
        others = [
            (self._found(change), change) for change in delta if not _moves(change) and change.change != "deleted"
        ]
        for file, change in [*moved, *others]:
            if change.path in self._now:
                self._delete(change.path)
            file.learn(change)
            self._now[change.path] = file

    def _found(self, change: FileChange) -> _File:
        if change.change == "created":
            return self._now.pop(change.path, None) or _File(None)
        return self._take(change.path)

    def _take(self, path: str) -> _File:
        return self._now.pop(path, None) or _File(path)

    def _delete(self, path: str) -> None:
        file = self._take(path)
        if file.origin is not None:
            self._gone.add(file.origin)

    def result(self) -> list[FileChange]:
        """The net change of every path, in the order of the paths."""
        moved = {file.origin for path, file in self._now.items() if file.origin not in {None, path}}
        found: list[FileChange] = []
        for path, file in self._now.items():
            if file.origin == path:
                found.extend(_stayed(path, file))
            elif path in self._gone or path in moved:
                found.append(file.changed(path, "modified"))
            elif file.origin is None or file.origin in self._now:
                found.append(file.changed(path, "created"))
            else:
                found.append(file.renamed(path, file.origin))
        renamed = {change.previous_path for change in found}
        vacated = {origin for origin in self._gone | moved if origin is not None} - self._now.keys() - renamed
        found.extend(FileChange(path=path, change="deleted") for path in vacated)
        return sorted(found, key=lambda change: change.path)


def _moves(change: FileChange) -> bool:
    return change.change == "renamed"


def _stayed(path: str, file: _File) -> list[FileChange]:
    if file.modified:
        return [file.changed(path, "modified")]
    return [file.changed(path, "mode")] if file.mode_changed else []
