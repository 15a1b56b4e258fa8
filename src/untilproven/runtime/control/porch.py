"""Where the bells hang: a directory that only this user can enter, held open so that nobody can exchange it.

Sockets are reached through the open directory, so a path of any length will do.
"""

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Unsafe(Exception):
    """Why a directory is not used, in a sentence."""


class Porch:
    """One such directory, open."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self.fd = fd

    def address(self, name: str) -> str:
        return f"/proc/self/fd/{self.fd}/{name}"

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def make() -> Porch:
    """The user's runtime directory if there is a proper one, else one of ours among the temporary files."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/") and _is_private(Path(runtime)):
        with contextlib.suppress(Unsafe):
            return _opened(Path(runtime) / "untilproven", make=True)
    return _opened(_in_temporary(_temporary()), make=True)


def existing() -> Iterator[Porch]:
    """Every one that a runner may have chosen: its environment need not be ours."""
    user = os.geteuid()
    runtimes = (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}")
    places = [Path(runtime) / "untilproven" for runtime in runtimes if runtime.startswith("/")]
    places += [_in_temporary(temporary) for temporary in (_temporary(), "/tmp")]  # noqa: S108  checked when opened
    for place in _once(places):
        with contextlib.suppress(Unsafe):
            porch = _opened(place, make=False)
            try:
                yield porch
            finally:
                porch.close()


def _once(places: Iterable[Path]) -> Iterable[Path]:
    return dict.fromkeys(places)


def _temporary() -> str:
    chosen = os.environ.get("TMPDIR", "")
    return chosen if chosen.startswith("/") else "/tmp"  # noqa: S108  checked when opened


def _in_temporary(temporary: str) -> Path:
    return Path(temporary) / f"untilproven-{os.geteuid()}"


def _opened(path: Path, *, make: bool) -> Porch:
    try:
        if make:
            with contextlib.suppress(FileExistsError):
                path.mkdir(0o700)
        fd = os.open(path, _FLAGS)
    except OSError as error:
        reason = "it is a link" if path.is_symlink() else error.strerror
        raise Unsafe(f"{path} cannot be used: {reason}") from error
    if not _private(os.fstat(fd)):
        os.close(fd)
        raise Unsafe(f"{path} cannot be used: it must belong to you, with mode 0700")
    return Porch(path, fd)


def _is_private(path: Path) -> bool:
    try:
        return _private(path.stat())
    except OSError:
        return False


def _private(found: os.stat_result) -> bool:
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o700
