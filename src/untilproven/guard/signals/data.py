"""Recorded results and data of tests that were changed, although nothing was that they are results of."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from untilproven.guard.comparison import Comparison, Pair, Side
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
_TOLD = re.compile(rb"\d+(?:\.\d+)+|[A-Za-z_]\w{3,}|[\x80-\xff]{2,}")
"""Versions, words that say something, and signs that hardly anything has."""
_LINK = re.compile(
    rb"(?im)^(\s*(?:\"?(?:#|//)|\"?(?:_?comments?|description|notes?|references?|see)\"?\s*:).*?)https?://[^\s\"'<>]+"
)
"""Where more can be read, in a remark."""
_REMARK = re.compile(rb"(?m)^([^\"'\n]*?)(?:^|[ \t]+)#[ \t].*$")
"""Not where a text may be open."""
_WITH_REMARKS = re.compile(r".*\.(?:ya?ml|toml|ini|cfg)")
"""Data whose lines end where a remark begins."""
_WORDS = re.compile(rb"\w+")
_TEXT = re.compile(rb"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_YEAR = re.compile(rb"(?i)(copyright\W{0,8}(?:\(c\)|\xc2\xa9)?\W{0,3})\d{4}(?:\s*-\s*\d{4})?")
_LOW = re.compile(rb"[a-z]{4,}")
_NUMBER = re.compile(rb"\d")
_OF_ANY = frozenset({"test", "tests", "data", "testdata", "fixture", "fixtures", "resources", "main", "index", "json"})
_A_SUITE = 20
"""So many files of data are not changed by hand."""
_SEVERAL = 3
"""Whoever needs one result to be another changes one."""
_MUCH_MORE = 2
_LONG = 12


class _Change:
    """What was changed with the data."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.reasons = [pair for pair in comparison.pairs if _is_reason(pair)]
        self._tests = [pair for pair in comparison.pairs if pair.is_test and grammar_of(pair.path)]
        self._others = [pair for pair in comparison.pairs if not pair.is_test]
        self.recorded = [pair for pair in comparison.pairs if _name(pair) is not None]

    def of_all(self, *, is_seen: bool) -> Iterator[str]:
        if self.reasons and is_seen:
            yield "source-changed"
        if len(self.recorded) >= _A_SUITE:
            yield "suite-updated"

    def of(self, pair: Pair, name: str, *, is_seen: bool) -> Iterator[str]:
        if _told(pair) & self._told:
            yield "told"
        if any(_is_copied(pair, other) for other in self._others):
            yield "copied"
        if self.reasons and self._beside[PurePosixPath(pair.path).parent] >= _SEVERAL:
            yield "several-updated"
        if any((name == "snapshot-rewritten" and is_seen) or _is_of(pair, test) for test in self._tests):
            yield "tests-changed"
        elif any(_is_near(test, pair) for test in self._tests):
            yield "tests-near"
        if _words(PurePosixPath(pair.path).name) & _required_otherwise(self._comparison):
            yield "tool-updated"

    def is_seen(self, pair: Pair, gone: int, come: int) -> bool:
        """Where one recorded line is another, some of what is other in it stands on lines of the code that differ, or
        nothing does but signs; where more are, nobody looks for it."""
        lost, new = _exchanged(pair)
        if gone > 1 or come > 1 or not (lost or new):
            return True
        return bool(lost & self._words[0] or new & self._words[1])

    @cached_property
    def _words(self) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """On lines of code that went, and on those that came."""
        went, come = set[bytes](), set[bytes]()
        for pair in self._comparison.pairs:
            if grammar_of(pair.path) or pair in self.reasons:
                was, now = _lines(pair.before), _lines(pair.after)
                went.update(_WORDS.findall(b"\n".join((was - now).elements())))
                come.update(_WORDS.findall(b"\n".join((now - was).elements())))
        return frozenset(went), frozenset(come)

    @cached_property
    def _told(self) -> frozenset[bytes]:
        """By code."""
        return frozenset[bytes]().union(*(_told(pair) for pair in self._comparison.pairs if grammar_of(pair.path)))

    @cached_property
    def _beside(self) -> Counter[PurePosixPath]:
        """How many of a directory say something else."""
        return Counter(PurePosixPath(pair.path).parent for pair in self.recorded if any(_changed(pair)))


def data(comparison: Comparison) -> Iterator[Signal]:
    """Most changes have no data in them: what it is compared with is looked for only where there is some."""
    return _of_data(_Change(comparison)) if any(_name(pair) for pair in comparison.pairs) else iter(())


