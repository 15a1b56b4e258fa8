"""The user's index: what is committed is taken over into it, under git's own lock, and nothing else in it changes.

The index comes first and HEAD after it: whoever is killed between the two leaves the work staged, which loses
nothing and which the next commit takes up. A lock of ours whose holder is dead is removed by whoever comes next.
"""

import contextlib
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import msgspec

from untilproven.core.stale import Liveness
from untilproven.errors import RalphError
from untilproven.model.state import ProcessIdentity
from untilproven.store import files, process
from untilproven.store.lock import FileLock
from untilproven.store.vouch import user_state
from untilproven.workspace.git import objects
from untilproven.workspace.git.confined import Git
from untilproven.workspace.git.objects import Blob

SECONDS = 5.0
_PAUSE = 0.02
_SMALL = 4096
_NEW, _OLD, _READY = "index.untilproven", "index.untilproven-before", "index.untilproven-lock"


class Locked(RalphError):
    """Somebody else's git is at work, or died with its lock in place."""

    kind = "locked"
    exit_code = 7


class _Holder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    untilproven: ProcessIdentity


class UserIndex:
    """Held from `held` on."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self.path = git.repository.index
        self._new = self.path.with_name(_NEW)
        self._old = self.path.with_name(_OLD)

    def put(self, changes: Mapping[str, Blob | None]) -> None:
        """Make these entries part of it; `undo` brings back what was there."""
        with files.explained(self.path):
            before = self.path.stat(follow_symlinks=False) if self.path.exists() else None
            if before:
                for copy in (self._old, self._new):
                    shutil.copy2(self.path, copy, follow_symlinks=False)
            objects.update(self._git, self._new, changes)
            if before:
                # Git looks again at every file as young as the index: with a younger one it would trust its times.
                os.utime(self._new, ns=(before.st_atime_ns, before.st_mtime_ns))
            self._new.replace(self.path)

    def undo(self) -> None:
        with files.explained(self.path):
            if self._old.exists():
                self._old.replace(self.path)
            else:
                self.path.unlink(missing_ok=True)

    def tidy(self) -> None:
        for path in (self._new, self._old, self._new.with_name(f"{_NEW}.lock")):
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def held(git: Git, seconds: float = SECONDS) -> Iterator[UserIndex]:
    """Keep every git, and every other runner, out of the index."""
    index = UserIndex(git)
    lock = index.path.with_name("index.lock")
    with _runners_lock(index.path, seconds):
        mine = _acquire(lock, seconds)
        try:
            index.tidy()
            yield index
        finally:
            index.tidy()
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(mine, lock.lstat()):
                    lock.unlink()


def mend(git: Git) -> None:
    """Remove what a runner that was killed has left beside the index."""
    path = git.repository.index
    leftovers = (path.with_name(name) for name in (_NEW, _OLD, _READY))
    if _is_left_behind(path.with_name("index.lock")) or any(left.exists() for left in leftovers):
        with held(git):
            return


def _runners_lock(index: Path, seconds: float) -> FileLock:
    locks = user_state() / "locks"
    with files.explained(locks):
        locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = sha256(os.fsencode(index.resolve())).hexdigest()[:16]
    return FileLock(locks / f"git-{name}", timeout=seconds, what=str(index))


def _acquire(lock: Path, seconds: float) -> os.stat_result:
    """Whoever finds the lock finds also whose it is: it appears with that in it."""
    until = time.monotonic() + seconds
    ready = lock.with_name(_READY)
    try:
        ready.unlink(missing_ok=True)
        ready.write_bytes(msgspec.json.encode(_Holder(process.this_process())))
        while not _linked(ready, lock):
            if _is_left_behind(lock):
                lock.unlink(missing_ok=True)
            elif time.monotonic() > until:
                raise Locked(
                    f"{lock} is there: another git is at work, or was killed",
                    hint=f"wait for it; if no git runs any more: rm {lock}",
                )
            else:
                time.sleep(_PAUSE)
        return ready.stat()
    except OSError as error:
        raise Locked(f"{lock} cannot be made: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            ready.unlink()


def _linked(ready: Path, lock: Path) -> bool:
    try:
        lock.hardlink_to(ready)
    except FileExistsError:
        return False
    return True


def _is_left_behind(lock: Path) -> bool:
    """Ours, of a runner that is dead. An empty one may be anybody's."""
    try:
        holder = msgspec.json.decode(files.read(lock, _SMALL), type=_Holder)
    except (OSError, RalphError, msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return process.liveness(holder.untilproven) is Liveness.DEAD
