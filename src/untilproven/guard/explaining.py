"""What may be said for a change that looks bad. It makes a finding weigh less; it never takes it away."""

import re
from collections import Counter
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from untilproven.guard.adapting import Adapted
from untilproven.guard.besides import besides_assertions
from untilproven.guard.comparison import Comparison, Side
from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.handing_on import is_asked_behind, is_asked_by_new, is_generalized, of_any_values
from untilproven.guard.lines import tokens_changed
from untilproven.guard.moving import Elsewhere, are_written_out, gives_otherwise
from untilproven.guard.names import EVERYWHERE, NAME, WORD, names_in, parts_of
from untilproven.guard.pairing import Became, Placed, Tests
from untilproven.guard.rows import Rows
from untilproven.guard.source import WARNS, Source
from untilproven.guard.successors import Successors
from untilproven.guard.tokens import all_tokens, rest_of, telling, tokens_of
from untilproven.guard.values import edit, fragments, is_exchanged_within, is_reordered

_OF_TESTS = re.compile(r"(?i)^tests?[-_]?|[-_.]?(?:tests?|spec)$")
_VERSION = re.compile(r"[A-Za-z_]{2}\d")
_NEGATED = re.compile(r"^(?:not\b|!)|^\(|\)$")
_CALLED_BACK = re.compile(r"_?(?:done|cb|callback|next|end|finish)(?:\(\w*\))?")
_AWAITED = re.compile(r"\bawait\b|\bnew Promise\b")
_ARGUMENT = re.compile(r"(?<=[(,\s])([A-Za-z_]\w*)\s?=(?!=)")
_SHORTEST = 4
_SHORTEST_PIECE = 5
_AROUND = " ,;:.\"'`"
"""Signs that stand between values and say nothing of them."""
_SHARE = 0.5
_A_FEW = 5
_FEWEST_OF_A_MESSAGE = 3


