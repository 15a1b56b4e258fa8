"""Colors, for whoever wants to see them."""

import os
from typing import TextIO

BOLD, DIM, RED, GREEN, YELLOW, CYAN = 1, 2, 31, 32, 33, 36


def wants_color(stream: TextIO) -> bool:
    """What the user said, else whether anybody is looking who can see it."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def painted(text: str, code: int) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if text else ""
