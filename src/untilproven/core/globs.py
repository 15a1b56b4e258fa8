"""Which paths a pattern means: `*` within a name, `**` across directories; every other character is itself."""

import re
from functools import lru_cache


def matches(pattern: str, path: str) -> bool:
    """Whether a path is meant by a pattern, both from the same directory on."""
    return _expression(pattern).fullmatch(path) is not None


@lru_cache(maxsize=64)
def _expression(pattern: str) -> re.Pattern[str]:
    """`a/**/b` is `a/b` too, and `a/**` everything below `a`."""
    text = ""
    parts = pattern.split("/")
    for at, part in enumerate(parts):
        is_last = at == len(parts) - 1
        if part == "**":
            text += ".*" if is_last else "(?:.*/)?"
        else:
            text += "[^/]*".join(re.escape(piece) for piece in part.split("*")) + ("" if is_last else "/")
    return re.compile(text, re.DOTALL)
