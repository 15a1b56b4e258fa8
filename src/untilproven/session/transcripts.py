"""An agent's own record of its session, read from the end: the last words of the assistant, and no more than needed."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from untilproven.errors import RalphError
from untilproven.session.detector import text_of
from untilproven.store import files

_BLOCK = 256 * 1024
_MOST = 64 * files.MIB
"""A last turn that is longer than that is not looked through to its beginning."""
_LONGEST_LINE = 32 * files.MIB


def last_words(path: Path, since: datetime | None = None) -> str:
    """What the assistant said last and after that time; empty if nothing can be found."""
    try:
        with files.open_regular(path) as file:
            return _last_words(backwards(file.fileno()), since)
    except (OSError, RalphError):
        return ""


def _last_words(lines: Iterator[bytes], since: datetime | None) -> str:
    said: list[str] = []
    message = None
    for line in lines:
        if b"assistant" not in line and b'"user"' not in line and b'"gemini"' not in line and b'"model"' not in line:
            continue
        try:
            found = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if not isinstance(found, dict):
            continue
        role, text, name = _entry(found)
        if _is_before(found, since):
            break
        if role == "assistant" and text:
            if said and name != message:
                break
            said.append(text)
            message = name
            if not name:
                break
        elif role == "user" and (said or text):
            break
    return "\n".join(reversed(said))


def _entry(line: dict[str, Any]) -> tuple[str, str, object]:
    """Who speaks in a line of claude's or qwen's transcript, of codex's rollout, or of a plain list of messages; what;
    and by which name parts of one message are known. What a tool returned is nobody's speech."""
    if line.get("isSidechain") or line.get("isMeta"):
        return "", "", None
    inner = line.get("payload") if line.get("type") == "response_item" else line.get("message")
    entry = inner if isinstance(inner, dict) else line
    role = entry.get("role") or line.get("type")
    role = "assistant" if role in {"model", "gemini"} else role
    text = text_of(entry.get("content"))
    if not text and isinstance(entry.get("parts"), list):
        parts = entry["parts"]
        text = "\n".join(str(p["text"]) for p in parts if isinstance(p, dict) and "text" in p and not p.get("thought"))
    return (role if role in {"assistant", "user"} else ""), text, entry.get("id")


def _is_before(line: dict[str, Any], since: datetime | None) -> bool:
    stamp = line.get("timestamp")
    if since is None or not isinstance(stamp, str):
        return False
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        return False
    return (at if at.tzinfo else at.replace(tzinfo=UTC)) < since


def backwards(fd: int) -> Iterator[bytes]:
    """The lines of a file, the last one first. What is not ended by a line break is a line as well."""
    end = os.fstat(fd).st_size
    stop = max(end - _MOST, 0)
    rest = b""
    while end > stop:
        begin = max(end - _BLOCK, stop)
        block = os.pread(fd, end - begin, begin) + rest
        end = begin
        lines = block.split(b"\n")
        rest = lines[0] if len(lines[0]) <= _LONGEST_LINE else b""
        yield from (line for line in reversed(lines[1:]) if line)
    if rest and stop == 0:
        yield rest
