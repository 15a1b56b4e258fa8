"""Metrics of the user's own: a line of shell that prints a number last."""

import math
import re
import shlex

from untilproven.checks import ending
from untilproven.checks.metrics.unmeasured import Unmeasured, because
from untilproven.contract import Exchange, Room
from untilproven.core.text import printable
from untilproven.errors import Damaged, Foreign
from untilproven.store import files

_FIGURE = re.compile(r"(?<![\w.])[-+]?\.?\d[\w.,:/+-]*")
"""As much as could belong to a number, so that half of a version, a date or `1,234` is not taken for one."""
_NUMBER = re.compile(r"([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?)(?:[a-zA-Z]*)[.,:;]?")
_LARGEST = 4 * files.MIB


def take(line: str, room: Room, scratch: Exchange, *, timeout: float) -> float | Unmeasured:
    """Only what goes to its standard output counts."""
    answer = scratch.outside / "custom.answer"
    answer.unlink(missing_ok=True)
    ran = room.run(f"sh -c {shlex.quote(line)} >{shlex.quote(str(scratch.inside / answer.name))}", timeout=timeout)
    if ran.not_started:
        return because(f"it cannot be run: {ran.not_started}")
    if why := ending.why_not(ran, timeout):
        return because(f"it {why}: {ran.output}")
    try:
        return number_in(files.read(answer, _LARGEST).decode("utf-8", "replace"))
    except (OSError, Damaged, Foreign):
        return because("what it printed cannot be read, or is more than can be believed")


def number_in(printed: str) -> float | Unmeasured:
    """The last number of the last line that is not empty."""
    last = next((line for line in reversed(printable(printed).splitlines()) if line.strip()), None)
    if last is None:
        return Unmeasured("it printed nothing")
    figures = _FIGURE.findall(last)
    found = _NUMBER.fullmatch(figures[-1]) if figures else None
    if not found:
        return because(f"its last line has no number in it, or one that can be read in two ways: {last}")
    number = float(found[1])
    return number if math.isfinite(number) else because(f"its last line has no number in it: {last}")
