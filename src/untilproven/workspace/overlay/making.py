"""Making the directories that rooms are built of."""

import contextlib
import ctypes
import os
import stat
from pathlib import Path

from untilproven.errors import RalphError
from untilproven.process import kernel
from untilproven.store import files

PRIVATE, TEMPORARY = 0o700, 0o1777
_OVERLAYFS = 0x794C7630
_SIZE_OF_STATFS = 256


class NoPlace(RalphError):
    """Layers cannot lie where they would have to."""

    kind = "no_room"
    exit_code = 2


def make(path: Path) -> None:
    """A directory for this user alone, where layers can lie."""
    with files.explained(path):
        path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    if _file_system(path) == _OVERLAYFS:
        raise NoPlace(
            f"{path} is itself on an overlay, as in a container, and the kernel puts no layer on top of one there",
            hint="set XDG_STATE_HOME to a directory on a volume or a tmpfs",
        )


def make_private(path: Path) -> None:
    """A new directory for this user alone, in one of ours."""
    with files.explained(path):
        os.mkdir(path, PRIVATE)  # noqa: PTH102  done for every iteration


def make_layer(path: Path, over: Path) -> tuple[str, str]:
    """The two directories that a layer needs."""
    upper, work = make_upper(path, over), f"{path}/work"
    with files.explained(path), contextlib.suppress(FileExistsError):
        os.mkdir(work, PRIVATE)  # noqa: PTH102  done for every iteration
    return upper, work


def make_upper(path: Path, over: Path) -> str:
    """Where a layer has what is written to it; what is there stays, and its mode is what will be seen."""
    upper = f"{path}/upper"
    with files.explained(path):
        mode = stat.S_IMODE(os.stat(over).st_mode) | PRIVATE  # noqa: PTH116  done for every iteration
        if _mode_of(upper) is None:
            for directory in (path, upper):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(directory, PRIVATE)  # noqa: PTH102  the same
        if _mode_of(upper) != mode:
            os.chmod(upper, mode)  # noqa: PTH101  the same
    return upper


def _mode_of(path: str) -> int | None:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116  done for every iteration
    except FileNotFoundError:
        return None


def make_temporary(path: Path) -> None:
    """What is /tmp in a room, empty."""
    make_private(path)
    with files.explained(path):
        os.chmod(path, TEMPORARY)  # noqa: PTH101  done for every iteration


def _file_system(path: Path) -> int:
    answer = ctypes.create_string_buffer(_SIZE_OF_STATFS)
    if kernel.libc().statfs(os.fsencode(path), answer) != 0:
        return 0
    return int(ctypes.c_long.from_buffer(answer).value)
