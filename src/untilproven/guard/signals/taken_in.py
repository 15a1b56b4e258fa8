"""A new file that others load by now: it is no file that nothing has to do with."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from untilproven.guard.comparison import Comparison, Pair

_LOADS = re.compile(
    r"(?i)(?:^|[\s\"'])-p[ =]?|-javaagent|plugin|setup|teardown"
    r"|require|import|extend|reporter|runner|environment|listener|rule\b"
)
_SERVICES = "/META-INF/services/"
"""Whose files name what Java loads by itself."""
_OF_DIRECTORIES = frozenset({"index", "__init__", "mod"})
_ASSERTS_NOTHING = " asserts nothing"
_BY_HERITAGE = re.compile(r"\w+: \w+")
"""What a class of Java is to a test run, which it may be for good or ill."""


def said_for_new(pair: Pair, comparison: Comparison, hook: str) -> tuple[str, ...]:
    """Why a hook in a new file weighs less. What settings name is loaded as if it stood in them."""
    loading = {other.kind for other in _loading(pair, comparison)}
    if not loading:
        return ("new-file",)
    if hook.endswith(_ASSERTS_NOTHING):
        return ()
    is_told = not loading.isdisjoint({"configuration", "mixed"}) and not _BY_HERITAGE.fullmatch(hook)
    return () if is_told else ("taken-in",)


def said_for_exit(pair: Pair, comparison: Comparison) -> tuple[str, ...]:
    return ("taken-in",) if any(_loading(pair, comparison)) else ("new-file",)


def _loading(pair: Pair, comparison: Comparison) -> Iterator[Pair]:
    """Files of tests and of settings that load it, and did not before."""
    named = re.compile(rf"(?<![\w-]){re.escape(_name(pair.path))}(?![\w-])")
    for other in comparison.pairs:
        if other is pair or other.after is None or other.kind not in {"test", "configuration", "mixed"}:
            continue
        is_service = _SERVICES in f"/{other.path}"
        if (other.before is None and not is_service) or (other.before and named.search(other.before.text)):
            continue
        if any(named.search(line) and (is_service or _LOADS.search(line)) for line in other.after.text.splitlines()):
            yield other


def _name(path: str) -> str:
    """By which others know it."""
    file = PurePosixPath(path)
    stem = file.name.partition(".")[0]
    return file.parent.name if stem in _OF_DIRECTORIES and file.parent.name else stem
