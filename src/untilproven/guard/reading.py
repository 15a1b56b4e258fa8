"""From bytes to a syntax tree, in bounded time."""

import re
from functools import lru_cache

from ast_grep_py import SgRoot

from untilproven.guard.facts import Facts
from untilproven.guard.languages import grammar_of, language_of
from untilproven.guard.written import Unreadable, as_text

_MOST_BROKEN = 0.3
_BUILT = re.compile(
    r"(?:^|/)(?:dist|generated|__generated__)/|\.min\.[cm]?js$|\.pb\.go$|_pb2(?:_grpc)?\.py$|\.g\.dart$"
)


def read(path: str, content: bytes, *, though_made: bool = False) -> Facts:
    """Raises `Unreadable`."""
    grammar = grammar_of(path)
    if grammar is None:
        raise Unreadable("no language that is read here")
    if _BUILT.search(path):
        raise Unreadable("built from something else")
    return _facts(path, grammar, as_text(content, though_made=though_made))


@lru_cache(maxsize=64)
def _facts(path: str, grammar: str, text: str) -> Facts:
    """In a loop the same versions of files are compared again and again: what is new now is old the next time."""
    root = SgRoot(text, grammar).root()
    if broken := root.find_all(kind="ERROR"):
        lost = sum(len(node.text()) for node in broken)
        if lost > _MOST_BROKEN * len(text):
            raise Unreadable("does not parse")
    return language_of(grammar).facts(root, path)
