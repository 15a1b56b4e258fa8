"""Line endings: what git would store of a file whose lines end in CRLF. Nothing is run, nothing is read."""

import re
from collections.abc import Mapping

ATTRIBUTES = ("text", "crlf", "eol", "ident", "working-tree-encoding", "filter")
_BLANK = ("unspecified", "unset")
_PRINTABLE = bytes({8, 9, 12, 27} | (set(range(32, 256)) - {127}))
_ENDINGS = b"\r\n"
_END_OF_FILE = b"\x1a"


def conversion(found: Mapping[str, str], autocrlf: str) -> str:
    """`text` if CRLF always becomes LF, `auto` if only in what looks like text, empty if it never does."""
    action = _action(found.get("text", "unspecified"))
    if action is None:
        action = _action(found.get("crlf", "unspecified"))
    if action == "":
        return ""
    if found.get("eol") in {"lf", "crlf"}:
        return action or "text"
    if action is None:
        return "auto" if autocrlf.lower() in {"true", "yes", "on", "1", "input"} else ""
    return action


def _action(value: str) -> str | None:
    """None if the attribute does not say."""
    return {"set": "text", "input": "text", "unset": "", "auto": "auto"}.get(value)


def refused(found: Mapping[str, str], data: bytes) -> str:
    """Why these bytes cannot be stored without running what the repository names; empty if they can."""
    name = found.get("filter", "unspecified")
    if name not in _BLANK:
        which = "Git LFS" if name == "lfs" else f"the filter {name}"
        return f"is stored through {which}"
    if (encoding := found.get("working-tree-encoding", "unspecified")) not in _BLANK:
        return f"is stored in another encoding than {encoding}, which it has here"
    if found.get("ident") == "set" and b"$Id" in data:
        return "has an $Id$ that git would rewrite"
    return ""


def stored(data: bytes, how: str, before: bytes | None) -> bytes:
    """The bytes that git would store; `before` is what it has of the file now."""
    if not how or b"\r\n" not in data:
        return data
    if how == "auto" and (_is_binary(data) or (before is not None and _keeps_its_endings(before))):
        return data
    return data.replace(b"\r\n", b"\n")


def checked_out(data: bytes, how: str) -> bytes | None:
    """The other form in which a working tree may have what is stored; None if there is none."""
    if not how or b"\r\n" in data or b"\n" not in data:
        return None
    return data.replace(b"\n", b"\r\n")


def _keeps_its_endings(before: bytes) -> bool:
    return b"\r\n" in before and not _is_binary(before)


def _is_binary(data: bytes) -> bool:
    """As git tells it: a lone CR, a NUL, or more than one strange character in 128."""
    if b"\0" in data or re.search(rb"\r(?!\n)", data):
        return True
    rest = data.translate(None, _ENDINGS)
    strange = len(rest.translate(None, _PRINTABLE))
    return (len(rest) - strange) >> 7 < strange - data.endswith(_END_OF_FILE)
