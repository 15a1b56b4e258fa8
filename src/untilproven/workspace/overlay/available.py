"""Can a room be built here? Found out by building one."""

import contextlib
import errno
import os
import tempfile
import time
from functools import cache
from pathlib import Path

from untilproven.contract import Supervision
from untilproven.errors import RalphError
from untilproven.process.room import WalledRoom
from untilproven.process.walls import Layer, Walls
from untilproven.store.vouch import user_state
from untilproven.workspace.overlay.making import make, make_layer, make_temporary
from untilproven.workspace.overlay.removal import remove

_SECONDS = 20.0
_ABANDONED = 60.0
_NAMESPACE = Path("/proc/self/ns/user")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_EXPLAINED = {
    os.strerror(errno.EPERM): "the kernel or a security policy does not let you build rooms; on Ubuntu see"
    " kernel.apparmor_restrict_unprivileged_userns, in a container ask for more rights",
    os.strerror(errno.ENOSPC): "user.max_user_namespaces is used up or 0: sysctl user.max_user_namespaces",
}


def available(*, again: bool = False) -> str:
    """Why no room can be built here, in a sentence; empty if one was built and held since the machine was started.

    `again` builds one in any case.
    """
    try:
        rooms = user_state() / "rooms"
        make(rooms)
        built = rooms / "built"
        here = f"{_BOOT.read_text().strip()} {os.getuid()} {_NAMESPACE.stat().st_ino}"
        if not again and built.is_file() and built.read_text() == here:
            return ""
        reason = _tried(rooms)
        if not reason:
            _note(built, here)
    except RalphError as error:
        return f"{error.message} ({error.hint})" if error.hint else error.message
    except OSError as error:
        return f"{error.strerror}: {error.filename}"
    return reason


def _note(built: Path, here: str) -> None:
    """Under a name of its own first: others may be trying at the same time."""
    fd, own = tempfile.mkstemp(prefix="trial-", dir=built.parent)
    with os.fdopen(fd, "w", encoding="ascii") as file:
        file.write(here)
    os.replace(own, built)  # noqa: PTH105


@cache
def _tried(rooms: Path) -> str:
    _sweep(rooms)
    place = Path(tempfile.mkdtemp(prefix="trial-", dir=rooms))
    try:
        project = place / "project"
        project.mkdir()
        layer = Layer(str(project), (str(project),), *make_layer(place / "layer", project))
        make_temporary(place / "layer/tmp")
        room = WalledRoom(
            project,
            Supervision(marker=place.name),
            {"PATH": os.defpath},
            Walls((layer,), str(place / "layer/tmp"), str(place / "layer"), hidden=("/run",)),
        )
        try:
            ran = room.run([_SHELL, "-c", ": > file"], timeout=_SECONDS)
        finally:
            room.close()
        if ran.not_started:
            return _explained(ran.not_started)
        held = (place / "layer/upper/file").exists() and not (project / "file").exists()
        return "" if held else f"what was written in a trial room did not stay in its layer: {ran.output.strip()}"
    finally:
        remove(place)


def _sweep(rooms: Path) -> None:
    """What somebody left who was killed while he tried."""
    for left in rooms.glob("trial-*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _ABANDONED:
                remove(left)


_SHELL = "/bin/sh"


def _explained(refusal: str) -> str:
    more = next((told for words, told in _EXPLAINED.items() if words in refusal), "")
    return f"{refusal} ({more})" if more else refusal