def _of_data(change: _Change) -> Iterator[Signal]:
    for pair in change.recorded:
        name = _name(pair) or ""
        if name == "fixture-changed" and any(_is_of(pair, reason) for reason in change.reasons):
            continue
        gone, come = _changed(pair)
        if gone:
            is_seen = name != "snapshot-rewritten" or change.is_seen(pair, gone, come)
            own = _said_for(pair, gone, come, change.reasons)
            said = (*change.of_all(is_seen=is_seen), *own, *change.of(pair, name, is_seen=is_seen))
            yield Signal(name, pair.path, 1, pair.path, amount=gone, explained=said)


def _name(pair: Pair) -> str | None:
    """None for what is neither recorded nor data, or is written by hand like source."""
    if grammar_of(pair.path) or _KEYS.fullmatch(pair.path):
        return None
    if _SNAPSHOT.fullmatch(pair.path) or (pair.is_test and _OF_TESTS.fullmatch(pair.path)):
        return "snapshot-rewritten"
    is_data = pair.is_test and _DATA.fullmatch(pair.path) and not pair.path.endswith((".md", ".rst"))
    return "fixture-changed" if is_data else None


def _said_for(pair: Pair, gone: int, come: int, reasons: list[Pair]) -> Iterator[str]:
    if any(_is_printed(pair, reason) for reason in reasons):
        yield "printed"
    if pair.path.endswith((".stderr", ".stdout")):
        yield "tool-output"
    if come > _MUCH_MORE * gone:
        yield "grown"


def _is_copied(fixture: Pair, other: Pair) -> bool:
    """Another file, which tests do not own and which was there before, has all lines that are new in it, and none of
    those that went."""
    if other.before is None or other.after is None or fixture.before is None or fixture.after is None:
        return False
    was, now, there = (
        Counter(map(bytes.strip, one.content.splitlines())) for one in (fixture.before, fixture.after, other.after)
    )
    return (now - was) <= there and not (was - now).keys() & (there - now).keys()


def _is_printed(fixture: Pair, source: Pair) -> bool:
    """A line of it that is new is one of the source, too, or words of it stand in texts of the source that differ."""
    if grammar_of(source.path) is None:
        return False
    lines, code = _lines_come(fixture), _lines_come(source)
    said = frozenset(word for line in code for text in _TEXT.findall(line) for word in _TOLD.findall(text))
    return bool(lines & code) or len(said.intersection(*[_TOLD.findall(b"\n".join(lines))])) >= _SEVERAL


@lru_cache(maxsize=64)
def _lines_come(pair: Pair) -> frozenset[bytes]:
    """Long ones, without the signs of a remark before them."""
    was, now = (frozenset(one.content.splitlines()) if one else frozenset[bytes]() for one in (pair.before, pair.after))
    return frozenset(line for each in now - was if len(line := each.lstrip(b" \t/*#").rstrip()) >= _LONG)


@lru_cache(maxsize=64)
def _told(pair: Pair) -> frozenset[bytes]:
    """Words that it has more often than it had."""
    was, now = (Counter(one.content.splitlines()) if one else Counter[bytes]() for one in (pair.before, pair.after))
    went, come = (Counter(_TOLD.findall(b"\n".join(lines.elements()))) for lines in (was - now, now - was))
    return frozenset(come - went)


def _exchanged(pair: Pair) -> tuple[frozenset[bytes], frozenset[bytes]]:
    """Words that it has less often, and those that it has more often."""
    was, now = _lines(pair.before), _lines(pair.after)
    went, come = (Counter(_WORDS.findall(b"\n".join(lines.elements()))) for lines in (was - now, now - was))
    return frozenset(went - come), frozenset(come - went)


def _lines(side: Side | None) -> Counter[bytes]:
    return Counter(side.content.splitlines()) if side else Counter()


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
    """How many lines are no longer there, and how many are new; of what is no text, one each."""
    if pair.before is None or pair.after is None or pair.before.content == pair.after.content:
        return 0, 0
    if b"\0" in pair.before.content[:8192]:
        return 1, 1
    if pair.before.content.split() == pair.after.content.split():
        return 0, 0
    contents = (_said(pair.path, one.content) for one in (pair.before, pair.after))
    was, now = (Counter(line.strip() for line in content.splitlines()) for content in contents)
    return (was - now).total(), (now - was).total()


def _said(path: str, content: bytes) -> bytes:
    """Without what says nothing to a program: remarks, links that a reader may follow, the year of a copyright."""
    content = _LINK.sub(rb"\1", _YEAR.sub(rb"\1", content))
    begins_with_one = "." not in path.rpartition("/")[2] and content.startswith(b"# ")
    return _REMARK.sub(rb"\1", content) if begins_with_one or _WITH_REMARKS.fullmatch(path) else content
