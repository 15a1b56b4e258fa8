"""`ralph log [LOOP]`."""

import contextlib
import sys
from collections import deque
from collections.abc import Iterable, Iterator

import click

from untilproven.cli import here, output
from untilproven.cli.completion import complete_loop
from untilproven.store import reader
from untilproven.watch.console.jsonl import JsonLines, json_line
from untilproven.watch.console.lines import WIDEST, rendered
from untilproven.watch.console.narrator import Narrator
from untilproven.watch.console.plain import Plain
from untilproven.watch.follow import Follower, follow, newest_loop


@click.command("log", short_help="what happened in a loop")
@click.argument("loop", required=False, shell_complete=complete_loop)
@click.option("-n", "last", type=click.IntRange(min=1), metavar="N", help="only the last N lines")
@click.option("-f", "--follow", "following", is_flag=True, help="go on with what happens from now on")
@click.option("-v", "--verbose", is_flag=True, help="also what the agent did and said, step by step")
@click.option("--json", "as_json", is_flag=True, help="print the events themselves, one JSON object a line")
def command(loop: str | None, *, last: int | None, following: bool, verbose: bool, as_json: bool) -> int:
    """Tell what happened in LOOP, or in the newest one, line by line. Exits with 1 when its journal is damaged."""
    state = here.project().state
    seen = reader.view(state, loop or newest_loop(state))
    narrator = Narrator(verbose=verbose, first=False, dated=True)
    # Ctrl-C is how one stops following.
    leaving = contextlib.suppress(KeyboardInterrupt) if following else contextlib.nullcontext()
    with leaving, Follower(seen, outputs=verbose) as follower:
        told = _as_json(follower) if as_json else _as_text(follower, narrator, ended=not following)
        _write(told if last is None else deque(told, maxlen=last))
        if following:
            sys.stdout.flush()
            follow(follower, JsonLines(sys.stdout) if as_json else Plain(sys.stdout, narrator))
    for text in seen.damage:
        output.warn(text)
    if follower.unreadable:
        output.warn(f"{follower.unreadable} lines of {seen.state.loop_id} could not be read and are left out")
    return 1 if seen.damage or follower.unreadable else 0


def _as_json(follower: Follower) -> Iterator[str]:
    return (json_line(followed.line) for followed in follower.poll())


def _as_text(follower: Follower, narrator: Narrator, *, ended: bool) -> Iterator[str]:
    colored = output.wants_color(sys.stdout)
    for followed in follower.poll():
        for line in narrator.tell(followed.entry, followed.state):
            yield rendered(line, room=WIDEST, colored=colored) + "\n"
    for line in narrator.rest() if ended else ():
        yield rendered(line, room=WIDEST, colored=colored) + "\n"


def _write(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(line)
