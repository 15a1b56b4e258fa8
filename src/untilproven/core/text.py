"""Text from outside, cut to size and made harmless."""

import re

_CUT = "\n[... {} bytes cut ...]\n"
_SEQUENCES = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"
_CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
_HARMFUL = f"(?s){_SEQUENCES}|{_CONTROLS}"


def cut(whole: str, size: int) -> str:
    """At most `size` bytes of UTF-8: a quarter from the head, the rest from the tail, where the verdict stands."""
    data = whole.encode("utf-8", "replace")
    if len(data) <= size:
        return data.decode()
    note = _CUT.format(len(data) - size).encode()
    room = max(size - len(note), 0)
    head, tail = data[: room // 4], data[len(data) - (room - room // 4) :]
    return (head + note + tail).decode("utf-8", "ignore") if room else data[:size].decode("utf-8", "ignore")


def text(raw: str) -> str:
    """Text that can be stored and printed: what is no character, as in a path that is not UTF-8, becomes `?`."""
    return raw.encode("utf-8", "replace").decode()


def printable(raw: str) -> str:
    """Text without escape sequences, control characters and marks of direction; line breaks and tabs stay."""
    return raw if raw.isprintable() else re.sub(_HARMFUL, "", text(raw))
