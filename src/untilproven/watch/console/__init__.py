"""What a person sees of a running loop: a live view in a terminal, plain lines without one, JSON for programs."""

import os
from typing import Protocol, TextIO

from untilproven.contract import Watcher

STOPS = "Ctrl-C stops after this iteration; twice stops now"
DETACHES = "Ctrl-C leaves; the loop goes on"


class Console(Watcher, Protocol):
    """A watcher that writes to somebody."""

    @property
    def gone(self) -> bool:
        """Whether nobody can read it any more."""


def for_terminal(
    stream: TextIO,
    *,
    as_json: bool = False,
    verbose: bool = False,
    quiet: bool = False,
    attached: bool = False,
    banner: bool = True,
) -> Console:
    """Whoever fits what is at the other end of the stream; `attached` looks on at a loop of another process."""
    if as_json:
        from untilproven.watch.console.jsonl import JsonLines  # noqa: PLC0415  only one of them is needed

        return JsonLines(stream)
    from untilproven.watch.console.narrator import Narrator  # noqa: PLC0415

    narrator = Narrator(verbose=verbose, quiet=quiet, first=banner)
    if not quiet and stream.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from untilproven.watch.color import wants_color  # noqa: PLC0415
        from untilproven.watch.console.footer import Now  # noqa: PLC0415
        from untilproven.watch.console.live import Live  # noqa: PLC0415
        from untilproven.watch.console.terminal import Terminal  # noqa: PLC0415

        terminal = Terminal(stream)
        if not terminal.gone:
            now = Now(hint=DETACHES if attached else STOPS, plain_bars=not terminal.utf8)
            return Live(terminal, narrator, now, colored=wants_color(stream), measured=not attached)
    from untilproven.watch.console.plain import Plain  # noqa: PLC0415

    return Plain(stream, narrator)
