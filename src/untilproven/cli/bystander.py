"""`ralph hook` in a session that has no loop: nearly every call there is, so it loads nothing.

An agent with the plugin calls us whenever it wants to stop and whenever its user says something. That a session has no
loop can be told from its id and one look at the disk; whatever is not plain is left to those who know the whole.
"""

import io
import os
import sys

_QUIET = frozenset({"stop", "prompt", "idle", "error", "deleted"})
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST_ID = 96
_LARGEST = 256 * 1024 * 1024
_KEYS = (b'"session_id":"', b'"session_id": "', b'"sessionID":"')
"""With its quotes, none of these can stand inside of a string."""


def is_nothing(words: list[str]) -> bool:
    """Whether this event is none of ours. What was read of it is there to be read again."""
    if not words or words[0] not in _QUIET:
        return False
    data = sys.stdin.buffer.read(_LARGEST)
    sys.stdin = io.TextIOWrapper(io.BytesIO(data), "utf-8")
    session = _session(data)
    if not session or (words[0] == "prompt" and b"ralph" in data):
        return False
    pointer = _pointer(session)
    return bool(pointer) and not os.path.lexists(pointer)


def _session(data: bytes) -> str:
    """The id of the event's session, if it is as plain as those of the agents we know."""
    for key in _KEYS:
        start = data.find(key)
        if start >= 0:
            start += len(key)
            found = data[start : data.find(b'"', start, start + _LONGEST_ID + 1)]
            return found.decode() if found and _PLAIN.issuperset(found) else ""
    return ""


def _pointer(session: str) -> str:
    """Where a session that has a loop is remembered; empty if that cannot be said here."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not base.startswith("/"):
        base = os.path.expanduser("~/.local/state")  # noqa: PTH111  pathlib is what is to stay away
    return f"{base}/untilproven/sessions/{session}" if base.startswith("/") else ""
