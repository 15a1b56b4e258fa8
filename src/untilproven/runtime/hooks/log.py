"""`hook-log.jsonl`: every call of a hook, one line each; not part of the truth, so never synced."""

import os
import stat
from pathlib import Path

from untilproven.core.redaction import Redaction
from untilproven.model import wire
from untilproven.model.hooks import HookCall
from untilproven.workspace.environment import secrets

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def append(path: Path, call: HookCall) -> None:
    """Add a line with one write, without the secrets that every hook has in its environment. Raises OSError, and then
    nothing of the line is left."""
    line = wire.encode(Redaction(secrets()).record(call)) + b"\n"
    fd = os.open(path, _FLAGS, 0o644)
    try:
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            raise OSError("not a regular file")
        written = os.write(fd, line)
        if written < len(line):
            os.ftruncate(fd, before.st_size)
            raise OSError("no room left for a whole line")
    finally:
        os.close(fd)
