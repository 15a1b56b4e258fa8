"""Which of the changed paths go into the commit: the loop's work, and nothing of what the user had there before."""

import os
import re
import stat
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import NamedTuple, Protocol

import msgspec

from untilproven.workspace import contents
from untilproven.workspace.entry import Entry
from untilproven.workspace.git import lines, objects
from untilproven.workspace.git.confined import Git, Head
from untilproven.workspace.git.objects import EXECUTABLE, LINK, REGULAR, SUBMODULE, Blob, Entries
from untilproven.workspace.git.surroundings import Surroundings, directories_above
from untilproven.workspace.overlay.beneath import Beneath, split

OF_GIT = "is a name that git keeps for itself"
SUBMODULES = "is about submodules: commit it yourself"
IN_SUBMODULE = "is in a submodule: commit it there yourself"
NESTED = "is in a repository of its own: commit it there yourself"
TOO_LARGE = "is too large to be known by its content: commit it yourself"
TOO_LONG = "has a longer path than git can work with"
NO_FILE = "is neither a file nor a link"
CHANGED_SINCE = "has changed since it was checked"
UNMERGED = "is not merged yet"
STAGED = "has staged changes of yours"
YOURS = "had changes of yours before the loop changed it"
UNTRACKED = "was yours and in no commit before the loop changed it"
WAS_DELETED = "was deleted by you before the loop made it again"
IN_THE_WAY = "is in the way of another path, or another in its way"
_YOURSELF = ": commit it yourself"
_LONGEST = 3000
_EXECUTABLE = 0o100
_RESERVED = re.compile(r"(?:\.git|git~1)[ .]*", re.IGNORECASE)
_MODULES = re.compile(r"(?:\.gitmodules|gitmod~[0-9]|gi[0-9a-f]{4}~[0-9])[ .]*", re.IGNORECASE)
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Change(Protocol):
    """One path: what it was when the loop began, and what it was when it was proven; None is nothing."""

    @property
    def base(self) -> Entry | None: ...
    @property
    def ours(self) -> Entry | None: ...


class LeftOut(NamedTuple):
    """A path that is not in the commit, and why, as the end of a sentence."""

    path: str
    why: str


class Choice(msgspec.Struct, frozen=True):
    """What the commit changes, None for a path that goes. Ignored files are only counted."""

    changes: dict[str, Blob | None]
    before: dict[str, Blob | None]
    """The same paths in HEAD."""
    left_out: tuple[LeftOut, ...]
    ignored: int


