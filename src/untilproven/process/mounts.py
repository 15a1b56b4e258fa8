"""Mounting, in a namespace that is ours."""

import ctypes
import os

from untilproven.process import kernel

NOSUID, NODEV, NOEXEC, BIND, RECURSIVE, PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_READONLY = 1
_MOUNT_SETATTR, _AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = 442, -100, 0x1000, 0x8000
_DETACH = 2


class CannotBuild(OSError):
    """Why there is no room: which step was refused."""


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


def mount(source: str | None, target: str, kind: str | None = None, *, flags: int = 0, data: str | None = None) -> None:
    call(
        "mount",
        source and os.fsencode(source),
        os.fsencode(target),
        kind and kind.encode(),
        ctypes.c_ulong(flags),
        data and os.fsencode(data),
        what=f"mount {kind or source or ''} on {target}",
    )


def protect(path: str, *, recursive: bool = False) -> None:
    """Make a mount read-only."""
    _set_attributes(_AT_FDCWD, path, _Attributes(_READONLY, 0, 0, 0), _AT_RECURSIVE if recursive else 0)


def open_up(path: str) -> None:
    """Make a mount writable again."""
    _set_attributes(_AT_FDCWD, path, _Attributes(0, _READONLY, 0, 0), 0)


def open_up_behind(fd: int) -> None:
    """The same for one that no name leads to any more; its root is open."""
    _set_attributes(fd, "", _Attributes(0, _READONLY, 0, 0), _AT_EMPTY_PATH)


def _set_attributes(directory: int, path: str, wanted: _Attributes, flags: int) -> None:
    call(
        "syscall",
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_int(directory),
        os.fsencode(path),
        ctypes.c_uint(flags),
        ctypes.byref(wanted),
        ctypes.c_size_t(ctypes.sizeof(wanted)),
        what=f"make {path or 'the place of layers'} {'read-only' if wanted.set else 'writable'}",
    )


def detach(path: str) -> None:
    """Take a mount away, with all that is mounted in it."""
    call("umount2", os.fsencode(path), ctypes.c_int(_DETACH), what=f"unmount {path}")


def call(name: str, *arguments: object, what: str = "") -> None:
    """A function of the C library that answers with 0."""
    if getattr(kernel.libc(), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise CannotBuild(number, f"{what or name}: {os.strerror(number)}")
