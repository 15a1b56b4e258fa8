"""The words of a text, numbers included."""

import re
from collections import Counter

from untilproven.guard.names import EVERYWHERE

_TOKEN = re.compile(r"\w+")
_ESCAPED = re.compile(r"\\[nrtbf]")
_SHORTEST_TOLD = 3


def all_tokens(text: str) -> list[str]:
    """Without the letters by which a sign is written that has none."""
    return _TOKEN.findall(_ESCAPED.sub(" ", text))


def tokens_of(text: str) -> frozenset[str]:
    return frozenset(all_tokens(text))


def telling(tokens: frozenset[str]) -> frozenset[str]:
    """Those that do not stand everywhere."""
    return frozenset(one for one in tokens if len(one) >= _SHORTEST_TOLD) - EVERYWHERE


def rest_of(text: str, part: str) -> frozenset[str]:
    """The words of a text besides those of a part of it."""
    return frozenset(Counter(all_tokens(text)) - Counter(all_tokens(part)))
