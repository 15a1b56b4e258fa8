"""`ralph pause LOOP`."""

import click

from untilproven.cli import here, output
from untilproven.cli.completion import complete_loop
from untilproven.store.lifecycle import pause_loop


@click.command("pause", short_help="set a loop aside")
@click.argument("loop", shell_complete=complete_loop)
@click.option("--json", "as_json", is_flag=True, help="print the loop's state as JSON")
def command(loop: str, *, as_json: bool) -> None:
    """Set LOOP aside: it keeps its slot and is never taken for crashed. A loop that is being run is refused (7)."""
    state = pause_loop(here.project().state, loop)
    if as_json:
        output.emit_json({"loop_id": state.loop_id, "status": state.status, "iteration": state.iteration})
    else:
        output.line(f"{state.loop_id} is paused after {state.iteration} iterations")
