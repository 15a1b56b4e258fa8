"""What a program of the same user can do to a process that it can neither look into nor signal."""

import ctypes
import os
import platform
import resource

from untilproven.process import kernel

_IOPRIO_GET = {"x86_64": 252, "aarch64": 31}
_LIMITS = sorted(getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_"))


def condition() -> tuple[object, ...]:
    """The limits and priorities of this process, which every program that it starts will have too."""
    return (
        [resource.getrlimit(limit) for limit in _LIMITS],
        os.getpriority(os.PRIO_PROCESS, 0),
        os.sched_getaffinity(0),
        os.sched_getscheduler(0),
        _priority_of_io(),
        _badness(),
    )


def _priority_of_io() -> int:
    number = _IOPRIO_GET.get(platform.machine())
    if number is None:
        return 0
    answer: int = kernel.libc().syscall(ctypes.c_long(number), ctypes.c_int(1), ctypes.c_int(0))
    return answer


def _badness() -> bytes:
    """Who is killed first when memory is short."""
    fd = os.open("/proc/self/oom_score_adj", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 16)
    finally:
        os.close(fd)
