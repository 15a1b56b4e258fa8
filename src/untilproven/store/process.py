"""Which process is this, and is it still alive? A pid alone cannot tell: pids are reused."""

import os
import sys
from functools import cache
from pathlib import Path

from msgspec import UNSET, UnsetType

from untilproven.core.stale import Liveness
from untilproven.model.state import ProcessIdentity

_PROC = Path("/proc")


def this_process() -> ProcessIdentity:
    me = identity_of(os.getpid())
    if me is None:
        raise RuntimeError("a running process has no start time")
    return me


def identity_of(pid: int) -> ProcessIdentity | None:
    """None if there is no such process."""
    start = _start(pid)
    if start is None:
        return None
    return ProcessIdentity(pid=pid, start=start, boot_id=_boot_id(), pid_namespace=_pid_namespace())


def liveness(process: ProcessIdentity | UnsetType) -> Liveness:
    """Never signals anything: a process of another user is seen as alive, as it should be."""
    if not process:
        return Liveness.ORPHANED
    if process.boot_id != _boot_id():
        return Liveness.DEAD
    if process.pid_namespace != _pid_namespace():
        return Liveness.UNKNOWN
    return Liveness.ALIVE if _start(process.pid) == process.start else Liveness.DEAD


def _start(pid: int) -> str | None:
    return _linux_start(pid) if sys.platform == "linux" else portable_start(pid)


def _linux_start(pid: int) -> str | None:
    """Ticks since boot: unlike a wall-clock start time, it does not move when the clock is set."""
    try:
        line = (_PROC / str(pid) / "stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = line[line.rindex(b")") + 2 :].split()
    if fields[0] in {b"Z", b"X"}:
        return None
    return fields[19].decode()


def portable_start(pid: int) -> str | None:
    """Where there is no /proc: the start time to the second."""
    import psutil  # noqa: PLC0415  slow to import, and not needed on Linux

    try:
        found = psutil.Process(pid)
        return None if found.status() == psutil.STATUS_ZOMBIE else str(int(found.create_time()))
    except psutil.NoSuchProcess:
        return None


@cache
def _boot_id() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "unknown"


@cache
def _pid_namespace() -> str | UnsetType:
    try:
        return (_PROC / "self/ns/pid").readlink().name
    except OSError:
        return UNSET
