"""`--watch`: the same look again and again, until Ctrl-C."""

import contextlib
import io
import os
import re
import sys
import time
from collections.abc import Callable, Iterator

from untilproven.watch.console.lines import fitted

EVERY = 1.0
"""Seconds between two looks."""

_AGO = re.compile(r" *\b\d+[smhd] ago")
_OWN_SCREEN, _BACK, _HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[?1049h", "\x1b[?1049l", "\x1b[H", "\x1b[K", "\x1b[J"


def watch(look: Callable[[], object]) -> int:
    """Look until Ctrl-C: in a terminal always in the same place, elsewhere only when something has changed."""
    with contextlib.suppress(KeyboardInterrupt):
        if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
            _redraw(look)
        else:
            _print_changes(look)
    return 0


def _redraw(look: Callable[[], object]) -> None:
    shown = ""
    sys.stdout.write(_OWN_SCREEN)
    try:
        for out, err in _looks(look):
            shown = out + err
            columns, rows = os.get_terminal_size(sys.stdout.fileno())
            lines = shown.splitlines()[: max((rows or 24) - 1, 1)]
            drawn = "".join(f"{fitted(line, (columns or 80) - 1)}{_CLEAR_LINE}\n" for line in lines)
            sys.stdout.write(f"{_HOME}{drawn}{_CLEAR_BELOW}")
            sys.stdout.flush()
    finally:
        # What was seen last stays on the ordinary screen.
        sys.stdout.write(f"{_BACK}{shown}")
        sys.stdout.flush()


def _print_changes(look: Callable[[], object]) -> None:
    before = None
    for out, err in _looks(look):
        now = _AGO.sub("", out + err)
        if now != before:
            sys.stdout.write(out)
            sys.stdout.flush()
            sys.stderr.write(err)
            before = now


def _looks(look: Callable[[], object]) -> Iterator[tuple[str, str]]:
    """What a look prints, on stdout and on stderr."""
    while True:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            look()
        yield out.getvalue(), err.getvalue()
        time.sleep(EVERY)
