"""Whether somebody takes what a call answers."""

import re

from untilproven.guard.facts import Handler
from untilproven.guard.pairing import Placed

_TO_NOBODY = re.compile(r"(?:let )?_ = (.+)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w+")
_FOR_NOBODY = re.compile(r"\s*(?:(?:let )?_ = |(?:go|defer) )?(?:[&*]*[\w.:]+(?:\.|::))?")
"""What stands on the line before a call that nobody takes the answer of."""
_TAKEN = re.compile(r"\s*(?:\.await)?\s*(?:\?|\.\s*\w)")
_BRACKET = re.compile(r"[()]")


def was_never_heard(handler: Handler, before: Placed, after: Placed) -> bool:
    """Of a call whose answer is given to nobody: the function takes that of as many calls of this name as it did."""
    found = _TO_NOBODY.match(handler.errors)
    names = _NAME.findall(found[1])[-1:] if found else []
    return any(_heard(name, before.text) <= _heard(name, after.text) for name in names)


def _heard(name: str, text: str) -> int:
    """How many calls somebody takes the answer of."""
    calls = re.finditer(rf"(?<!\w){re.escape(name)}\(", text)
    return sum(not _is_for_nobody(text, call.start(), call.end()) for call in calls)


def _is_for_nobody(text: str, start: int, opened: int) -> bool:
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return _FOR_NOBODY.fullmatch(line) is not None and _TAKEN.match(text, _end(text, opened)) is None


def _end(text: str, opened: int) -> int:
    """Behind the bracket that closes the one that was opened before."""
    depth = 1
    for bracket in _BRACKET.finditer(text, opened):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return bracket.end()
    return len(text)
