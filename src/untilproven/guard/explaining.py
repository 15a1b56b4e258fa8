"""What may be said for a change that looks bad. It makes a finding weigh less; it never takes it away."""

import re
from collections import Counter
from functools import lru_cache
from pathlib import PurePosixPath

from untilproven.guard.adapting import Adapted
from untilproven.guard.comparison import Comparison, Side
from untilproven.guard.facts import Assertion
from untilproven.guard.lines import tokens_changed
from untilproven.guard.moving import Elsewhere, besides_assertions, gives_otherwise
from untilproven.guard.names import NAME, names_in, parts_of
from untilproven.guard.pairing import Became, Placed, Tests
from untilproven.guard.source import WARNS, Source
from untilproven.guard.successors import Successors
from untilproven.guard.tokens import all_tokens, rest_of, telling, tokens_of
from untilproven.guard.values import edit, fragments

_OF_TESTS = re.compile(r"(?i)^tests?[-_]?|[-_.]?(?:tests?|spec)$")
_VERSION = re.compile(r"[A-Za-z_]{2}\d")
_NEGATED = re.compile(r"^(?:not\b|!)|^\(|\)$")
_SHORTEST = 4
_SHORTEST_PIECE = 5
_SHARE = 0.5
_A_FEW = 5
_FEWEST_OF_A_MESSAGE = 3


