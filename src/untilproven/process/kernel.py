"""What Linux offers beyond Python's own calls, and whether this system offers it."""

import contextlib
import ctypes
import os
import signal
import sys
from functools import cache
from pathlib import Path

from untilproven.errors import RalphError

_SET_PARENT_DEATH_SIGNAL = 1
_SET_NAME = 15
_SET_CHILD_SUBREAPER = 36
_GET_CHILD_SUBREAPER = 37


class Unsupported(RalphError):
    """This system cannot hold a program's descendants together, so nothing is started at all."""

    kind = "unsupported"
    exit_code = 2


@cache
def require() -> None:
    """Raise unless every descendant of a program can be found and ended here."""
    missing = _missing()
    if missing:
        raise Unsupported(
            f"programs cannot be started safely on this system: {missing}",
            hint="untilproven needs Linux 5.4 or newer with /proc mounted; ralph doctor says more",
        )


def _missing() -> str:
    if sys.platform != "linux":
        return f"{sys.platform} has no child subreaper"
    if not hasattr(os, "pidfd_open") or not hasattr(signal, "pidfd_send_signal"):
        return "this Python was built without pidfd_open"
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError as error:
        return f"pidfd_open: {error.strerror}"
    try:
        if Path("/proc/self").readlink().name != str(os.getpid()):
            return "/proc belongs to another process namespace"
    except OSError as error:
        return f"/proc: {error.strerror}"
    try:
        is_subreaper()
    except OSError as error:
        return f"prctl: {error.strerror}"
    return ""


def is_subreaper() -> bool:
    answer = ctypes.c_int()
    prctl(_GET_CHILD_SUBREAPER, ctypes.addressof(answer))
    return bool(answer.value)


def set_subreaper(on: bool) -> None:
    """Whether descendants that lose their parent become children of this process."""
    prctl(_SET_CHILD_SUBREAPER, int(on))


def signal_when_parent_dies(number: int) -> None:
    prctl(_SET_PARENT_DEATH_SIGNAL, number)


def set_name(name: bytes) -> None:
    """The name that `ps` and /proc/PID/comm show: at most 15 bytes."""
    text = ctypes.create_string_buffer(name)
    prctl(_SET_NAME, ctypes.addressof(text))


def send(pidfd: int, number: int) -> None:
    """Signal a process that may be gone by now."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, number)


def prctl(option: int, value: int, further: int = 0) -> None:
    zero = ctypes.c_ulong(0)
    if libc().prctl(ctypes.c_int(option), ctypes.c_ulong(value), ctypes.c_ulong(further), zero, zero) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@cache
def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
