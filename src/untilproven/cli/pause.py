"""`ralph pause LOOP`."""

import click

from untilproven.cli import asking, here
from untilproven.cli.completion import complete_loop
from untilproven.runtime.control.requests import new_request


@click.command("pause", short_help="set a loop aside")
@click.argument("loop", shell_complete=complete_loop)
@click.option("--now", is_flag=True, help="do not wait for the iteration to end; it is thrown away and not counted")
@click.option("--json", "as_json", is_flag=True, help="print the loop's state as JSON")
def command(loop: str, *, now: bool, as_json: bool) -> int:
    """Set LOOP aside at the end of its iteration: it keeps its slot, and its time stops. `ralph resume` goes on."""
    return asking.ask(here.project().state, loop, new_request("pause", now=now), wait=now, as_json=as_json)
