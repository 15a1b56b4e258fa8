"""Putting a file in another's place so that nothing is lost that somebody saves there in the same moment.

The two change places, and only then is the old one looked at: if it is not what it was thought to be, they change
places again. A kill in between leaves the old one under the name `ready`, where it is found again.
"""

import contextlib
import ctypes
import errno
import os
from collections.abc import Callable

from untilproven.process import kernel
from untilproven.workspace.overlay.beneath import seen

_NO_REPLACE, _EXCHANGE = 1, 2
_NOT_HERE = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


class Exchange:
    """One name in a directory, and the name beside it under which what is to be there waits."""

    def __init__(self, directory: int, name: str, ready: str) -> None:
        self._directory = directory
        self._name = name
        self._ready = ready

    def recover(self, is_known: Callable[[str, os.stat_result], bool]) -> None:
        """What somebody who was killed left behind goes; the user's own goes back to its place."""
        left = seen(self._directory, self._ready)
        if left is None:
            return
        if not is_known(self._ready, left):
            now = seen(self._directory, self._name)
            if now is None or is_known(self._name, now):
                self._back(now)
        self._drop()

    def put(self, new: str, expected: os.stat_result | None, step: Callable[[], None]) -> bool:
        """Whether it was put there; not so if there is something else than expected, which then stays."""
        os.rename(new, self._ready, src_dir_fd=self._directory, dst_dir_fd=self._directory)
        ours = seen(self._directory, self._ready)
        step()
        try:
            self._rename(_NO_REPLACE if expected is None else _EXCHANGE)
        except OSError as error:
            if error.errno in _NOT_HERE:
                return self._put_plainly(expected)
            self._drop()
            if error.errno in {errno.EEXIST, errno.ENOENT}:
                return False
            raise
        step()
        well = expected is None or _is_same(seen(self._directory, self._ready), expected)
        if not well:
            self._back(ours)
        self._drop()
        return well

    def _back(self, ours: os.stat_result | None) -> None:
        """What is under the other name comes back in the place of ours, unless the user has saved there again."""
        if not _is_same(seen(self._directory, self._name), ours):
            return
        with contextlib.suppress(FileExistsError, FileNotFoundError):
            self._rename(_NO_REPLACE if ours is None else _EXCHANGE)
            if ours is not None and not _is_same(seen(self._directory, self._ready), ours):
                self._rename(_EXCHANGE)

    def _put_plainly(self, expected: os.stat_result | None) -> bool:
        """Where the file system does not let two files change places."""
        if not _is_same(seen(self._directory, self._name), expected):
            self._drop()
            return False
        os.rename(self._ready, self._name, src_dir_fd=self._directory, dst_dir_fd=self._directory)
        return True

    def _drop(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._ready, dir_fd=self._directory)

    def _rename(self, how: int) -> None:
        directory = ctypes.c_int(self._directory)
        old, new = os.fsencode(self._ready), os.fsencode(self._name)
        if kernel.libc().renameat2(directory, old, directory, new, ctypes.c_uint(how)) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), self._name)


def _is_same(now: os.stat_result | None, then: os.stat_result | None) -> bool:
    """The same file with the same in it; being renamed changes only its ctime."""
    if now is None or then is None:
        return now is then
    return all(
        getattr(now, sign) == getattr(then, sign) for sign in ("st_dev", "st_ino", "st_mode", "st_size", "st_mtime_ns")
    )
