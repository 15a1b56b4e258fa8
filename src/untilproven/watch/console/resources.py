"""What the agent's processes use right now, from the kernel's own list of our descendants."""

import os
from typing import NamedTuple

from untilproven.process import table

_MANY = 200


class Use(NamedTuple):
    processes: int
    cpu_seconds: float
    memory: int
    """Bytes resident, shared pages counted in each process that has them."""


def descendants_use() -> Use:
    """Of all that this process started and that still runs; ended ones count through whoever buried them."""
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    own = os.times()
    processes, ticks, pages = 0, 0, 0
    for process in table.descendants(os.getpid())[:_MANY]:
        try:
            with open(f"/proc/{process.pid}/stat", "rb") as file:  # noqa: PTH123  drawn often
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        processes += 1
        ticks += sum(map(int, fields[11:15]))
        pages += int(fields[21])
    return Use(processes, ticks / tick + own.children_user + own.children_system, pages * page)
