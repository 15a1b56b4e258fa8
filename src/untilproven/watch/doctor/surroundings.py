"""What this process was started with: its Python, the clock, and the encoding of its output."""

import codecs
import contextlib
import stat
import sys
from collections.abc import Iterator
from datetime import datetime

from untilproven.errors import Foreign
from untilproven.store.layout import Project
from untilproven.watch.doctor.frame import Finding

OLDEST_PYTHON = (3, 11)
CLOCK_TOLERANCE_SECONDS = 300
EARLIEST_YEAR = 2025


def python(version: tuple[int, ...] = sys.version_info[:3]) -> Finding:
    found = f"{'.'.join(map(str, version))} ({sys.executable})"
    if version >= OLDEST_PYTHON:
        return Finding("python", "ok", found)
    wanted = ".".join(map(str, OLDEST_PYTHON))
    return Finding("python", "problem", found, f"install Python {wanted} or newer")


def system_clock(project: Project, now: datetime) -> Finding:
    shown = f"{now:%Y-%m-%d %H:%M:%S} UTC"
    if now.year < EARLIEST_YEAR:
        return Finding("clock", "warning", f"{shown} is before this program was written", "set the clock")
    newest = max((modified for modified in _modified(project)), default=0.0)
    ahead = newest - now.timestamp()
    if ahead > CLOCK_TOLERANCE_SECONDS:
        found = f"{shown}; the newest state file is from {ahead:,.0f} s later: the clock was set back"
        return Finding("clock", "warning", found, "set the clock; times and limits of running loops are off until then")
    return Finding("clock", "ok", shown)


def _modified(project: Project) -> Iterator[float]:
    """When each file of the state was written; a link is not one of them."""
    with contextlib.suppress(Foreign):
        if project.state.exists():
            for path in (project.state.registry, *(loop.state for loop in project.state.all_loops())):
                with contextlib.suppress(OSError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode):
                        yield status.st_mtime


def text_encoding(encoding: str | None) -> Finding | None:
    """Says something only when there is something to say."""
    if encoding and codecs.lookup(encoding).name == "utf-8":
        return None
    found = f"output is encoded as {encoding}, so some characters cannot be shown"
    return Finding("text", "warning", found, "export LANG=C.UTF-8")
