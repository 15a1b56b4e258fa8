"""Recorded results and data of tests that were changed, although nothing was that they are results of."""

import re
from collections import Counter
from collections.abc import Iterator

from untilproven.guard.comparison import Comparison, Pair
from untilproven.guard.finding import Signal
from untilproven.guard.languages import grammar_of

_SNAPSHOT = re.compile(
    r".*\.(?:snap|ambr|golden|approved\.\w+|verified\.\w+)|(?:.*/)?__(?:image_)?snapshots__/.*|.*[._-](?:expected|golden)\.[^/]*"
)
_OF_TESTS = re.compile(r"(?:.*/)?(?:snapshots?|golden(?:s|_files|files)?|expected(?:[-_]?outputs?)?|baselines?)/.*")
"""Directories that hold recorded results if they belong to tests."""
_KEYS = re.compile(r".*\.(?:key|pem|crt|cer|csr|srl|p12|jks|keystore|der|pub|asc)")
"""They run out and are made anew; no result is written in them."""
_PROSE = re.compile(
    r".*\.(?:md|rst|txt|adoc|markdown)|(?:.*/)?(?:LICENSE|CHANGELOG|AUTHORS|CODEOWNERS|\.gitignore)[^/]*|docs?/.*"
)


def data(comparison: Comparison) -> Iterator[Signal]:
    explained = []
    if any(_is_reason(pair) for pair in comparison.pairs):
        explained.append("source-changed")
    if any(pair.is_test and grammar_of(pair.path) for pair in comparison.pairs):
        explained.append("tests-changed")
    for pair in comparison.pairs:
        name = _name(pair)
        if name is None or (name == "fixture-changed" and "source-changed" in explained):
            continue
        said = [*explained, "tool-output"] if pair.path.endswith((".stderr", ".stdout")) else explained
        if changed := _changed(pair):
            yield Signal(name, pair.path, 1, pair.path, amount=changed, explained=tuple(said))


def _name(pair: Pair) -> str | None:
    """None for what is neither recorded nor data, or is written by hand like source."""
    if grammar_of(pair.path) or _KEYS.fullmatch(pair.path):
        return None
    if _SNAPSHOT.fullmatch(pair.path) or (pair.is_test and _OF_TESTS.fullmatch(pair.path)):
        return "snapshot-rewritten"
    return "fixture-changed" if pair.is_test and not pair.path.endswith((".md", ".rst")) else None


def _is_reason(pair: Pair) -> bool:
    """Whether results may differ because of it."""
    if pair.kind in {"mixed", "dependencies"}:
        return True
    return pair.kind == "source" and not _PROSE.fullmatch(pair.path) and not _SNAPSHOT.fullmatch(pair.path)


def _changed(pair: Pair) -> int:
    """Lines that are no longer there; of what is no text, one."""
    if pair.before is None or pair.after is None or pair.before.content == pair.after.content:
        return 0
    if b"\0" in pair.before.content[:8192]:
        return 1
    was, now = (Counter(line.strip() for line in one.content.splitlines()) for one in (pair.before, pair.after))
    return (was - now).total()
