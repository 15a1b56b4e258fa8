"""What may be said for a change that looks bad. It makes a finding weigh less; it never takes it away."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from untilproven.guard.adapting import Adapted
from untilproven.guard.coining import coined
from untilproven.guard.comparison import Comparison, Pair, Side
from untilproven.guard.facts import Assertion
from untilproven.guard.kinds import is_prose
from untilproven.guard.languages import grammar_of
from untilproven.guard.moving import Elsewhere, besides_assertions, gives_otherwise
from untilproven.guard.names import EVERYWHERE as _EVERYWHERE
from untilproven.guard.names import NAME as _NAME
from untilproven.guard.names import WORD as _WORD
from untilproven.guard.names import names_in
from untilproven.guard.pairing import Became, Placed, Tests, functions_of
from untilproven.guard.successors import Successors
from untilproven.guard.values import edit, fragments

_DEFINED = re.compile(
    r"\b(?:class|struct|enum|interface|trait|type|object|def|fn|func|fun|function|const|static|record|macro_rules!)\s+"
    r"(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)|^([A-Z][A-Z\d_]+)\s*="
)
"""A constant is defined by giving it a value."""
_OF_TESTS = re.compile(r"(?i)^tests?[-_]?|[-_.]?(?:tests?|spec)$")
_TOKEN = re.compile(r"\w+")
_VERSION = re.compile(r"[A-Za-z_]{2}\d")
_WARNS = re.compile(r"(?i)deprecat|\bwarns?\b|warnings?\b")
_ESCAPED = re.compile(r"\\[nrtbf]")
_NEGATED = re.compile(r"^(?:not\b|!)|^\(|\)$")
_SHORTEST = 4
_SHORTEST_TOLD = 3
_SHORTEST_PIECE = 5
_SHARE = 0.5
_A_FEW = 5
_HARDLY_ANY = 0.34
_FEWEST_OF_A_MESSAGE = 3
_REMARK = re.compile(r"#(?!\[)|//|/\*|\*(?:\s|/|$)|<!--")
_REMARKING = frozenset({"#", "/", "*", "<"})
"""What a remark begins with: most lines begin otherwise."""
_NO_REQUIREMENT = re.compile(r"\W*(?:version|requires-python|python_requires|edition|rust-version|node)\b|.*::|\D*$")
"""A line that names no version of something else."""


class Explanations:
    """Of what became of tests."""

    def __init__(self, comparison: Comparison, tests: Tests) -> None:
        self._comparison, self._successors = comparison, Successors(tests)
        self.elsewhere, self._adapted = Elsewhere(tests), Adapted(tests)

    def of_removed(self, test: Placed) -> tuple[str, ...]:
        found = []
        names = test.words | _called_like(test)
        if names & self._gone or _OF_TESTS.sub("", PurePosixPath(test.path).stem) in self._gone:
            found.append("symbol-removed")
        elif test.words & (self._words_gone | self._undefined) or self._is_about_less(test):
            found.append("source-removed")
        is_about_changed = self._is_about_changed(test)
        own = _telling(names_in(test.text)) - _common(test.side) - {test.short}
        found += self._successors.of(test, own, is_about_changed=is_about_changed)
        return tuple(found or self._of_those_beside(test))

    def are_ported(self, one: Became, lost: list[Assertion], come: list[Assertion]) -> bool:
        """Of assertions that are asked nowhere: like those of several tests beside it they were asked of something that
        the file knows no longer."""
        return self._adapted.is_ported(one.before) and self.elsewhere.are_about_another(one, lost, come)

    def _of_those_beside(self, test: Placed) -> list[str]:
        """Where nothing is said for the test itself."""
        if self._successors.are_others_moved(test):
            return ["reordered"]
        if any(name in test.text for name in self._data_gone):
            return ["data-removed"]
        if self._adapted.is_ported(test):
            return ["ported"]
        return ["adapted"] if self._adapted.is_adapted(test, self._parts_touched) else []

    def of_condition(self, reason: str) -> tuple[str, ...]:
        """Of one under which a test is skipped: the source was made to ask the same, or for the same version."""
        condition, *_ = reason.split(": ")
        names = _NAME.findall(condition)
        versions = {name for name in names if _VERSION.search(name)}
        asked = _NEGATED.sub("", condition).strip()
        is_asked = (
            any(len(name) >= _SHORTEST for name in names) and asked in self._texts[1] and asked not in self._texts[0]
        )
        return ("source-asks-too",) if is_asked or versions & self._tokens[1] else ()

    def of_changed(self, test: Placed) -> tuple[str, ...]:
        """Its subject was changed, too: it names something of the source that differs, or is named after it."""
        found = ["source-changed"] if self._is_about_changed(test) else []
        return (*found, *(["dependencies-changed"] if self._requirements_changed else []))

    def of_cases(self, one: Became, gone: list[str]) -> tuple[str, ...]:
        """Of cases that a test runs with no longer: others do, or what went from it with them went from the source."""
        found = list(self.of_changed(one.before))
        if (one.before.words - one.after.words) & (self._words_gone | self._gone):
            found.append("backed")
        return (*found, "moved") if self.elsewhere.has_cases(one, gone) else tuple(found)

    def of_lost(self, one: Became, was: str, gone: list[Assertion]) -> tuple[str, ...]:
        """Of one of the assertions that went. That the subject of its test was changed says little for it: it must name
        something on the lines that differ, and few tests beside it do; or it calls what is defined no longer; or a call
        of what differs went from the test with it."""
        found = self.of_changed(one.before)
        rest = _rest(one.before.text, was) - _rest(one.after.text, "")
        named = _telling(_tokens(was)) - _common(one.before.side)
        is_quiet = _WARNS.search(was) is not None and any(map(_WARNS.search, self._tokens[0]))
        fewer = Counter(_words_of(one.before.text)) - Counter(_words_of(one.after.text))
        beside = frozenset(fewer - Counter(word for each in gone for word in _words_of(each.text)))
        is_named = is_quiet or named & (self._tokens[0] | rest) or _tokens(was) & self._undefined
        is_named = is_named or beside & self._functions_touched
        return (*found, "backed") if "source-changed" in found and is_named else found

    def of_emptied(self, one: Became) -> tuple[str, ...]:
        """It asked for warnings about something that it names no longer, and that went from the source with them."""
        asked = [assertion.text for assertion in one.before.test.assertions]
        dropped = (one.before.words - one.after.words).difference(*map(_NAME.findall, asked))
        is_gone = bool(dropped & (self._dwindled | self._words_gone)) and self._warns_less
        return ("quiet",) if is_gone and all(map(_WARNS.search, asked)) else ()

    def of_expected(self, one: Became, old: Assertion, new: Assertion) -> tuple[str, ...]:
        """Of a value that is another: something else is given as well, or the value can be seen on lines of the source
        that differ, or what the assertion calls differs. That the subject of its test does says little."""
        was, now = old.expected or "", new.expected or ""
        found = list(self.of_changed(one.before))
        lost, come = _tokens(was) - _tokens(now), _tokens(now) - _tokens(was)
        before, after = _rest(one.before.text, was), _rest(one.after.text, now)
        beside = _tokens_changed(one.after.pair) if one.after.pair.is_test else (frozenset[str](), frozenset[str]())
        is_given = one.after.words & self._data_touched or _telling(lost) & beside[0] or _telling(come) & beside[1]
        is_sign = _is_given_more(one, fragments(was, now)[1])
        if come & (after - before) or lost & (before - after) or is_given or is_sign or gives_otherwise(one, old.about):
            found.append("input-changed")
        if self.source_differs and one.before.short != one.after.short:
            found.append("retitled")
        seen = come & self._tokens[1] | lost & self._tokens[0]
        fewer, more = self._exchanged
        is_exchanged = bool(seen) and bool(come & more or not come) and bool(lost & fewer or not lost)
        is_message = "dependencies-changed" in found and len(_tokens(was)) >= _FEWEST_OF_A_MESSAGE
        is_seen = _telling(seen) or self._is_written(was, now)
        if is_message or is_seen or ("source-changed" in found and (is_exchanged or self._may_be(one, old, new))):
            found.append("backed")
        return tuple(found)

    def _is_written(self, was: str, now: str) -> bool:
        """A piece that is other, or the name that the value is given to in it, stands on lines that differ."""
        if _telling(frozenset({edit(was, now).key})) & self._tokens_lower:
            return True
        pieces = zip(fragments(was, now), self._texts, strict=True)
        return any(len(piece) >= _SHORTEST_PIECE and not piece.isalnum() and piece in text for piece, text in pieces)

    def _may_be(self, one: Became, old: Assertion, new: Assertion) -> bool:
        """No word of the value is another, or the test gives it by itself; or what it asks calls what differs, unless
        the test still gives the value that it expected."""
        was, now = _tokens(old.expected or ""), _tokens(new.expected or "")
        after = _rest(one.after.text, new.expected or "")
        lost, come = was - now, now - was
        given = (new.expected or "").strip("\"'`")
        if come and come <= after:
            return come == _telling(come) or (len(given) >= _SHORTEST and one.after.text.count(given) > 1)
        called = self._functions_touched & frozenset(_NAME.findall(old.about)) - _common(one.before.side)
        return not (lost or come) or (bool(called) and not (lost and come and lost <= after))

    @cached_property
    def _tokens(self) -> tuple[frozenset[str], frozenset[str]]:
        """Of lines of the source that went, and of those that came."""
        changed = [_tokens_changed(pair) for pair in self._source]
        was, now = (frozenset(token for each in changed for token in each[side]) for side in (0, 1))
        return was, now

    @cached_property
    def _exchanged(self) -> tuple[frozenset[str], frozenset[str]]:
        """Words that the source has less often than it had, and those that it has more often."""
        was, now = (Counter(_words_of(text)) for text in self._texts)
        return frozenset(was - now), frozenset(now - was)

    @cached_property
    def _tokens_lower(self) -> frozenset[str]:
        return frozenset(token.lower() for side in self._tokens for token in side)

    @cached_property
    def _texts(self) -> tuple[str, str]:
        """Lines of the source that went, and those that came."""
        lines = [_lines_changed(pair) for pair in self._source]
        return "\n".join(line for one in lines for line in one.went.elements()), "\n".join(
            line for one in lines for line in one.came.elements()
        )

    @property
    def source_differs(self) -> bool:
        return bool(self._source)

    def _is_about_changed(self, test: Placed) -> bool:
        """It names something that differs, and that few tests beside it name; or it is named after it."""
        about = _parts(f"{test.name} {PurePosixPath(test.path).stem}")
        words = test.words & (self._touched | self._gone)
        common = _common(test.side) if words else frozenset()
        return bool(words - common or about & (self._parts_touched | self._gone))

    @cached_property
    def _gone(self) -> frozenset[str]:
        """Names that were defined in the source, and are not even mentioned any more where something differs."""
        went = (line for pair in self._source for line in _lines_changed(pair).went)
        return self._unmentioned(self._undefined | (frozenset(coined(went)) - _EVERYWHERE))

    @cached_property
    def _undefined(self) -> frozenset[str]:
        """Names that were defined in the source more often than they are now, where something differs."""
        was, now = Counter[str](), Counter[str]()
        for pair in self._source:
            went, came = _lines_changed(pair)
            was.update(_defined(went, pair.before))
            now.update(_defined(came, pair.after))
        files = {PurePosixPath(pair.path).stem for pair in self._source if pair.after is None}
        return frozenset(name for name in {*(was - now), *files} if len(name) >= _SHORTEST) - _EVERYWHERE

    def _unmentioned(self, names: frozenset[str]) -> frozenset[str]:
        """Those that stand nowhere in what differs; what is removed is told to readers, and is gone all the same."""
        for pair in self._comparison.pairs:
            if pair.after and not is_prose(pair.path) and any(name in pair.after.text for name in names):
                names -= pair.after.names
        return names

    @cached_property
    def _words_gone(self) -> frozenset[str]:
        """Words of lines of the source that went, and that no file has any more that differs."""
        was = {name for pair in self._source for line in _lines_changed(pair).went for name in _NAME.findall(line)}
        return self._unmentioned(frozenset(name for name in was - _EVERYWHERE if len(name) >= _SHORTEST))

    def _is_about_less(self, test: Placed) -> bool:
        """It names something, or is named after a function, that lines of the source went of and hardly any came."""
        words = test.words & self._dwindled
        if words - _common(test.side):
            return True
        if words and self._warns_less and any(_WARNS.search(asked.text) for asked in test.test.assertions):
            return True
        return bool(_parts(test.name) & (self._dwindled | self._shrunk))

    @cached_property
    def _warns_less(self) -> bool:
        """Somewhere the source warns no longer."""
        return any(_WARNS.search(line) for pair in self._source for line in _lines_changed(pair).went)

    @cached_property
    def _dwindled(self) -> frozenset[str]:
        """Names on several lines of the source that went, and on few that came."""
        was, now = Counter[str](), Counter[str]()
        for pair in self._source:
            went, came = _lines_changed(pair)
            was.update(name for line in went.elements() for name in {*_NAME.findall(line)})
            now.update(name for line in came.elements() for name in {*_NAME.findall(line)})
        names = (name for name, times in was.items() if _is_mostly_gone(times, now[name]))
        return frozenset(name for name in names if len(name) >= _SHORTEST) - _EVERYWHERE

    @cached_property
    def _shrunk(self) -> frozenset[str]:
        """Functions of the source that lost lines, and got hardly any."""
        source = {pair.path for pair in self._source}
        found = set()
        for before, after in functions_of(self._comparison):
            if before and after.pair.path in source:
                was, now = _lines_of(before.text), _lines_of(after.text)
                if _is_mostly_gone((was - now).total(), (now - was).total()):
                    found.add(_called(after))
        return frozenset(name for name in found if len(name) >= _SHORTEST) - _EVERYWHERE

    @cached_property
    def _touched(self) -> frozenset[str]:
        """Files and functions of the source that differ or are new, and names on lines of it that differ."""
        named = {name for text in self._named for name in _NAME.findall(text)}
        names = {name for pair in self._source for name in _names_changed(pair)}
        return frozenset(name for name in named | names if len(name) >= _SHORTEST) - _EVERYWHERE

    @cached_property
    def _named(self) -> list[str]:
        """Files of the source that differ, and functions in them that do."""
        source = {pair.path for pair in self._source}
        functions = (one.name for _, one in functions_of(self._comparison) if one.pair.path in source)
        return [*functions, *(PurePosixPath(path).stem for path in source)]

    @cached_property
    def _data_gone(self) -> list[str]:
        """Files that are no code and are gone, by their names: tests were given what was in them."""
        gone = (pair.path for pair in self._comparison.of_kind("test") if pair.after is None)
        names = (PurePosixPath(path).name for path in gone if grammar_of(path) is None)
        return [name for name in names if len(name) > _SHORTEST]

    @cached_property
    def _data_touched(self) -> frozenset[str]:
        """Files that are no code and differ, by their names: tests give what is in them."""
        pairs = (pair for pair in self._comparison.of_kind("test", "source") if grammar_of(pair.path) is None)
        stems = (PurePosixPath(pair.path).stem for pair in pairs if pair.is_test or not is_prose(pair.path))
        return frozenset(stem for stem in stems if len(stem) >= _SHORTEST_TOLD) - _EVERYWHERE

    @cached_property
    def _functions_touched(self) -> frozenset[str]:
        """Functions of the source that differ, by the last part of their names."""
        source = {pair.path for pair in self._source}
        differ = (_called(one) for _, one in functions_of(self._comparison) if one.pair.path in source)
        return frozenset(differ) - _EVERYWHERE

    @cached_property
    def _parts_touched(self) -> frozenset[str]:
        """The same, and the words that these names are made of."""
        parts = {part for name in self._named for part in _parts(name)}
        return self._touched | frozenset(part for part in parts if len(part) >= _SHORTEST) - _EVERYWHERE

    @cached_property
    def _source(self) -> list[Pair]:
        """Where something differs that somebody wrote and that is no test: some languages have tests beside it."""
        unread = {one.path for one in self._comparison.not_analysed if grammar_of(one.path)}
        pairs = (pair for pair in self._comparison.of_kind("source") if not is_prose(pair.path))
        return [pair for pair in pairs if pair.path not in unread and any(_lines_changed(pair))]

    @cached_property
    def _requirements_changed(self) -> bool:
        """Whether the project depends on another version of something."""
        for pair in self._comparison.of_kind("mixed"):
            went, came = _lines_changed(pair)
            if any(not _NO_REQUIREMENT.match(line) for line in (*went, *came)):
                return True
        return False


def _called_like(test: Placed) -> frozenset[str]:
    """Its own name, if it calls something by it."""
    return frozenset({test.short} if test.text.count(f"{test.short}(") > 1 else ())


def _called(function: Placed) -> str:
    """Its name, as it is called: one of several of a name has its parameters behind it."""
    return re.split(r"::|\.", function.name.partition("(")[0])[-1]


def _is_given_more(one: Became, piece: str) -> bool:
    """A sign that is new in a value is also new in what the test gives; words and numbers are looked for elsewhere."""
    if not piece or piece.isalnum():
        return False
    was, now = (besides_assertions(side).count(piece) for side in (one.before, one.after))
    return now > was


@lru_cache(maxsize=16)
def _common(side: Side) -> frozenset[str]:
    """Words that most tests of a file have: they do not say what one of them is about."""
    tests = sum(one.is_test for one in side.facts.declarations)
    most = max(_SHARE * tests, _A_FEW)
    return frozenset(word for word, times in Counter(_NAME.findall(side.text)).items() if times > most)


def _names_changed(pair: Pair) -> frozenset[str]:
    """Names on lines that came or went."""
    went, came = _lines_changed(pair)
    return frozenset(name for line in (*went, *came) for name in _NAME.findall(line))


@lru_cache(maxsize=64)
def _tokens_changed(pair: Pair) -> tuple[frozenset[str], frozenset[str]]:
    """Of lines that went, and of those that came, tests apart."""
    went, came = _lines_changed(pair)
    return _tokens("\n".join(went)), _tokens("\n".join(came))


class _Lines(NamedTuple):
    went: Counter[str]
    came: Counter[str]


@lru_cache(maxsize=64)
def _lines_changed(pair: Pair) -> _Lines:
    was, now = _lines(pair.before), _lines(pair.after)
    return _Lines(_more(was, now), _more(now, was))


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
    found = Counter(map(str.strip, lines))
    return Counter(
        {line: times for line, times in found.items() if line[:1] not in _REMARKING or not _REMARK.match(line)}
    )


def _lines_of(text: str) -> Counter[str]:
    return Counter(line for line in map(str.strip, text.splitlines()) if line and not _REMARK.match(line))


def _is_mostly_gone(went: int, came: int) -> bool:
    return went > 1 and came <= _HARDLY_ANY * went


def _tokens(text: str) -> frozenset[str]:
    return frozenset(_words_of(text))


def _telling(tokens: frozenset[str]) -> frozenset[str]:
    """Those that do not stand everywhere."""
    return frozenset(one for one in tokens if len(one) >= _SHORTEST_TOLD) - _EVERYWHERE


def _rest(text: str, part: str) -> frozenset[str]:
    """The words of a text besides those of a part of it."""
    return frozenset(Counter(_words_of(text)) - Counter(_words_of(part)))


def _words_of(text: str) -> list[str]:
    """Without the letters by which a sign is written that has none."""
    return _TOKEN.findall(_ESCAPED.sub(" ", text))


def _parts(name: str) -> frozenset[str]:
    """A name, and the words that it is made of."""
    return frozenset({*_NAME.findall(name), *(word.lower() for word in _WORD.findall(name))})


def _defined(lines: Counter[str], side: Side | None) -> Iterator[str]:
    """What is written on lines with a word for it, and functions of languages that have none."""
    yield from (name or constant for line in lines.elements() for name, constant in _DEFINED.findall(line))
    declared = (one for one in side.facts.declarations if not one.is_test) if side else ()
    yield from (re.split(r"::|\.", one.name)[-1] for one in declared)
