"""What a runner and its keeper left running when both were killed: found by a mark in the environment."""

import os
import sys
from collections.abc import Iterator

from untilproven.process import kernel, sweep, table
from untilproven.process.sweep import Swept
from untilproven.process.table import Process

VARIABLE = "RALPH_KEEPER"
KEEPER_NAME = b"ralph-keeper"
_SEPARATOR = ":"


def new_marker() -> str:
    return os.urandom(16).hex()


def marked(env: dict[str, str], marker: str) -> dict[str, str]:
    """The environment with the mark. A loop inside a loop carries both marks: whoever is asked finds it."""
    outer = env.get(VARIABLE, "")
    return env | {VARIABLE: f"{outer}{_SEPARATOR}{marker}" if outer else marker}


def show_mark_of_keeper(marker: str) -> None:
    """A keeper's environment is the runner's own; it shows its mark as the name of an open file instead."""
    kernel.set_name(KEEPER_NAME)
    os.memfd_create(_keeper_file(marker))


def leftovers(marker: str) -> list[Process]:
    """The living processes of this user with that mark, and all that descend from them; never ourselves."""
    kernel.require()
    processes = table.everything()
    mine = {os.getpid(), *(process.pid for process in table.below([os.getpid()], processes))}
    living = [process for process in processes if process.alive and process.pid not in mine]
    found = {process.pid: process for process in living if _is_marked(process.pid, marker)}
    # Each program began a session of its own, so whoever is in the session of a marked one descends from it,
    # even if it has written over its own environment.
    sessions = {process.session for process in found.values()} - {os.getsid(0)}
    found |= {process.pid: process for process in living if process.session in sessions}
    found |= {process.pid: process for process in table.below(found, living)}
    return list(found.values())


def end_leftovers(marker: str) -> Swept:
    """End what `leftovers` finds. For whoever holds the loop's lock: its runner is known to be dead."""
    return sweep.end_all(lambda: leftovers(marker))


def _is_marked(pid: int, marker: str) -> bool:
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.geteuid():  # noqa: PTH116  a hot path
            return False
        return any(marker in marks for marks in _marks(pid)) or _is_keeper(pid, marker)
    except OSError:
        return False


def _marks(pid: int) -> Iterator[list[str]]:
    with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123  a hot path
        data = file.read()
    start = f"{VARIABLE}=".encode()
    if start not in data:
        return
    for item in data.split(b"\0"):
        if item.startswith(start):
            yield item[len(start) :].decode(sys.getfilesystemencoding(), "replace").split(_SEPARATOR)


def _is_keeper(pid: int, marker: str) -> bool:
    with open(f"/proc/{pid}/comm", "rb") as file:  # noqa: PTH123  a hot path
        if file.read().rstrip(b"\n") != KEEPER_NAME:
            return False
    directory = f"/proc/{pid}/fd"
    names = (os.readlink(f"{directory}/{fd}") for fd in os.listdir(directory))  # noqa: PTH115, PTH208  a hot path
    return any(name.startswith(f"/memfd:{_keeper_file(marker)} ") for name in names)


def _keeper_file(marker: str) -> str:
    return f"{KEEPER_NAME.decode()}-{marker}"
