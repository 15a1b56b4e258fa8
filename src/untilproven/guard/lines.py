"""Lines of a file that came and went, without those of tests and without remarks."""

import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from untilproven.guard.comparison import Pair, Side
from untilproven.guard.languages import grammar_of
from untilproven.guard.names import NAME
from untilproven.guard.tokens import tokens_of

_HARDLY_ANY = 0.34
_REMARK = re.compile(r"#(?!\[)|//(?!go:build |\s*\+build )|/\*|\*(?:\s|/|$)|<!--")
"""For which builds a file is there is none."""
_BEHIND = {"python": re.compile(r"(?<=\S)\s+#.*$")}
_BEHIND_OTHERS = re.compile(r"(?<=\S)\s+(?://|/\*)\s.*$")
"""Remarks behind something on its line."""
_REMARKING = frozenset({"#", "/", "*", "<"})
"""What a remark begins with: most lines begin otherwise."""


class Changed(NamedTuple):
    went: Counter[str]
    came: Counter[str]


@lru_cache(maxsize=64)
def lines_changed(pair: Pair) -> Changed:
    was, now = _lines(pair.before), _lines(pair.after)
    return Changed(_more(was, now), _more(now, was))


def names_changed(pair: Pair) -> frozenset[str]:
    """Names on lines that came or went."""
    went, came = lines_changed(pair)
    return frozenset(name for line in (*went, *came) for name in NAME.findall(line))


@lru_cache(maxsize=64)
def tokens_changed(pair: Pair) -> tuple[frozenset[str], frozenset[str]]:
    """Of lines that went, and of those that came, tests apart."""
    went, came = lines_changed(pair)
    return tokens_of("\n".join(went)), tokens_of("\n".join(came))


def _more(one: Counter[str], other: Counter[str]) -> Counter[str]:
    """What one has more of than the other; most of two versions of a file is the same."""
    return Counter({line: times - other[line] for line, times in one.items() if times > other.get(line, 0)})


def _lines(side: Side | None) -> Counter[str]:
    """Without those of tests, and without remarks."""
    if side is None:
        return Counter()
    lines = side.text.splitlines()
    for one in side.facts.declarations:
        if one.is_test:
            reach = one.node.range()
            first, last = reach.start.line, reach.end.line + 1
            while first and lines[first - 1].lstrip().startswith(("#[", "@")):
                first -= 1
            lines[first:last] = [""] * (last - first)
    grammar = grammar_of(side.path)
    if grammar is not None:
        behind = _BEHIND.get(grammar, _BEHIND_OTHERS)
        lines = [behind.sub("", line) if "#" in line or "/" in line else line for line in lines]
    found = Counter(map(str.strip, lines))
    del found[""]
    return Counter(
        {line: times for line, times in found.items() if line[:1] not in _REMARKING or not _REMARK.match(line)}
    )


def lines_of(text: str) -> Counter[str]:
    return Counter(line for line in map(str.strip, text.splitlines()) if line and not _REMARK.match(line))


def is_mostly_gone(went: int, came: int) -> bool:
    return went > 1 and came <= _HARDLY_ANY * went
