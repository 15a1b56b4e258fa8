"""What a tool is to whoever wants its answer."""

import re
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from untilproven.checks.metrics.tools.tree import Tree

Kind = Literal["types", "lint"]


class Counts(msgspec.Struct, frozen=True):
    errors: int
    warnings: int = 0


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """`read` raises Unreadable for anything that is not the whole answer."""

    name: str
    kind: Kind
    program: str
    needs: str = ""
    """A second program, without which the first cannot do it."""
    is_used: Callable[[Tree], bool]
    """By its configuration, or because the project says that it needs it."""
    words: Callable[[Tree], tuple[str, ...]]
    """What follows the program: no cache in the tree, nothing is mended, and the answer in a form for programs."""
    read: Callable[[bytes], Counts]
    answers: frozenset[int]
    """Exit codes of a run that came to its end; any other is a crash."""
    fails_on: Literal["errors", "anything", "nothing"]
    """When it exits with other than 0: an answer that says something else is not believed."""
    on_stderr: bool = False
    """Whether its answer may come there."""


def always(*words: str) -> Callable[[Any], tuple[str, ...]]:
    return lambda _tree: words


def has(pattern: str, text: str | None) -> bool:
    return text is not None and re.search(pattern, text, re.MULTILINE) is not None
