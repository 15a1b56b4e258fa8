"""`ralph diff LOOP [A [B]]`."""

import sys
from collections.abc import Iterable

import click

from untilproven.cli import here, output
from untilproven.cli.completion import complete_loop
from untilproven.core.text import text
from untilproven.store import reader
from untilproven.watch.color import BOLD, CYAN, GREEN, RED, painted
from untilproven.workspace.snapshots import states
from untilproven.workspace.snapshots.patch import LARGEST, Difference, differences
from untilproven.workspace.snapshots.target import snapshots_of, target_of

_COLORS = {"+": GREEN, "-": RED, "@": CYAN, "d": BOLD}


@click.command("diff", short_help="what a loop changed, line by line")
@click.argument("loop", shell_complete=complete_loop)
@click.argument("first", required=False, metavar="[A]")
@click.argument("second", required=False, metavar="[B]")
@click.option("--stat", is_flag=True, help="only how many lines of which files")
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
def command(loop: str, first: str | None, second: str | None, *, stat: bool, as_json: bool) -> None:
    """Show what LOOP changed from its start to its end, to iteration A, or from A to B.

    A and B are iterations, or best, start, end. Plain text can be given to `git apply`.
    """
    project = here.project()
    view = reader.resolve(project.state, loop)
    snapshots = snapshots_of(view, project.root)
    words = ("start", first or "end") if second is None else (first or "start", second)
    before, after = (target_of(view.state, word) for word in words)
    old, new = states.pair(snapshots.history(before, after), before, after)
    found = differences(old, new, lambda path, entry: snapshots.read(path, entry, LARGEST))
    if as_json:
        output.emit_json(
            {
                "loop_id": view.state.loop_id,
                "from": int(before) if before.isdigit() else before,
                "to": int(after) if after.isdigit() else after,
                "changes": [_as_json(one, stat=stat) for one in found],
            }
        )
    elif stat:
        _stat(list(found))
    else:
        _patch(found)


def _patch(found: Iterable[Difference]) -> None:
    colored, exact = output.wants_color(sys.stdout), True
    for one in found:
        exact = exact and (one.is_exact or one.is_binary)
        for line in one.lines:
            output.line(painted(line, _COLORS[line[0]]) if colored and line[:1] in _COLORS else line)
    if not exact:
        output.note("control characters, bytes that are no text, and directories are not in it as they are")


def _stat(found: list[Difference]) -> None:
    for one in found:
        told = "binary" if one.is_binary else f"+{one.added} -{one.removed}"
        output.line(f"{one.change:<9} {told:<12} {output.printable(one.path).replace(chr(10), '?')}")
    added, removed = sum(one.added for one in found), sum(one.removed for one in found)
    output.note(f"{len(found)} changed, {added} lines added, {removed} removed")


def _as_json(one: Difference, *, stat: bool) -> dict[str, object]:
    told: dict[str, object] = {"path": text(one.path), "change": one.change, "binary": one.is_binary}
    if not one.is_binary:
        told |= {"added": one.added, "removed": one.removed}
    return told if stat else {**told, "patch": "".join(f"{line}\n" for line in one.lines), "exact": one.is_exact}
