"""The table of processes as /proc shows it: who is whose child, and since when."""

import os
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

_PROC = "/proc"
_ENOUGH = 4096


class Process(NamedTuple):
    """One process; pid and start together name it, also after the pid was given to another one."""

    pid: int
    parent: int
    session: int
    start: int
    """Ticks since boot."""
    alive: bool


def look_up(pid: int) -> Process | None:
    try:
        line = _read(f"{_PROC}/{pid}/stat")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    fields = line[line.rindex(b")") + 2 :].split()
    # A process whose first thread has ended looks like a zombie while its other threads work on.
    alive = fields[0] not in {b"Z", b"X"} or int(fields[17]) > 1
    return Process(pid, int(fields[1]), int(fields[3]), int(fields[19]), alive)


def everything() -> list[Process]:
    found = (look_up(int(name)) for name in os.listdir(_PROC) if name.isdecimal())  # noqa: PTH208  a hot path
    return [process for process in found if process is not None]


def below(roots: Iterable[int], processes: Iterable[Process]) -> list[Process]:
    """The descendants of the roots, without the roots, parents before their children."""
    children: dict[int, list[Process]] = {}
    for process in processes:
        children.setdefault(process.parent, []).append(process)
    found: dict[int, Process] = {}
    waiting = list(roots)
    for root in waiting:
        for child in children.get(root, ()):
            if child.pid not in found:
                found[child.pid] = child
                waiting.append(child.pid)
    return list(found.values())


def descendants(root: int, are_ours: Callable[[Process], bool] = lambda _: True) -> list[Process]:
    """The descendants of a process, dead ones too, parents before their children; only such children as are ours.

    Where the kernel lists children, that is much faster than a look at every process: fast enough to catch one that
    runs away by forking and ending itself again and again. Such a list may miss one, so callers look again.
    """
    processes = None if _kernel_lists_children() else everything()
    found = [child for child in _children(root, processes) if are_ours(child)]
    for process in found:
        found.extend(_children(process.pid, processes))
    return found


def _children(pid: int, processes: list[Process] | None) -> list[Process]:
    if processes is not None:
        return [process for process in processes if process.parent == pid]
    try:
        threads = os.listdir(f"{_PROC}/{pid}/task")  # noqa: PTH208  a hot path
        listed = [_read(f"{_PROC}/{pid}/task/{thread}/children").split() for thread in threads]
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return []
    found = (look_up(int(child)) for children in listed for child in children)
    return [child for child in found if child is not None and child.parent == pid]


@cache
def _kernel_lists_children() -> bool:
    return os.path.exists(f"{_PROC}/self/task/{os.getpid()}/children")  # noqa: PTH110  a hot path


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = b""
        while chunk := os.read(fd, _ENOUGH):
            text += chunk
        return text
    finally:
        os.close(fd)
