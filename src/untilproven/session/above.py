"""The agent's process: the first one above a hook that only passes words on."""

import os
from pathlib import Path

from untilproven.model.state import ProcessIdentity
from untilproven.store import process

_PASSING_ON = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "env", "timeout", "ralph", "uv", "uvx"})
_HIGHEST = 16


def agent_above() -> ProcessIdentity:
    """Whoever waits for the hook; its parent, where more cannot be known."""
    pid = os.getppid()
    for _ in range(_HIGHEST):
        name, parent = _known(pid)
        if name not in _PASSING_ON or parent <= 1:
            break
        pid = parent
    return process.identity_of(pid) or process.this_process()


def _known(pid: int) -> tuple[str, int]:
    try:
        line = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return "", 0
    name, _, rest = line.partition("(")[2].rpartition(")")
    return name, int(rest.split()[1])
