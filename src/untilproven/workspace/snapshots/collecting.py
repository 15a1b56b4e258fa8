"""Making a record: the bytes of what is about to be replaced, and of what replaces it."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from untilproven.errors import Damaged
from untilproven.store import files
from untilproven.workspace.entry import Entry
from untilproven.workspace.overlay.beneath import Beneath, seen, split
from untilproven.workspace.overlay.plan import Plan
from untilproven.workspace.overlay.upper import Change
from untilproven.workspace.snapshots.descending import Descending
from untilproven.workspace.snapshots.record import Draft, Name, Own, Record
from untilproven.workspace.snapshots.shelf import INLINE, Snapshots

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
_NOT_OURS = ("trusted.overlay.", "user.overlay.", "security.")


def record(
    snapshots: Snapshots, name: Name, plan: Plan, upper: Path, root: Path, elsewhere: Mapping[str, Path] | None = None
) -> Record:
    """Write down what a layer is about to do to the tree, or would have done.

    Where the tree is not what it was when the room was opened, the user's stays: that is no change of ours. What was
    at some paths lies `elsewhere`, beneath another directory. For what is applied, this survives everything before the
    first file is touched.
    """
    if name.is_applied and elsewhere is None and (ready := snapshots.take_ready(plan)):
        written, draft = ready
        with draft:
            draft.publish(name, durable=True)
    else:
        snapshots.drop_ready()
        with Draft(snapshots.make()) as draft:
            written = _collected(snapshots, draft, plan, upper, root, elsewhere, applied=name.is_applied)
            if name.is_applied:
                snapshots.objects.sync()
            draft.finish(written, name, durable=name.is_applied and bool(plan.changes))
    snapshots.added(name, written)
    return written


def make_ready(snapshots: Snapshots, plan: Plan, upper: Path, root: Path) -> None:
    """Write the record of a layer before it is known whether it will be applied, if that is all small files: what is
    large changes hands when it is applied, and not before."""
    snapshots.drop_ready()
    if not plan.changes or not all(map(_is_small, plan.changes.values())):
        return
    draft = Draft(snapshots.make())
    try:
        written = _collected(snapshots, draft, plan, upper, root, None, applied=True)
        if written.refused:
            draft.drop()  # the user may still take back what is in the way
            return
        draft.complete(written, durable=True)
    except BaseException:
        draft.drop()
        raise
    snapshots.hold_ready(written, draft)


def _is_small(change: Change) -> bool:
    return all(
        entry is None or not stat.S_ISREG(entry.mode) or (entry.is_hashed and entry.size <= INLINE)
        for entry in (change.base, change.ours)
    )


def _collected(
    snapshots: Snapshots,
    draft: Draft,
    plan: Plan,
    upper: Path,
    root: Path,
    elsewhere: Mapping[str, Path] | None,
    *,
    applied: bool,
) -> Record:
    with (
        files.explained(root),
        contextlib.ExitStack() as stack,
        Descending(upper, force=True) as layer,
        Descending(root) as tree,
    ):
        places = {
            place: stack.enter_context(Descending(place, force=True)) for place in set((elsewhere or {}).values())
        }
        other = None if elsewhere is None else {path: places[place] for path, place in elsewhere.items()}
        made = _Collection(snapshots, draft, layer, tree, other, applied=applied)
        for path, change in sorted(plan.by_path().items()):
            made.take_in(path, change)
        return Record(plan, tuple(made.refused), made.owned, draft.inline)


class _Collection:
    def __init__(
        self,
        snapshots: Snapshots,
        draft: Draft,
        upper: Beneath,
        tree: Beneath,
        elsewhere: Mapping[str, Beneath] | None,
        *,
        applied: bool,
    ) -> None:
        self._snapshots = snapshots
        self._draft = draft
        self._upper = upper
        self._tree = tree
        self._elsewhere = elsewhere or {}
        self._stays = elsewhere is not None
        self._applied = applied
        self.refused: list[bytes] = []
        self.owned: dict[bytes, tuple[Own | None, Own | None]] = {}

    def take_in(self, path: str, change: Change) -> None:
        parent, name = split(path)
        base = None
        if self._applied:
            directory = self._elsewhere.get(path, self._tree).directory_if_any(parent)
            try:
                base = self._before(directory, name, change)
            except (Damaged, OSError) as error:
                if isinstance(error, OSError) and error.errno in _NO_ROOM:
                    raise
                # Not what it was, or not for us to read: what cannot be kept is not replaced.
                self.refused.append(os.fsencode(path))
        ours = None
        if change.ours is not None:
            ours = self._after(self._upper.directory(parent), name, change.ours)
        if base or ours:
            self.owned[os.fsencode(path)] = (base, ours)

    def _before(self, directory: int | None, name: str, change: Change) -> Own | None:
        base, found = change.base, seen(directory, name)
        if directory is None or found is None or base is None:
            if (found is None) != (base is None):
                raise Damaged(f"{name!r} has come or gone")
            return None
        if not (stat.S_ISREG(base.mode) or stat.S_ISLNK(base.mode)):
            if stat.S_IFMT(found.st_mode) != stat.S_IFMT(base.mode):
                raise Damaged(f"{name!r} is something else now")
            return _own(directory, name, found)
        if found.st_mode != base.mode or (not stat.S_ISLNK(base.mode) and found.st_size != base.size):
            raise Damaged(f"{name!r} is not what it was")
        if not base.is_hashed:
            # Merging gives the name to a new file, so that the old one is left to us.
            (self._snapshots.objects.put if self._stays else self._snapshots.objects.take)(directory, name, base)
        elif self._is_needed(base):
            try:
                self._bytes(directory, name, base)
            except PermissionError:
                self._snapshots.start()  # a file of the agent's that nobody may read: some record has it
                if self._is_needed(base):
                    raise
        return _own(directory, name, found)

    def _after(self, directory: int, name: str, entry: Entry) -> Own | None:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if entry.is_directory:
            return _own(directory, name, found)
        if entry.size > INLINE and not stat.S_ISLNK(entry.mode):
            self._snapshots.objects.take(directory, name, entry)
        elif self._is_needed(entry):
            mode = stat.S_IMODE(found.st_mode)
            with _readable(directory, name, mode) if stat.S_ISREG(found.st_mode) else contextlib.nullcontext():
                self._bytes(directory, name, entry)
        return _own(directory, name, found)

    def _is_needed(self, entry: Entry) -> bool:
        return entry.size > 0 and not self._snapshots.is_stored(entry)

    def _bytes(self, directory: int, name: str, entry: Entry) -> None:
        if entry.size > INLINE and not stat.S_ISLNK(entry.mode):
            self._snapshots.objects.put(directory, name, entry)
            return
        data = _read(directory, name, entry)
        if entry.is_hashed and sha256(data).hexdigest() != entry.content:
            raise Damaged(
                f"what was written to {name!r} is not what it was when it was looked at",
                hint="the disk may have lost it in a power cut; discard that iteration",
            )
        self._draft.add(entry.content, data)


def _read(directory: int, name: str, entry: Entry) -> bytes:
    if stat.S_ISLNK(entry.mode):
        return os.fsencode(os.readlink(name, dir_fd=directory))
    fd = os.open(name, _READ, dir_fd=directory)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise Damaged(f"{name!r} is no regular file any more")
        parts, left = [], entry.size + 1
        while left and (data := os.read(fd, left)):
            parts.append(data)
            left -= len(data)
        return b"".join(parts)
    finally:
        os.close(fd)


@contextlib.contextmanager
def _readable(directory: int, name: str, mode: int) -> Iterator[None]:
    if mode & 0o400:
        yield
        return
    os.chmod(name, mode | 0o400, dir_fd=directory)
    try:
        yield
    finally:
        os.chmod(name, mode, dir_fd=directory)


def _own(directory: int, name: str, found: os.stat_result) -> Own | None:
    attributes = {}
    path = f"/proc/self/fd/{directory}/{name}"
    with contextlib.suppress(OSError):
        for attribute in os.listxattr(path, follow_symlinks=False):
            if not attribute.startswith(_NOT_OURS):
                attributes[attribute] = os.getxattr(path, attribute, follow_symlinks=False)
    if not attributes and (found.st_uid, found.st_gid) == (os.getuid(), os.getgid()):
        return None
    return Own(found.st_uid, found.st_gid, attributes)
