"""An agent's own record of its session, read from the end: the last words of the assistant, and no more than needed."""

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

_BLOCK = 64 * 1024
_MOST = 64 * 1024 * 1024
"""A last turn that is longer than that is not looked through to its beginning."""
_LONGEST_LINE = 32 * 1024 * 1024
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def last_words(path: str, since: str = "") -> str:
    """What the assistant said last and after that time; empty if nothing can be found."""
    try:
        fd = os.open(path, _READ)
    except OSError:
        return ""
    try:
        is_file = stat.S_ISREG(os.fstat(fd).st_mode)
        return _last_words(backwards(fd), datetime.fromisoformat(since) if since else None) if is_file else ""
    finally:
        os.close(fd)


def text_of(content: object) -> str:
    """The spoken part: no reasoning, no tool call, no result of one."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        spoken = {"text", "output_text", None}  # gemini's parts are of no type
        parts = [part for part in content if isinstance(part, dict) and "text" in part and part.get("type") in spoken]
        return "\n".join(str(part["text"]) for part in parts)
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
    size, parts = _BLOCK, [b""]
    while end > stop:
        begin = max(end - size, stop)
        lines = os.pread(fd, end - begin, begin).split(b"\n")
        end = begin
        if len(lines) == 1:
            parts.append(lines[0])
            size = min(size * 2, _LONGEST_LINE)  # a long line is not copied again with every block
            continue
        last = b"".join((lines.pop(), *reversed(parts)))
        parts = [lines.pop(0)]
        yield from (line for line in (last, *reversed(lines)) if line)
    if stop == 0 and (first := b"".join(reversed(parts))):
        yield first
