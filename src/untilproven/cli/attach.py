"""`ralph attach LOOP`."""

import contextlib
import sys

import click

from untilproven.cli import here, output
from untilproven.cli.completion import complete_loop
from untilproven.model.status import Status
from untilproven.store import reader
from untilproven.watch import console
from untilproven.watch.follow import Follower, Outcome, follow, last_iteration, newest_loop

_WAITING = 8


@click.command("attach", short_help="watch a loop that runs elsewhere")
@click.argument("loop", required=False, shell_complete=complete_loop)
@click.option("--json", "as_json", is_flag=True, help="print events as JSON lines")
@click.option("-v", "--verbose", is_flag=True, help="also what the agent says")
@click.option("-q", "--quiet", is_flag=True, help="only how it ends")
def command(loop: str | None, *, as_json: bool, verbose: bool, quiet: bool) -> int:
    """Watch LOOP, or the newest one, from its running iteration on, until it ends or waits.

    Ctrl-C only leaves; the loop goes on. The exit code is the loop's own, or 8 if it waits.
    """
    state = here.project().state
    seen = reader.resolve(state, loop or newest_loop(state))
    shown = console.for_terminal(sys.stdout, as_json=as_json, verbose=verbose, quiet=quiet, attached=True)
    with contextlib.closing(shown), Follower(seen, since=last_iteration(seen.directory)) as follower:
        try:
            outcome = follow(follower, shown)
        except KeyboardInterrupt:
            outcome = None
    return _code(follower, outcome)


def _code(follower: Follower, outcome: Outcome | None) -> int:
    name = follower.loop.loop_id
    match outcome:
        case None:
            output.note(f"left; {name} goes on. To watch it again: ralph attach {name}")
        case Outcome.PAUSED:
            return _WAITING
        case Outcome.ABANDONED:
            output.note(f"{name} is {follower.state.status}, but nobody runs it. To go on: ralph resume {name}")
            return 1
        case Outcome.ENDED if follower.finished:
            return follower.finished.exit_code
        case Outcome.ENDED:
            return 0 if follower.state.status is Status.COMPLETED else 1
    return 0
