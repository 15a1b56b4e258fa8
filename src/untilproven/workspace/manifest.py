"""What a tree consists of, what tells two trees apart, and how one is remembered."""

import os
import stat
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import UNSET

from untilproven.core.text import text
from untilproven.errors import Damaged
from untilproven.model.iteration import FileChange
from untilproven.store import files
from untilproven.workspace.entry import Entries, Entry, Note
from untilproven.workspace.renames import pair

LARGEST_MANIFEST = 1024 * files.MIB
_FOR_NOBODY_ELSE = 0o077


class Manifest(msgspec.Struct, frozen=True):
    """A tree as one walk found it: entries by their path from the root on."""

    entries: Entries
    began: int
    """When the walk began, in nanoseconds: what was written at that time may change again without a trace."""
    tree: str
    """A hash of all paths, modes and contents; times do not matter."""
    notes: tuple[Note, ...] = ()


def tree_hash(entries: Mapping[str, Entry]) -> str:
    """The same for the same content, whenever it was written and in whatever order it was found."""
    lines = [f"{path}\0{entries[path].mode:o} {entries[path].content}\n" for path in sorted(entries)]
    return sha256(os.fsencode("".join(lines))).hexdigest()


def compare(before: Manifest, after: Manifest) -> tuple[FileChange, ...]:
    """What leads from one tree to the other, sorted by path.

    A directory is named, with a slash at its end, if it came or went empty, or if its mode changed; everything else
    about directories follows from the files in them.
    """
    if before.tree == after.tree:
        return ()
    created = _only_in(after.entries, before.entries)
    deleted = _only_in(before.entries, after.entries)
    origins = pair(deleted, created)
    gone = deleted.keys() - origins.values()
    new = created.keys() - origins.keys()
    changes = [
        *_changed(before.entries, after.entries),
        *(_change("created", path, created[path]) for path in new),
        *(_change("renamed", path, created[path], origin) for path, origin in origins.items()),
        *(FileChange(path=_shown(path, deleted[path]), change="deleted") for path in gone),
    ]
    return tuple(sorted(changes, key=lambda change: (change.path, change.change)))


def _only_in(these: Entries, those: Entries) -> Entries:
    """What one tree has and the other has not, or has as a directory instead; no directory that is not empty."""
    found = {
        path: entry
        for path, entry in these.items()
        if (other := those.get(path)) is not entry and (other is None or other.is_directory != entry.is_directory)
    }
    if any(entry.is_directory for entry in found.values()):
        parents = {path.rpartition("/")[0] for path in these}
        found = {path: entry for path, entry in found.items() if not entry.is_directory or path not in parents}
    return found


def _changed(before: Entries, after: Entries) -> Iterator[FileChange]:
    for path, entry in after.items():
        was = before.get(path)
        if was is None or was is entry or was.is_directory != entry.is_directory:
            continue
        if was.content != entry.content or stat.S_IFMT(was.mode) != stat.S_IFMT(entry.mode):
            yield _change("modified", path, entry)
        elif was.mode != entry.mode:
            yield _change("mode", path, entry)


def _change(
    change: Literal["created", "modified", "renamed", "mode"],
    path: str,
    entry: Entry,
    origin: str = "",
) -> FileChange:
    return FileChange(
        path=_shown(path, entry),
        change=change,
        previous_path=text(origin) if origin else UNSET,
        hash=entry.content if entry.is_hashed else UNSET,
        size_bytes=UNSET if entry.is_directory else entry.size,
        mode=entry.mode,
    )


def _shown(path: str, entry: Entry) -> str:
    return text(path) + "/" if entry.is_directory else text(path)


class _Stored(msgspec.Struct, frozen=True, array_like=True, tag="manifest-1"):
    """In a file, paths are the bytes they really are."""

    began: int
    tree: str
    entries: dict[bytes, Entry]


def save(manifest: Manifest, path: Path) -> None:
    """Remember a tree for a later process; what was noted on the way is not kept."""
    entries = {os.fsencode(name): entry for name, entry in manifest.entries.items()}
    data = msgspec.msgpack.encode(_Stored(manifest.began, manifest.tree, entries))
    before = os.umask(_FOR_NOBODY_ELSE)
    try:
        files.replace(path, data, durable=True)
    finally:
        os.umask(before)


def load(path: Path) -> Manifest:
    """A tree that was saved; `Damaged` if it is not there or not whole."""
    try:
        stored = msgspec.msgpack.decode(files.read(path, LARGEST_MANIFEST), type=_Stored)
    except FileNotFoundError:
        raise Damaged(f"{path} is missing: how the tree was at the start is not known") from None
    except (msgspec.MsgspecError, OSError) as error:
        raise Damaged(f"{path} is not a manifest of a tree: {error}") from error
    entries = {os.fsdecode(name): entry for name, entry in stored.entries.items()}
    if tree_hash(entries) != stored.tree:
        raise Damaged(f"{path} does not agree with itself; it was changed or cut")
    return Manifest(entries, stored.began, stored.tree)
