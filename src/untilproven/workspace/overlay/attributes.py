"""What the kernel's overlay writes beside the files of a layer."""

import contextlib
import errno
import os
import stat

_ABSENT = {errno.ENODATA, errno.ENOTSUP, errno.EACCES}
"""EACCES: of a file that its mode closes; directories are opened before."""
_SPACES = ("trusted.overlay.", "user.overlay.")


def _space() -> str:
    """Only root's layers are marked where no program inside can write."""
    return "user.overlay." if os.getuid() else "trusted.overlay."


def is_whiteout(found: os.stat_result) -> bool:
    """The mark of something that was deleted."""
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == 0


def is_marked_deleted(directory: int, name: str, found: os.stat_result) -> bool:
    """The same, or its other form: an empty file with an attribute."""
    if is_whiteout(found):
        return True
    return stat.S_ISREG(found.st_mode) and not found.st_size and _get(directory, name, "whiteout") is not None


def is_opaque(directory: int, name: str) -> bool:
    """Whether nothing of what lies beneath shows through a directory."""
    return _get(directory, name, "opaque") == b"y"


def redirect(directory: int, name: str) -> str:
    """Where the lower part of a renamed directory is; empty if it was not renamed."""
    return os.fsdecode(_get(directory, name, "redirect") or b"")


def make_opaque(directory: int) -> None:
    """From now on a directory is whole in its layer."""
    os.setxattr(directory, _space() + "opaque", b"y")
    with contextlib.suppress(OSError):
        os.removexattr(directory, _space() + "redirect")


def copy_all(source: int, target: int) -> None:
    """Everything, the overlay's own marks included: for a copy that becomes a layer."""
    for name in os.listxattr(source):
        os.setxattr(target, name, os.getxattr(source, name))


def copy_users(source: int, target: int) -> None:
    """What belongs to the file and not to the layer; what gives a program rights is left behind."""
    for name in os.listxattr(source):
        if not name.startswith((*_SPACES, "security.")):
            with contextlib.suppress(OSError):
                os.setxattr(target, name, os.getxattr(source, name))


def _get(directory: int, name: str, what: str) -> bytes | None:
    try:
        return os.getxattr(f"/proc/self/fd/{directory}/{name}", _space() + what, follow_symlinks=False)
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        raise