class Chooser:
    """Looks at every path, and drops it with a reason as soon as there is one."""

    def __init__(self, git: Git, changes: Mapping[str, Change], head: Head, along: Mapping[str, bytes]) -> None:
        self._git = git
        self._changes = changes
        self._along = along
        self._head = objects.in_commit(git, head.commit)
        self._index, self._unmerged = objects.in_index(git, git.repository.index)
        self._out: dict[str, str] = {}

    def choose(self) -> Choice:
        wanted = self._named()
        around = Surroundings(self._git, wanted)
        known = self._head.keys() | self._index.keys()
        unknown = [path for path, entry in wanted.items() if entry and path not in known]
        ignored = around.ignored(unknown)
        self._drop(NESTED, (path for path in unknown if path not in ignored and _above(path) & around.nested))
        wanted = {path: entry for path, entry in wanted.items() if path not in ignored and path not in self._out}
        attributes = around.attributes(wanted)
        autocrlf = self._git.settings.value("core.autocrlf") or ""
        how = {path: lines.conversion(found, autocrlf) for path, found in attributes.items()}
        stored = self._stored(wanted, attributes, how)
        new = {path: blob for path, blob in stored.items() if self._head.get(path) != blob}
        self._drop_the_users(new, how)
        self._drop_in_the_way({path: blob for path, blob in new.items() if path not in self._out})
        kept = {path: blob for path, blob in new.items() if path not in self._out}
        before = {path: self._head.get(path) for path in kept}
        for path, blob in self._ours().items():
            kept[path], before[path] = blob, self._index.get(path)
        return Choice(kept, before, tuple(LeftOut(*one) for one in sorted(self._out.items())), len(ignored))

    def _ours(self) -> dict[str, Blob]:
        """The files that come along, unless the user keeps them out of git; those that HEAD has already stay out."""
        known = self._head.keys() | self._index.keys()
        ignored = Surroundings(self._git, self._along).ignored([path for path in self._along if path not in known])
        wanted = [path for path in self._along if path not in ignored and path not in self._unmerged]
        blobs = objects.Blobs(self._git)
        for path in wanted:
            blobs.add(self._along[path])
        stored = {path: Blob(REGULAR, name) for path, name in zip(wanted, blobs.write(), strict=True)}
        return {path: blob for path, blob in stored.items() if self._head.get(path) != blob}

    def _drop(self, why: str, paths: Iterable[str]) -> None:
        self._out.update(dict.fromkeys(paths, why))

    def _named(self) -> dict[str, Entry | None]:
        """Those that git can have, by their names and kinds."""
        found: dict[str, Entry | None] = {}
        for path, change in self._changes.items():
            base, ours = _file(change.base), _file(change.ours)
            if _git_mode(base) == _git_mode(ours) and (base and base.content) == (ours and ours.content):
                continue
            if why := _refused(path, ours) or self._refused_here(path):
                self._out[path] = why
            else:
                found[path] = ours
        return found

    def _refused_here(self, path: str) -> str:
        if path in self._unmerged:
            return UNMERGED
        for above in {path, *_above(path)}:
            if SUBMODULE in {entries[above].mode for entries in (self._head, self._index) if above in entries}:
                return IN_SUBMODULE
        return ""

    def _stored(
        self, wanted: Mapping[str, Entry | None], attributes: Mapping[str, Mapping[str, str]], how: Mapping[str, str]
    ) -> Entries | dict[str, Blob | None]:
        """Put the bytes of all that is to be there among git's objects, as they are on disk at this moment."""
        blobs = objects.Blobs(self._git)
        found: dict[str, Blob | None] = {}
        modes: dict[str, str] = {}
        with Beneath(self._git.repository.top) as tree:
            for path, entry in wanted.items():
                data = _bytes_of(tree, path, entry)
                if data is None or (entry is None and data):
                    self._out[path] = CHANGED_SINCE
                elif entry is None:
                    found[path] = None
                elif why := "" if _is_link(entry) else lines.refused(attributes.get(path, {}), data):
                    self._out[path] = why + _YOURSELF
                else:
                    kept = data if _is_link(entry) else self._converted(path, data, how.get(path, ""))
                    blobs.add(kept)
                    modes[path] = self._mode(path, entry)
        named = zip(modes.items(), blobs.write(), strict=True)
        return found | {path: Blob(mode, name) for (path, mode), name in named}

    def _converted(self, path: str, data: bytes, how: str) -> bytes:
        before = self._index.get(path)
        if how != "auto" or b"\r\n" not in data or before is None:
            return lines.stored(data, how, None)
        [(_, known)] = objects.contents(self._git, [before.name])
        return lines.stored(data, how, known)

    def _mode(self, path: str, entry: Entry) -> str:
        """Where modes mean nothing, the one that git knows stays."""
        known = self._head.get(path)
        if not _is_link(entry) and not self._git.settings.is_on("core.filemode", default=True):
            return known.mode if known and known.mode in {REGULAR, EXECUTABLE} else REGULAR
        return _git_mode(entry)

    def _drop_the_users(self, new: Mapping[str, Blob | None], how: Mapping[str, str]) -> None:
        """A path at which HEAD, or the index, is not what the loop began with has something of the user's in it."""
        compared: dict[str, list[str]] = {}
        for path, blob in new.items():
            head, base = self._head.get(path), _file(self._changes[path].base)
            if self._index.get(path) not in {head, blob}:
                self._out[path] = STAGED
            elif head is None or base is None:
                if head is not None or base is not None:
                    self._out[path] = WAS_DELETED if head else UNTRACKED
            elif self._mode(path, base) != head.mode:
                self._out[path] = YOURS
            else:
                compared.setdefault(head.name, []).append(path)
        for name, data in objects.contents(self._git, compared):
            for path in compared[name]:
                base = _file(self._changes[path].base)
                forms = (data, lines.checked_out(data, how.get(path, "")))
                if base is None or base.content not in {sha256(form).hexdigest() for form in forms if form is not None}:
                    self._out[path] = YOURS

    def _drop_in_the_way(self, new: Mapping[str, Blob | None]) -> None:
        """What stays out may be a file where the loop has a directory by now, or the other way round."""
        added = [path for path, blob in new.items() if blob]
        staying = {path for path in {*self._head, *self._index} if new.get(path, True)} | set(added)
        directories = directories_above(staying)
        self._drop(IN_THE_WAY, (path for path in added if path in directories or _above(path) & staying))


def _refused(path: str, ours: Entry | None) -> str:
    """By its name, or by what it is."""
    parts = re.split(r"[/\\:]", path)
    if any(part in {"", ".", ".."} or _RESERVED.fullmatch(part) for part in path.split("/")) or any(
        _RESERVED.fullmatch(part) for part in parts
    ):
        return OF_GIT
    if path == ".gitmodules" or (ours and _is_link(ours) and _MODULES.fullmatch(split(path)[1])):
        return SUBMODULES
    if len(os.fsencode(path)) > _LONGEST:
        return TOO_LONG
    if ours and not stat.S_ISREG(ours.mode) and not _is_link(ours):
        return NO_FILE
    return TOO_LARGE if ours and not ours.is_hashed else ""


def _bytes_of(tree: Beneath, path: str, entry: Entry | None) -> bytes | None:
    """What is there now; None if it is not what was proven. Of what is to be gone, nothing must be there."""
    parent, name = split(path)
    if entry is None:
        found = tree.seen(path)
        return b"" if found is None or stat.S_ISDIR(found.st_mode) else None
    try:
        directory = tree.directory(parent)
        data = _link(directory, name) if _is_link(entry) else _regular(directory, name, entry)
    except OSError:
        return None
    return data if data is not None and sha256(data).hexdigest() == entry.content else None


def _link(directory: int, name: str) -> bytes:
    return os.fsencode(os.readlink(name, dir_fd=directory))


def _regular(directory: int, name: str, entry: Entry) -> bytes | None:
    fd = os.open(name, _FLAGS, dir_fd=directory)
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or _git_mode(entry) != _mode_of(found.st_mode):
            return None
        return file.read(min(found.st_size, contents.LARGEST_FILE) + 1)


def _file(entry: Entry | None) -> Entry | None:
    """Git knows no directories."""
    return None if entry is None or entry.is_directory else entry


def _is_link(entry: Entry) -> bool:
    return stat.S_ISLNK(entry.mode)


def _git_mode(entry: Entry | None) -> str:
    return _mode_of(entry.mode) if entry else ""


def _mode_of(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return LINK
    return EXECUTABLE if mode & _EXECUTABLE else REGULAR


def _above(path: str) -> set[str]:
    return directories_above([path]) - {""}
