"""How this program speaks: data on stdout, the rest on stderr, no escape sequence that is not ours.

Does without click, which takes longer to import than everything else that `ralph status` does.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import msgspec

from untilproven.core.naming import quoted
from untilproven.core.text import printable
from untilproven.errors import RalphError

__all__ = ["emit_json", "error", "line", "note", "printable", "quoted", "table", "warn"]

_BOLD, _RED, _YELLOW = 1, 31, 33


def line(text: str) -> None:
    """One line of data."""
    sys.stdout.write(f"{text}\n")


def emit_json(value: Any) -> None:
    """Data for programs: one JSON document on stdout."""
    line(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def error(failure: RalphError, *, as_json: bool) -> None:
    if as_json:
        envelope = {
            "kind": failure.kind,
            "message": failure.message,
            "hint": failure.hint,
            "exit_code": failure.exit_code,
            **failure.details,
        }
        line(msgspec.json.encode({"error": envelope}).decode())
        return
    sys.stderr.write(f"{_styled('ralph:', _RED, sys.stderr)} {printable(failure.message)}\n")
    if failure.hint:
        note(f"  {failure.hint}")


def warn(text: str) -> None:
    sys.stderr.write(f"{_styled('warning:', _YELLOW, sys.stderr)} {printable(text)}\n")


def note(text: str) -> None:
    """Something for the person who typed the command, not for the program that reads its output."""
    sys.stderr.write(f"{printable(text)}\n")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns as wide as their widest cell; the last one runs on."""
    cells = [head, *([printable(cell).replace("\n", " ") for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for place, row in enumerate(cells):
        text = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        line(_styled(text, _BOLD, sys.stdout) if place == 0 else text)


def wants_color(stream: TextIO) -> bool:
    """What the user said, else whether anybody is looking who can see it."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def _styled(text: str, code: int, stream: TextIO) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if wants_color(stream) else text
