"""Whether an agent is told the same as when a loop was recorded."""

import re
from itertools import zip_longest

_TIME = re.compile(r"\b(?:\d+m\s?)?\d+(?:\.\d+)?\s?(?:ms|s|secs?|seconds?|m|min|minutes?)\b")
_MOMENT = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?\S*|\b\d\d:\d\d:\d\d\b")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_SHOWN = 120


def comparable(prompt: str, root: str, loop_id: str) -> str:
    """Without what differs from run to run: times, addresses, where the project is, the loop."""
    text = prompt.replace(root, "PROJECT").replace(loop_id, "LOOP")
    for pattern in (_MOMENT, _TIME, _ADDRESS):
        text = pattern.sub("_", text)
    return text


def difference(recorded: str, now: str) -> str:
    """The first line that is not the same; empty if all are."""
    for number, (was, line) in enumerate(zip_longest(recorded.splitlines(), now.splitlines()), 1):
        if was != line:
            return f"line {number} of its prompt is {_quoted(line)}, and was {_quoted(was)}"
    return ""


def _quoted(line: str | None) -> str:
    if line is None:
        return "not there"
    return repr(line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…")
