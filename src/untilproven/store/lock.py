"""A lock that the kernel releases when its holder dies, and that nobody can steal from the living.

`flock` needs no lease and no clean-up, costs microseconds, and imports nothing (design/0002).
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from untilproven.errors import Busy
from untilproven.store.files import explained, refuse_link, write_all

_FIRST_WAIT = 0.0005
_LONGEST_WAIT = 0.002


class FileLock:
    """Held by one open file at a time. Usable as a context manager; not re-entrant."""

    def __init__(self, path: Path, *, timeout: float, what: str) -> None:
        self.path = path
        self.timeout = timeout
        self.what = what
        self._fd: int | None = None
        self._holder = 0

    @property
    def held(self) -> bool:
        return self._fd is not None

    def acquire(self) -> None:
        deadline = time.monotonic() + self.timeout
        wait = _FIRST_WAIT
        while not self._try():
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._busy()
            time.sleep(min(wait, left))
            wait = min(wait * 2, _LONGEST_WAIT)

    def release(self) -> None:
        if self._fd is not None:
            if os.getpid() == self._holder:  # closing is not enough while a fork of ours holds a copy
                fcntl.flock(self._fd, fcntl.LOCK_UN)
            os.close(self._fd)
            self._fd = None

    def _try(self) -> bool:
        refuse_link(self.path)
        with explained(self.path):
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self._same_file(fd):
                os.close(fd)
                return False
        except BlockingIOError:
            os.close(fd)
            return False
        except BaseException:
            os.close(fd)
            raise
        # Only a courtesy to whoever waits, so a full disk must not stop us here.
        with contextlib.suppress(OSError):
            me = f"{os.getpid()}\n".encode()
            if os.pread(fd, 32, 0) != me:
                os.ftruncate(fd, 0)
                write_all(fd, me)
        self._fd, self._holder = fd, os.getpid()
        return True

    def _same_file(self, fd: int) -> bool:
        """Whether the name still leads to what was locked: the directory may have been replaced meanwhile."""
        try:
            named = self.path.lstat()
        except FileNotFoundError:
            return False
        return os.path.samestat(named, os.fstat(fd))

    def _busy(self) -> Busy:
        holder = ""
        with contextlib.suppress(OSError):
            holder = self.path.read_bytes()[:20].decode("ascii", "replace").strip()
        by = f" by process {holder}" if holder.isdigit() else ""
        return Busy(
            f"{self.what} is locked{by} (waited {self.timeout:g} s)",
            hint="try again when it is done; the lock frees itself when its holder ends",
            details={"pid": int(holder)} if holder.isdigit() else {},
        )

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def is_locked(path: Path) -> bool:
    """Whether somebody holds a lock; looks without taking it and without making the file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


@contextlib.contextmanager
def undisturbed(path: Path, *, timeout: float) -> Iterator[None]:
    """Keep holders of a lock away while looking, if it can be had in time; nothing is written for it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_LONGEST_WAIT)
        yield
    finally:
        os.close(fd)
