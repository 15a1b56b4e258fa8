"""`ralph abort LOOP`."""

import click

from untilproven.cli import here, output
from untilproven.cli.completion import complete_loop
from untilproven.store.lifecycle import abort_loop


@click.command("abort", short_help="end a loop and free its slot")
@click.argument("loop", shell_complete=complete_loop)
@click.option("--json", "as_json", is_flag=True, help="print the loop's last state as JSON")
def command(loop: str, *, as_json: bool) -> None:
    """End LOOP and free its slot. The tree stays as the last kept iteration left it.

    A crashed loop only gives up its slot; it can still be continued. A loop that is being run is refused (7).
    """
    state = abort_loop(here.project().state, loop)
    if as_json:
        output.emit_json({"loop_id": state.loop_id, "status": state.status, "iteration": state.iteration})
    else:
        output.line(f"{state.loop_id} is {state.status} after {state.iteration} iterations; its slot is free")
