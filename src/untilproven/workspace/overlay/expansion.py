"""A directory that root renamed lies in the layer by name only; here it becomes whole."""

import os
import stat

from untilproven.workspace.overlay import attributes, copying
from untilproven.workspace.overlay.beneath import Beneath, opened, seen


def expand(parent: int, name: str, path: str, root: int, origin: str) -> dict[str, str]:
    """Copy in what shows through from beneath; where each directory that is whole now had its lower part."""
    origins = {path: origin}
    modes: list[tuple[str, int]] = []
    waiting = [("", origin)]
    with Beneath(root) as below:
        while waiting:
            within, lower = waiting.pop()
            for inner in _made_whole(parent, f"{name}/{within}" if within else name, below, lower, modes):
                further = f"{within}/{inner}" if within else inner
                origins[f"{path}/{further}"] = f"{lower}/{inner}"
                waiting.append((further, f"{lower}/{inner}"))
    for within, mode in reversed(modes):
        directory = opened(parent, within)
        try:
            os.fchmod(directory, mode)
        finally:
            os.close(directory)
    return origins


def _made_whole(parent: int, path: str, below: Beneath, lower: str, modes: list[tuple[str, int]]) -> list[str]:
    upper = opened(parent, path)
    try:
        source = below.directory_if_any(lower)
        shown = _fill(upper, source, modes, path) if source is not None else []
        attributes.make_opaque(upper)
        return shown
    finally:
        os.close(upper)


def _fill(upper: int, source: int, modes: list[tuple[str, int]], path: str) -> list[str]:
    """The directories in which more shows through."""
    deeper = []
    with os.scandir(source) as listing:
        names = [item.name for item in listing]
    for name in names:
        there, here = seen(source, name), seen(upper, name)
        if there is None:
            continue
        if here is None:
            _bring(source, name, there, upper)
            if stat.S_ISDIR(there.st_mode):
                modes.append((f"{path}/{name}", stat.S_IMODE(there.st_mode)))
                deeper.append(name)
        elif attributes.is_whiteout(here):
            os.unlink(name, dir_fd=upper)
        elif stat.S_ISDIR(there.st_mode) and stat.S_ISDIR(here.st_mode) and _shows_through(upper, name):
            deeper.append(name)
    return deeper


def _bring(source: int, name: str, there: os.stat_result, upper: int) -> None:
    if stat.S_ISDIR(there.st_mode):
        copying.make_directory(upper, name, there)
    elif stat.S_ISREG(there.st_mode) or stat.S_ISLNK(there.st_mode):
        copying.copy(source, name, upper, name)


def _shows_through(upper: int, name: str) -> bool:
    return not attributes.is_opaque(upper, name) and not attributes.redirect(upper, name)