class Explanations:
    """Of what became of tests."""

    def __init__(self, comparison: Comparison, tests: Tests) -> None:
        self._comparison, self._tests = comparison, tests
        self._source, self._successors = Source(comparison), Successors(tests)
        self.elsewhere, self._adapted = Elsewhere(tests), Adapted(tests)

    @cached_property
    def _of_any_values(self) -> list[Placed]:
        return of_any_values(self._tests.added)

    @property
    def source_differs(self) -> bool:
        return self._source.differs

    @property
    def requirements_changed(self) -> bool:
        return self._source.requirements_changed

    def of_removed(self, test: Placed) -> tuple[str, ...]:
        found = []
        if self._is_without_subject(test):
            found.append("symbol-removed")
        elif self._is_about_gone(test) or self._is_about_what_went(test):
            found.append("source-removed")
            found += ["quiet"] if self._source.warns_nowhere_new and _wants_warnings(test) else []
        is_about_changed = self.is_about_changed(test)
        own = telling(names_in(test.text)) - _common(test.side) - {test.short}
        found += self._successors.of(test, own, is_about_changed=is_about_changed)
        return tuple(found or self._of_those_beside(test))

    def is_about_changed(self, test: Placed) -> bool:
        """It names something that differs, and that few tests beside it name; or it is named after it."""
        about = parts_of(f"{test.name} {PurePosixPath(test.path).stem}")
        words = test.words & (self._source.touched | self._source.gone)
        common = _common(test.side) if words else frozenset()
        return bool(words - common or about & (self._source.parts_touched | self._source.gone))

    def is_about_rewritten(self, test: Placed) -> bool:
        """The same of code that was there before: a new file of its name says nothing of the old one."""
        about = parts_of(f"{test.name} {PurePosixPath(test.path).stem}")
        words = test.words & self._source.rewritten
        parts = {part for name in self._source.rewritten for part in parts_of(name)}
        return bool((words and words - _common(test.side)) or about & parts)

    def _is_without_subject(self, test: Placed) -> bool:
        names = {*test.words, *_called_like(test), _OF_TESTS.sub("", PurePosixPath(test.path).stem)}
        if names & self._source.gone:
            return True
        if test.pair.after is None and _OF_TESTS.sub("", PurePosixPath(test.path).stem) in self._source.modules_gone:
            return True
        return any(re.search(rf"\b{re.escape(name)}\b", test.text) for name in self._source.undefined_there)

    def are_ported(self, one: Became, lost: list[Assertion], come: list[Assertion]) -> bool:
        """Of assertions that are asked nowhere: like those of several tests beside it they were asked of something that
        the file knows no longer."""
        return self._adapted.is_ported(one.before) and self.elsewhere.are_about_another(one, lost, come)

    def _of_those_beside(self, test: Placed) -> list[str]:
        """Where nothing is said for the test itself."""
        if self._successors.are_others_moved(test):
            return ["reordered"]
        if self._successors.is_mostly_asked_beside(test):
            return ["asked-of-others"]
        if any(name in test.text for name in self._source.data_gone):
            return ["data-removed"]
        if self._source.are_of_gone(test.side, test.words if test.pair.after else test.side.names):
            return ["dependency-removed"]
        if self._adapted.is_ported(test):
            return ["ported"]
        if frozenset(map(str.lower, NAME.findall(test.path))) & self._source.required:
            return ["required-otherwise"]
        if is_generalized(test, self._of_any_values):
            return ["generalized"]
        if self._adapted.is_adapted(test, self._source.parts_touched):
            return ["adapted"]
        return ["reworked"] if self._adapted.is_reworked(test) else []

    def of_condition(self, reason: str) -> tuple[str, ...]:
        """Of one under which a test is skipped: the source was made to ask the same, or for the same version."""
        condition, *_ = reason.split(": ")
        names = NAME.findall(condition)
        versions = {name for name in names if _VERSION.search(name)}
        asked = _NEGATED.sub("", condition).strip()
        went, came = self._source.texts
        is_asked = any(len(name) >= _SHORTEST for name in names) and asked in came and asked not in went
        return ("source-asks-too",) if is_asked or versions & self._source.tokens[1] else ()

    def of_skipped(self, test: Placed) -> tuple[str, ...]:
        """Its subject was changed, and a new test of nearly its name asks about it."""
        return ("renewed",) if self.is_about_changed(test) and self._successors.renewed(test) else ()

    def of_changed(self, test: Placed) -> tuple[str, ...]:
        """Its subject was changed, too: it names something of the source that differs, or is named after it."""
        found = ["source-changed"] if self.is_about_changed(test) else []
        return (*found, *(["dependencies-changed"] if self._source.requirements_changed else []))

    def of_cases(self, one: Became, gone: list[str]) -> tuple[str, ...]:
        """Of cases that a test runs with no longer: others do, or what went from it with them went from the source, or
        it had something of its own to ask of each, which went, too."""
        found = list(self.of_changed(one.before))
        rows, dropped = Rows(one, gone), one.before.words - one.after.words
        missing = rows.missing()
        named = dropped.intersection(NAME.findall(" ".join(missing)))
        had_own = all(one.before.text.count(case) > 1 and case not in one.after.text for case in gone)
        if had_own or dropped & (self._source.words_gone | self._source.gone) or named & self._source.undefined:
            found.append("backed")
        if are_written_out(one, gone) or self.elsewhere.has_cases(one, missing):
            found.append("moved")
        elif rows.are_mostly_there(missing, self.elsewhere.cases_of_others(one)):
            found.append("reshaped")
        return tuple(found)

    def of_lost(self, one: Became, was: Assertion, gone: list[Assertion], come: list[Assertion]) -> tuple[str, ...]:
        """Of one of the assertions that went. That the subject of its test was changed says little for it: it must name
        something on the lines that differ, and few tests beside it do; or it calls what is defined no longer; or a call
        of what differs, or of what the project depends on no longer, went from the test with it; or what failed has a
        value now."""
        found = self.of_changed(one.before)
        if self._source.are_of_gone(one.before.side, one.before.words - one.after.words):
            found = (*found, "dependency-removed")
        rest = rest_of(one.before.text, was.text) - rest_of(one.after.text, "")
        said = f"{was.text} {was.about}"
        named = telling(tokens_of(said)) - _common(one.before.side) - (_given_as(said) & self._source.only_told)
        is_quiet = WARNS.search(said) is not None and any(map(WARNS.search, self._source.tokens[0]))
        fewer = Counter(all_tokens(one.before.text)) - Counter(all_tokens(one.after.text))
        beside = frozenset(fewer - Counter(word for each in gone for word in all_tokens(each.text)))
        is_named = bool(named & (self._source.tokens[0] | rest) or tokens_of(said) & self._source.undefined)
        is_named = is_named or bool(beside & self._source.functions_touched) or _has_a_value_now(was, come)
        if was.error is not None:  # what raises it stands beside it
            is_named = is_named or bool((telling(beside) - _common(one.before.side)) & self._source.tokens[0])
        if "source-changed" in found and (is_named or is_quiet):
            return (*found, "backed")
        differ = self._source.tokens[0] | self._source.tokens[1]
        return (*found, "named") if telling(tokens_of(said)) & differ else found

    def are_undefined(self, gone: list[Assertion]) -> bool:
        """Each calls what is defined no longer, or not for what it was called with."""
        return all(tokens_of(old.text) & self._source.undefined for old in gone)

    def of_emptied(self, one: Became) -> tuple[str, ...]:
        """It asked for warnings about something that it names no longer, and that went from the source with them; or it
        asked only to be called back, and now waits; or something new asks it."""
        asked = [assertion.text for assertion in one.before.test.assertions]
        dropped = (one.before.words - one.after.words).difference(*map(NAME.findall, asked))
        is_gone = bool(dropped & (self._source.dwindled | self._source.words_gone)) and self._source.warns_less
        if is_gone and all(map(WARNS.search, asked)):
            return ("quiet",)
        was, now = (len(_AWAITED.findall(side.text)) for side in (one.before, one.after))
        if now > was and all(map(_CALLED_BACK.fullmatch, asked)):
            return ("awaited",)
        if is_asked_by_new(one, self._comparison):
            return ("moved",)
        return ("asked-behind",) if is_asked_behind(one) else ()

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
        given = telling(_lower(come)) & _lower(after - before)
        if (
            come & (after - before)
            or given
            or lost & (before - after)
            or is_given
            or is_sign
            or gives_otherwise(one, old.about)
        ):
            found.append("input-changed")
        if self.source_differs and one.before.short != one.after.short:
            found.append("retitled")
        seen = come & self._source.tokens[1] | lost & self._source.tokens[0]
        fewer, more = self._source.exchanged
        is_exchanged = bool(seen) and bool(come & more or not come) and bool(lost & fewer or not lost)
        is_message = "dependencies-changed" in found and (
            len(tokens_of(was)) >= _FEWEST_OF_A_MESSAGE or not (lost or come)
        )
        is_seen = telling(seen) or self._is_written(was, now) or self._is_only_spaced_otherwise(was, now)
        is_seen = is_seen or (is_reordered(was, now) and self._source.is_reordered)
        if is_message or is_seen or ("source-changed" in found and (is_exchanged or self._may_be(one, old, new))):
            found.append("backed")
        return tuple(found)

    def _is_only_spaced_otherwise(self, was: str, now: str) -> bool:
        """Where something else differs that may do that: nobody forges white space."""
        differs = self.source_differs or self._source.requirements_changed
        return differs and "".join(was.split()) == "".join(now.split())

    def _is_written(self, was: str, now: str) -> bool:
        """A piece that is other, or the name that the value is given to in it, stands on lines that differ; or a text
        on them is in the one and not in the other."""
        if telling(frozenset({edit(was, now).key})) & self._source.tokens_lower:
            return True
        if is_exchanged_within(was, now, *map(telling, self._source.exchanged)):
            return True
        for value, other, told in zip((was, now), (now, was), self._source.told, strict=True):
            if any(text in value and text not in other for text in told):
                return True
        pieces = [piece.strip(_AROUND) for piece in fragments(was, now)]
        texts = zip(self._source.texts, self._source.built, strict=True)
        long = [(piece, each) for piece, each in zip(pieces, texts, strict=True) if len(piece) >= _SHORTEST_PIECE]
        return any(not piece.isalnum() and any(piece in text for text in each) for piece, each in long)

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

    def _is_about_gone(self, test: Placed) -> bool:
        return bool((test.words | _named_for(test)) & (self._source.words_gone | self._source.undefined))

    def _is_about_what_went(self, test: Placed) -> bool:
        if self._is_about_less(test):
            return True
        is_named_after_file = any(word.lower() in self._source.files_gone for word in NAME.findall(test.name))
        return is_named_after_file or (self._source.is_less and self._expects_what_went(test))

    def _expects_what_went(self, test: Placed) -> bool:
        """A value that it expects is written in the source less often than it was."""
        expected = (assertion.expected for assertion in test.test.assertions if assertion.expected)
        values = frozenset(token for value in expected for token in tokens_of(value))
        return bool(telling(values) & self._source.exchanged[0])

    def _is_about_less(self, test: Placed) -> bool:
        """It names something, or is named after a function, that lines of the source went of and hardly any came."""
        words = test.words & self._source.dwindled
        if words - _common(test.side):
            return True
        if words and self._source.warns_less and any(WARNS.search(asked.text) for asked in test.test.assertions):
            return True
        return bool(parts_of(test.name) & (self._source.dwindled | self._source.shrunk))


