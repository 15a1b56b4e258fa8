"""How this program speaks: data on stdout, the rest on stderr, no escape sequence that is not ours."""

from collections.abc import Iterable, Sequence
from typing import Any

import click
import msgspec

from untilproven.core.naming import quoted
from untilproven.core.text import printable
from untilproven.errors import RalphError

__all__ = ["emit_json", "error", "note", "printable", "quoted", "table", "warn"]


def emit_json(value: Any) -> None:
    """Data for programs: one JSON document on stdout."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))


def error(failure: RalphError, *, as_json: bool) -> None:
    if as_json:
        envelope = {
            "kind": failure.kind,
            "message": failure.message,
            "hint": failure.hint,
            "exit_code": failure.exit_code,
            **failure.details,
        }
        click.echo(msgspec.json.encode({"error": envelope}))
        return
    click.echo(click.style("ralph: ", fg="red") + printable(failure.message), err=True)
    if failure.hint:
        click.echo(f"  {printable(failure.hint)}", err=True)


def warn(text: str) -> None:
    click.echo(click.style("warning: ", fg="yellow") + printable(text), err=True)


def note(text: str) -> None:
    """Something for the person who typed the command, not for the program that reads its output."""
    click.echo(printable(text), err=True)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns as wide as their widest cell; the last one runs on."""
    cells = [head, *([printable(cell).replace("\n", " ") for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for place, row in enumerate(cells):
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        click.echo(click.style(line, bold=True) if place == 0 else line)
