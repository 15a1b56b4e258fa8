"""`ralph abort LOOP`."""

import click

from untilproven.cli import asking, here
from untilproven.cli.completion import complete_loop
from untilproven.errors import UsageError
from untilproven.runtime.control.requests import new_request


@click.command("abort", short_help="end a loop and free its slot")
@click.argument("loop", shell_complete=complete_loop)
@click.option("--revert", is_flag=True, help="also bring the tree back to where it was when the loop began")
@click.option("--json", "as_json", is_flag=True, help="print the loop's last state as JSON")
def command(loop: str, *, revert: bool, as_json: bool) -> int:
    """End LOOP and everything it started, and free its slot. The tree stays as the last kept iteration left it.

    A crashed loop only gives up its slot; it can still be continued.
    """
    if revert:
        raise UsageError(
            "the tree cannot be brought back: this loop works on your files themselves (--sandbox none)",
            hint="abort without --revert, and use git to see and undo what changed",
        )
    return asking.ask(here.project().state, loop, new_request("abort"), wait=True, as_json=as_json)
