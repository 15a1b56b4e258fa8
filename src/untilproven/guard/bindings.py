"""What a test gives names to, and the names in what it says."""

import re
from collections import Counter
from functools import lru_cache

from untilproven.guard.names import NAME

LITERAL = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|(?<![\w.])\d[\w.]*")
_BOUND = re.compile(
    r"(?m)(?<![\w$])([A-Za-z_$][\w$]*(?:\s*,\s*[A-Za-z_$][\w$]*){0,5})\s*"
    r"(?::\s*[\w.<>\[\]:&]+(?:, ?[\w.<>\[\]:&]+)*\s*)?(?::=|=(?![=>]))\s*(.+)$"
    r"|\bwith\b(.{1,200}?)\bas\b\s*(.+)$|\bfor\b(.{1,200}?)\bin\b\s*(.+)$|^(.*?)\(([\w ,$]*)\) *(?:=> *\{?|\{) *$"
)
"""A name and its value; what is opened, and the name it is opened as; a name, and what it goes through; a function that
is called back, and its parameters."""
CALLED = re.compile(r"([A-Za-z_$][\w$]*)\s*\(")
OF_THE_LANGUAGE = frozenset(
    {"len", "list", "str", "repr", "int", "set", "sorted", "tuple", "dict", "bool", "type", "isinstance", "string"}
    | {"await", "new", "self", "this", "not"}
)
"""Names that say nothing about what is asked."""


@lru_cache(maxsize=64)
def bound_in(text: str) -> dict[str, Counter[str]]:
    """What is given a name, by these names."""
    bound: dict[str, Counter[str]] = {}
    for names, value, opened, opened_as, each, of, called, given in _BOUND.findall(text):
        for name in NAME.findall(names or opened_as or each or given):
            bound.setdefault(name, Counter())[" ".join((value or opened or of or called).split())] += 1
    return bound


def names_of(about: str) -> frozenset[str]:
    return frozenset(NAME.findall(LITERAL.sub("", about))) - OF_THE_LANGUAGE
