"""Recorded results and data of tests that were changed, although nothing was that they are results of."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from untilproven.guard.comparison import Comparison, Pair
from untilproven.guard.finding import Signal
from untilproven.guard.kinds import is_prose
from untilproven.guard.languages import grammar_of

_SNAPSHOT = re.compile(
    r".*\.(?:snap|ambr|golden|approved\.\w+|verified\.\w+)|(?:.*/)?__(?:image_)?snapshots__/.*|.*[._-](?:expected|golden)\.[^/]*"
)
_OF_TESTS = re.compile(r"(?:.*/)?(?:snapshots?|golden(?:s|_files|files)?|expected(?:[-_]?outputs?)?|baselines?)/.*")
"""Directories that hold recorded results if they belong to tests."""
_DATA = re.compile(
    r".*\.(?:json[lc5]?|ya?ml|toml|csv|tsv|xml|html?|txt|ini|sql|bin|dat|stderr|stdout|out|in|svg|png|jpe?g|gif|pdf|test)"
    r"|(?:.*/)?(?:test[-_]?data|(?:__)?fixtures?(?:__)?|resources|data|samples?|cassettes)/[^.].*"
)
"""Of what belongs to tests; scripts and settings beside them are none."""
_KEYS = re.compile(r".*\.(?:key|pem|crt|cer|csr|srl|p12|jks|keystore|der|pub|asc)")
"""They run out and are made anew; no result is written in them."""
_OF_DATA = re.compile(r"(?:^|(?<=/))(?:test[-_]?data|(?:__)?fixtures?(?:__)?|data|samples?|cassettes)/.*")
_TOLD = re.compile(rb"\d+(?:\.\d+)+|[A-Za-z_]\w{3,}")
"""Versions, and words that say something."""
_YEAR = re.compile(rb"(?i)(copyright\W{0,8}(?:\(c\)|\xc2\xa9)?\W{0,3})\d{4}(?:\s*-\s*\d{4})?")
_LOW = re.compile(rb"[a-z]{4,}")
_NUMBER = re.compile(rb"\d")
_OF_ANY = frozenset({"test", "tests", "data", "testdata", "fixture", "fixtures", "resources", "main", "index", "json"})
_A_SUITE = 20
"""So many files of data are not changed by hand."""
_MUCH_MORE = 2


def data(comparison: Comparison) -> Iterator[Signal]:
    explained = []
    reasons = [pair for pair in comparison.pairs if _is_reason(pair)]
    if reasons:
        explained.append("source-changed")
    tests = [pair for pair in comparison.pairs if pair.is_test and grammar_of(pair.path)]
    told = frozenset[bytes]().union(*(_told(pair) for pair in comparison.pairs if grammar_of(pair.path)))
    if sum(_name(pair) is not None for pair in comparison.pairs) >= _A_SUITE:
        explained.append("suite-updated")
    for pair in comparison.pairs:
        name = _name(pair)
        if name is None or (name == "fixture-changed" and any(_is_of(pair, reason) for reason in reasons)):
            continue
        gone, come = _changed(pair)
        if gone:
            said = [*explained, *_said_for(pair, gone, come)]
            if _told(pair) & told:
                said.append("told")
            if any(name == "snapshot-rewritten" or _is_of(pair, test) for test in tests):
                said.append("tests-changed")
            elif any(_is_near(test, pair) for test in tests):
                said.append("tests-near")
            if _words(PurePosixPath(pair.path).name) & _required_otherwise(comparison):
                said.append("tool-updated")
            yield Signal(name, pair.path, 1, pair.path, amount=gone, explained=tuple(said))


def _name(pair: Pair) -> str | None:
    """None for what is neither recorded nor data, or is written by hand like source."""
    if grammar_of(pair.path) or _KEYS.fullmatch(pair.path):
        return None
    if _SNAPSHOT.fullmatch(pair.path) or (pair.is_test and _OF_TESTS.fullmatch(pair.path)):
        return "snapshot-rewritten"
    is_data = pair.is_test and _DATA.fullmatch(pair.path) and not pair.path.endswith((".md", ".rst"))
    return "fixture-changed" if is_data else None


def _said_for(pair: Pair, gone: int, come: int) -> Iterator[str]:
    if pair.path.endswith((".stderr", ".stdout")):
        yield "tool-output"
    if come > _MUCH_MORE * gone:
        yield "grown"


@lru_cache(maxsize=64)
def _told(pair: Pair) -> frozenset[bytes]:
    """Words that it has more often than it had."""
    was, now = (Counter(one.content.splitlines()) if one else Counter[bytes]() for one in (pair.before, pair.after))
    went, come = (Counter(_TOLD.findall(b"\n".join(lines.elements()))) for lines in (was - now, now - was))
    return frozenset(come - went)


def _is_reason(pair: Pair) -> bool:
    """Whether results may differ because of it."""
    if pair.kind in {"mixed", "dependencies"}:
        return True
    return pair.kind == "source" and not is_prose(pair.path) and not _SNAPSHOT.fullmatch(pair.path)


def _is_of(fixture: Pair, source: Pair) -> bool:
    """Whether data is that of a source or a test: they are named alike, or it names the data. That both lie in
    directories of the same name says nothing: so does everything in a package."""
    if _names(source, fixture):
        return True
    data, code = PurePosixPath(fixture.path), PurePosixPath(source.path)
    named, of = _own_words(data), _own_words(code)
    return bool(named & (of | _words(code.parent.name)) or of & _words(data.parent.name))


def _own_words(path: PurePosixPath) -> frozenset[str]:
    """Of a file's name, without those of the directories that it lies in; one that is named like it is its own."""
    around = path.parent.parent if path.parent.name == path.stem else path.parent
    return _words(path.name) - _words(str(around))


def _names(code: Pair, fixture: Pair) -> bool:
    return PurePosixPath(fixture.path).name in (code.after.text if code.after else "")


def _is_near(test: Pair, fixture: Pair) -> bool:
    """Whether a test lies where the directory of the data does, or below."""
    base = PurePosixPath(_OF_DATA.sub("", f"{PurePosixPath(fixture.path).parent}/"))
    lies_at = PurePosixPath(test.path).parent
    return lies_at == base or (base.parts != () and base in lies_at.parents)


def _required_otherwise(comparison: Comparison) -> frozenset[str]:
    """Words of lines with a number in them, by which the project needs another version of something."""
    found: set[str] = set()
    for pair in comparison.of_kind("mixed", "dependencies"):
        was, now = (Counter(one.content.splitlines()) if one else Counter[bytes]() for one in (pair.before, pair.after))
        lines = {*(was - now), *(now - was)}
        found |= {word.decode() for line in lines if _NUMBER.search(line) for word in _LOW.findall(line.lower())}
    return frozenset(found)


def _words(path: str) -> frozenset[str]:
    """That files are named with; of short ones the whole stem."""
    return frozenset({PurePosixPath(path).stem, *re.findall(r"[a-z]{4,}", path.lower())}) - _OF_ANY


def _changed(pair: Pair) -> tuple[int, int]:
    """How many lines are no longer there, and how many are new; of what is no text, one each. The year of a copyright
    says nothing."""
    if pair.before is None or pair.after is None or pair.before.content == pair.after.content:
        return 0, 0
    if b"\0" in pair.before.content[:8192]:
        return 1, 1
    contents = (_YEAR.sub(rb"\1", one.content) for one in (pair.before, pair.after))
    was, now = (Counter(line.strip() for line in content.splitlines()) for content in contents)
    return (was - now).total(), (now - was).total()