class Explanations:
    """Of what became of tests."""

    def __init__(self, comparison: Comparison, tests: Tests) -> None:
        self._source, self._successors = Source(comparison), Successors(tests)
        self.elsewhere, self._adapted = Elsewhere(tests), Adapted(tests)

    @property
    def source_differs(self) -> bool:
        return self._source.differs

    def of_removed(self, test: Placed) -> tuple[str, ...]:
        found = []
        names = test.words | _called_like(test)
        if names & self._source.gone or _OF_TESTS.sub("", PurePosixPath(test.path).stem) in self._source.gone:
            found.append("symbol-removed")
        elif test.words & (self._source.words_gone | self._source.undefined) or self._is_about_less(test):
            found.append("source-removed")
        is_about_changed = self._is_about_changed(test)
        own = telling(names_in(test.text)) - _common(test.side) - {test.short}
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
        if any(name in test.text for name in self._source.data_gone):
            return ["data-removed"]
        if self._adapted.is_ported(test):
            return ["ported"]
        return ["adapted"] if self._adapted.is_adapted(test, self._source.parts_touched) else []

    def of_condition(self, reason: str) -> tuple[str, ...]:
        """Of one under which a test is skipped: the source was made to ask the same, or for the same version."""
        condition, *_ = reason.split(": ")
        names = NAME.findall(condition)
        versions = {name for name in names if _VERSION.search(name)}
        asked = _NEGATED.sub("", condition).strip()
        went, came = self._source.texts
        is_asked = any(len(name) >= _SHORTEST for name in names) and asked in came and asked not in went
        return ("source-asks-too",) if is_asked or versions & self._source.tokens[1] else ()

    def of_changed(self, test: Placed) -> tuple[str, ...]:
        """Its subject was changed, too: it names something of the source that differs, or is named after it."""
        found = ["source-changed"] if self._is_about_changed(test) else []
        return (*found, *(["dependencies-changed"] if self._source.requirements_changed else []))

    def of_cases(self, one: Became, gone: list[str]) -> tuple[str, ...]:
        """Of cases that a test runs with no longer: others do, or what went from it with them went from the source."""
        found = list(self.of_changed(one.before))
        if (one.before.words - one.after.words) & (self._source.words_gone | self._source.gone):
            found.append("backed")
        return (*found, "moved") if self.elsewhere.has_cases(one, gone) else tuple(found)

    def of_lost(self, one: Became, was: str, gone: list[Assertion]) -> tuple[str, ...]:
        """Of one of the assertions that went. That the subject of its test was changed says little for it: it must name
        something on the lines that differ, and few tests beside it do; or it calls what is defined no longer; or a call
        of what differs went from the test with it."""
        found = self.of_changed(one.before)
        rest = rest_of(one.before.text, was) - rest_of(one.after.text, "")
        named = telling(tokens_of(was)) - _common(one.before.side)
        is_quiet = WARNS.search(was) is not None and any(map(WARNS.search, self._source.tokens[0]))
        fewer = Counter(all_tokens(one.before.text)) - Counter(all_tokens(one.after.text))
        beside = frozenset(fewer - Counter(word for each in gone for word in all_tokens(each.text)))
        is_named = is_quiet or named & (self._source.tokens[0] | rest) or tokens_of(was) & self._source.undefined
        is_named = is_named or beside & self._source.functions_touched
        return (*found, "backed") if "source-changed" in found and is_named else found

    def of_emptied(self, one: Became) -> tuple[str, ...]:
        """It asked for warnings about something that it names no longer, and that went from the source with them."""
        asked = [assertion.text for assertion in one.before.test.assertions]
        dropped = (one.before.words - one.after.words).difference(*map(NAME.findall, asked))
        is_gone = bool(dropped & (self._source.dwindled | self._source.words_gone)) and self._source.warns_less
        return ("quiet",) if is_gone and all(map(WARNS.search, asked)) else ()

    def of_expected(self, one: Became, old: Assertion, new: Assertion) -> tuple[str, ...]:
        """Of a value that is another: something else is given as well, or the value can be seen on lines of the source
        that differ, or what the assertion calls differs. That the subject of its test does says little."""
        was, now = old.expected or "", new.expected or ""
        found = list(self.of_changed(one.before))
        lost, come = tokens_of(was) - tokens_of(now), tokens_of(now) - tokens_of(was)
        before, after = rest_of(one.before.text, was), rest_of(one.after.text, now)
        beside = tokens_changed(one.after.pair) if one.after.pair.is_test else (frozenset[str](), frozenset[str]())
        is_given = one.after.words & self._source.data_touched or telling(lost) & beside[0] or telling(come) & beside[1]
        is_sign = _is_given_more(one, fragments(was, now)[1])
        if come & (after - before) or lost & (before - after) or is_given or is_sign or gives_otherwise(one, old.about):
            found.append("input-changed")
        if self.source_differs and one.before.short != one.after.short:
            found.append("retitled")
        seen = come & self._source.tokens[1] | lost & self._source.tokens[0]
        fewer, more = self._source.exchanged
        is_exchanged = bool(seen) and bool(come & more or not come) and bool(lost & fewer or not lost)
        is_message = "dependencies-changed" in found and len(tokens_of(was)) >= _FEWEST_OF_A_MESSAGE
        is_seen = telling(seen) or self._is_written(was, now)
        if is_message or is_seen or ("source-changed" in found and (is_exchanged or self._may_be(one, old, new))):
            found.append("backed")
        return tuple(found)

    def _is_written(self, was: str, now: str) -> bool:
        """A piece that is other, or the name that the value is given to in it, stands on lines that differ."""
        if telling(frozenset({edit(was, now).key})) & self._source.tokens_lower:
            return True
        pieces = zip(fragments(was, now), self._source.texts, strict=True)
        return any(len(piece) >= _SHORTEST_PIECE and not piece.isalnum() and piece in text for piece, text in pieces)

    def _may_be(self, one: Became, old: Assertion, new: Assertion) -> bool:
        """No word of the value is another, or the test gives it by itself; or what it asks calls what differs, unless
        the test still gives the value that it expected."""
        was, now = tokens_of(old.expected or ""), tokens_of(new.expected or "")
        after = rest_of(one.after.text, new.expected or "")
        lost, come = was - now, now - was
        given = (new.expected or "").strip("\"'`")
        if come and come <= after:
            return come == telling(come) or (len(given) >= _SHORTEST and one.after.text.count(given) > 1)
        called = self._source.functions_touched & frozenset(NAME.findall(old.about)) - _common(one.before.side)
        return not (lost or come) or (bool(called) and not (lost and come and lost <= after))

    def _is_about_changed(self, test: Placed) -> bool:
        """It names something that differs, and that few tests beside it name; or it is named after it."""
        about = parts_of(f"{test.name} {PurePosixPath(test.path).stem}")
        words = test.words & (self._source.touched | self._source.gone)
        common = _common(test.side) if words else frozenset()
        return bool(words - common or about & (self._source.parts_touched | self._source.gone))

    def _is_about_less(self, test: Placed) -> bool:
        """It names something, or is named after a function, that lines of the source went of and hardly any came."""
        words = test.words & self._source.dwindled
        if words - _common(test.side):
            return True
        if words and self._source.warns_less and any(WARNS.search(asked.text) for asked in test.test.assertions):
            return True
        return bool(parts_of(test.name) & (self._source.dwindled | self._source.shrunk))


def _called_like(test: Placed) -> frozenset[str]:
    """Its own name, if it calls something by it."""
    return frozenset({test.short} if test.text.count(f"{test.short}(") > 1 else ())


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
    return frozenset(word for word, times in Counter(NAME.findall(side.text)).items() if times > most)
