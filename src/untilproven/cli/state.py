"""`ralph state rebuild LOOP`."""

import click

from untilproven.cli import here, output
from untilproven.cli.completion import complete_loop
from untilproven.store.rebuild import rebuild as rebuild_loop


@click.group("state", short_help="rebuild a loop's state from its journal")
def command() -> None:
    """Look after the files that are derived from a loop's journal."""


@command.command("rebuild")
@click.argument("loop", shell_complete=complete_loop)
@click.option("--json", "as_json", is_flag=True, help="print what was done as JSON")
def rebuild(loop: str, *, as_json: bool) -> int:
    """Make state.json and iterations/ of LOOP again from events.jsonl. The old state stays as state.json.bak.

    Exits with 1 when the journal itself has lines that cannot be read.
    """
    done = rebuild_loop(here.project().state, loop)
    if as_json:
        output.emit_json(done)
    else:
        changed = ", ".join(done.changed) if done.changed else "nothing: all of it was right"
        click.echo(f"{done.loop_id}: {done.events} events, {done.iterations} iterations; rewrote {changed}")
        for line in done.damage:
            output.warn(line)
    return 1 if done.damage else 0
