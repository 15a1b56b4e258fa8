"""How this program speaks: data on stdout, the rest on stderr, no escape sequence that is not ours.

Does without click, which takes longer to import than everything else that `ralph status` does.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import msgspec

from untilproven.core.naming import quoted
from untilproven.core.text import printable
from untilproven.errors import RalphError
from untilproven.watch.color import BOLD, RED, YELLOW, painted, wants_color

__all__ = ["emit_json", "error", "line", "note", "printable", "quoted", "table", "wants_color", "warn"]


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
    sys.stderr.write(f"{_styled('ralph:', RED, sys.stderr)} {printable(failure.message)}\n")
    if failure.hint:
        note(f"  {failure.hint}")


def warn(text: str) -> None:
    sys.stderr.write(f"{_styled('warning:', YELLOW, sys.stderr)} {printable(text)}\n")


def note(text: str) -> None:
    """Something for the person who typed the command, not for the program that reads its output."""
    sys.stderr.write(f"{printable(text)}\n")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns as wide as their widest cell; the last one runs on."""
    cells = [head, *([printable(cell).replace("\n", " ") for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for place, row in enumerate(cells):
        text = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        line(_styled(text, BOLD, sys.stdout) if place == 0 else text)


def _styled(text: str, code: int, stream: TextIO) -> str:
    return painted(text, code) if wants_color(stream) else text