def _given_as(said: str) -> frozenset[str]:
    """Names that are only those of arguments: `minutes` of `wait(minutes=3)`."""
    return frozenset(_ARGUMENT.findall(said)) - tokens_of(_ARGUMENT.sub("", said))


def _lower(words: frozenset[str]) -> frozenset[str]:
    return frozenset(map(str.lower, words))


def _has_a_value_now(was: Assertion, come: list[Assertion]) -> bool:
    """It was to fail, and what it gives is compared now."""
    names = frozenset(NAME.findall(was.about)) - EVERYWHERE
    exact = (new for new in come if new.strength is Strength.EXACTLY and not new.error)
    return bool(was.error and names) and any(names <= frozenset(NAME.findall(new.about)) for new in exact)


def _called_like(test: Placed) -> frozenset[str]:
    """Its own name, if it calls something by it."""
    return frozenset({test.short} if test.text.count(f"{test.short}(") > 1 else ())


def _wants_warnings(test: Placed) -> bool:
    """It asks for a warning, as for an error."""
    return any(one.error and WARNS.search(one.error) for one in test.test.assertions)


def _named_for(test: Placed) -> frozenset[str]:
    """What it is called after, if that is made of several words: a name that nobody has by chance."""
    name = _OF_TESTS.sub("", test.short)
    return frozenset({name} if len(WORD.findall(name)) > 1 and name != test.short else ())


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
