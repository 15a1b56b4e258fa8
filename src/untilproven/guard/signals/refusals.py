"""What may be said for a condition that a function refuses no longer, and for an error that it no longer raises."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from untilproven.guard.comparison import Comparison
from untilproven.guard.languages import grammar_of
from untilproven.guard.lines import lines_of
from untilproven.guard.pairing import Placed, Tests, functions_of, placed
from untilproven.guard.signals.openly import is_told_to_tests, is_wanted
from untilproven.guard.signals.rewriting import is_rewritten, is_touched, names_gone, words_gone
from untilproven.guard.signals.vanishing import is_about_gone, seen_in_function
from untilproven.guard.source import WARNS
from untilproven.guard.tokens import telling

_NAME = re.compile(r"[A-Za-z_]\w+")
_OF_CONDITIONS = frozenset(
    {"self", "this", "not", "and", "or", "is", "in", "None", "null", "nil", "len", "true", "false"}
)
_HALF = 0.5
_SHORTEST = 4
_SEVERAL = 2
_REFUSAL = re.compile(r"(?:\)?\s*[:{]|\))\s*(?:(?:#|//).*\s*)*((?:raise|throw|return|panic!?)\b.*)")
"""What stands right behind a condition, remarks apart."""
_OF_TYPES = re.compile(r"isinstance\(.*\)|[\w.]+ in [(\[{](?:(?:True|False|None)(?:, )?)+[)\]}]")
_TEXT = re.compile(r"\"[^\"]*\"|'[^']*'")
_ONE_OF = re.compile(r"\bLiteral\[|[\"']\s*\|\s*[\"']")
"""A type that has only so many values."""
_NOTHING = re.compile(r"\b(?:None|null|nil|undefined|is_none|is_some|isPresent|isEmpty)\b")
_IMPOSSIBLE = frozenset({"AssertionError", "InternalError", "unreachable!"})
"""What is raised where the code is not meant to come to: it refuses nobody."""
_BY_HAND = frozenset({"go", "rust"})
"""Where an error that nobody hands on is lost."""
_HEAD = re.compile(r"[^{]*?(?:\{|:\s*$|$)", re.MULTILINE)
"""What is said of a function before its body."""


class Refusals:
    """What the functions of both trees have, to find what was only moved."""

    def __init__(self, comparison: Comparison, tests: Tests) -> None:
        self.comparison, self._tests = comparison, tests
        self.functions = functions_of(comparison)

    @cached_property
    def then_there(self) -> str:
        return _everything(self.comparison, "before")

    @cached_property
    def now_there(self) -> str:
        return _everything(self.comparison, "after")

    @cached_property
    def _names_gone(self) -> frozenset[str]:
        """Of functions that are no longer there, and words that several lines of the source had."""
        return names_gone(self.comparison) | words_gone(self.comparison)

    @cached_property
    def _guards_come(self) -> list[frozenset[str]]:
        """The words of conditions under which something refuses that did not."""
        return [
            frozenset(_NAME.findall(guard)) for before, after in self.functions for guard in _guards_come(before, after)
        ]

    @cached_property
    def _guards_come_to_tests(self) -> list[frozenset[str]]:
        """The same of what only tests use, which is nothing to the product."""
        pairs = ((before, after) for before, after in self.functions if after.pair.is_test)
        come = (gone(after.function.guards, before.function.guards if before else ()) for before, after in pairs)
        return [frozenset(_NAME.findall(guard)) for guards in come for guard in guards]

    @cached_property
    def _told_by_tests(self) -> frozenset[str]:
        """Words of tests that were there and had to be changed, or went."""
        changed = [one for one in self._tests.kept if one.differs]
        tests = [*self._tests.removed, *(one.before for one in changed), *(one.after for one in changed)]
        return frozenset[str]().union(*(one.words for one in tests))

    @cached_property
    def _heads_changed(self) -> frozenset[str]:
        """Functions that take or give something else than they did."""
        pairs = ((before, after) for before, after in self.functions if before)
        return frozenset(after.short for before, after in pairs if _head(before) != _head(after))

    def are_wanted_by_tests(self, errors: tuple[str, ...], function: Placed) -> bool:
        """Tests that name the function expect now that it raises one of these."""
        return any(is_wanted(error, function, self._tests) for error in errors)

    def said_for(self, guards: list[str], before: Placed, after: Placed) -> Iterator[str]:
        found = [*self._of_guards(guards, before, after)]
        yield from found or self._of_the_rest(guards, before, after)
        if all(_is_without_subject(guard, before, after) for guard in guards):
            yield "without-subject"
        elif all(self._can_not_be(guard, before) for guard in guards):
            yield "cannot-be"

    def _of_guards(self, guards: list[str], before: Placed, after: Placed) -> Iterator[str]:
        touched = is_touched(before, after)
        if is_rewritten(before, after):
            yield "rewritten"
        elif touched:
            yield "reworked"
        raised = gone(before.function.raises, after.function.raises)
        if touched and before.function.raises and not raised:
            yield "still-raises"
        come = self._guards_come_to_tests if after.pair.is_test else self._guards_come
        are_asked = all(_is_among(guard, come) or _is_a_type_now(guard, before, after) for guard in guards)
        if are_asked or (raised and self._are_raised_instead(raised, before, after)):
            yield "moved"
        of_lines = self._of_untouched if not touched else _of_turned
        yield from of_lines(guards, before, after)
        if all(_is_asked_beside(guard, after) for guard in guards):
            yield "asked-beside"
        if all(self._names_gone & {*_NAME.findall(guard)} for guard in guards):
            yield "symbol-removed"
            if self._guards_come:
                yield "written-out"
        elif all(is_about_gone(guard, self.then_there, self.now_there) for guard in guards):
            yield "symbol-removed"
        yield from seen_in_function(guards, before, after, touched=touched)

    def _of_untouched(self, guards: list[str], before: Placed, after: Placed) -> Iterator[str]:
        """Where hardly anything else was done to the function."""
        is_twice = all(guard in after.function.guards for guard in guards)
        if is_twice or all(_is_refused_still(one, before, after) or _is_for_types(one, before) for one in guards):
            yield "needless"
        if is_told_to_tests(before, after, self.comparison):
            yield "told"

    def _of_the_rest(self, guards: list[str], before: Placed, after: Placed) -> Iterator[str]:
        """Where nothing is said for the conditions themselves: what stood before them went as well, or tests that name
        them had to be changed. It never adds up with anything else."""
        names = telling(frozenset({after.short, *(name for guard in guards for name in _names(guard))}))
        if _went_before(guards, before, after) >= _SEVERAL:
            yield "cut-out"
        elif {name for name in names if len(name) >= _SHORTEST} & self._told_by_tests:
            yield "tests-changed"

    def said_for_raises(self, raised: list[str], before: Placed, after: Placed) -> Iterator[str]:
        was, now = before.function, after.function
        if is_rewritten(before, after):
            yield "rewritten"
        if len(now.raises) + len(_guards_come(before, after)) >= len(was.raises):
            yield "replaced"
        are_fewer = len(was.handlers) - len(now.handlers) >= len(raised)
        if are_fewer and not any(one.is_silent for one in now.handlers) and grammar_of(after.path) not in _BY_HAND:
            yield "passed-on"
        are_there = all(self.now_there.count(error) >= self.then_there.count(error) for error in set(raised))
        if are_there or self._are_raised_instead(raised, before, after):
            yield "moved"
        if _warns_instead(before, after) and {*filter(WARNS.search, self._told_by_tests)}:
            yield "warned-of"
        if _IMPOSSIBLE.issuperset(raised) and not was.handlers:
            yield "internal"

    def _are_raised_instead(self, errors: list[str], before: Placed, after: Placed) -> bool:
        """By functions that this one names, or the private ones behind them, or those of a type that its file did not
        name: the same, or as many others; or by one that it calls only now."""
        come = Counter[str]()
        named_now = {*_NAME.findall(after.side.text)} - {*_NAME.findall(before.side.text)}
        for was, one in self.functions:
            around = re.split(r"::|\.", one.name.partition("(")[0])[:-1]
            if one is not after and ({one.short, one.short.lstrip("_")} & after.words or named_now & {*around}):
                come += Counter(one.function.raises) - Counter(was.function.raises if was else ())
        if set(errors) <= set(come) or come.total() >= len(errors):
            return True
        called = after.words - before.words
        others = (one for _, now in placed(self.comparison) for one in now if one.short in called)
        return any(set(errors) <= set(one.function.raises) for one in others if not one.declaration.is_test)

    def _can_not_be(self, guard: str, before: Placed) -> bool:
        """It was asked whether there is something, and what gives it is declared otherwise now."""
        if not _NOTHING.search(guard):
            return False
        given = (re.search(rf"\b{re.escape(name)}\b[^=\n]*=([^=\n].*)", before.text) for name in _names(guard))
        return any(found and {*_NAME.findall(found[1])} & self._heads_changed for found in given)


def gone(was: tuple[str, ...], now: tuple[str, ...]) -> list[str]:
    return list((Counter(was) - Counter(now)).elements())


def _names(guard: str) -> list[str]:
    return [name for name in _NAME.findall(_TEXT.sub("", guard)) if name not in _OF_CONDITIONS]


def _guards_come(before: Placed | None, after: Placed) -> list[str]:
    return [] if after.pair.is_test else gone(after.function.guards, before.function.guards if before else ())


def _head(one: Placed) -> str:
    found = _HEAD.match(one.text)
    return "".join((found[0] if found else "").split())


def _place(guard: str, text: str) -> re.Match[str] | None:
    return re.search(r"\s+".join(map(re.escape, guard.split())), text)


def _is_refused_still(guard: str, before: Placed, after: Placed) -> bool:
    """The line by which it refused is there as often as it was, whatever is asked before it now."""
    found = _place(guard, before.text)
    refusal = _REFUSAL.match(before.text, found.end()) if found else None
    if refusal is None:
        return False
    was, now = ([line.strip() for line in side.text.splitlines()].count(refusal[1].strip()) for side in (before, after))
    return 0 < was <= now


def _of_turned(guards: list[str], before: Placed, after: Placed) -> Iterator[str]:
    if all(_is_turned(guard, before, after) for guard in guards):
        yield "needless"


def _is_turned(guard: str, before: Placed, after: Placed) -> bool:
    """It does the same on the same lines, and what it does first is what it did last: it asks for the opposite."""
    was, now = ([line.strip() for line in one.text.splitlines() if _NAME.search(line)] for one in (before, after))
    asked = [at for at, line in enumerate(was) if _asks(guard, line)]
    turned = [at for at, line in enumerate(now) if any(_asks(other, line) for other in _opposites(guard))]
    if not asked or len(asked) != len(turned) or was[asked[0] + 1 : asked[0] + 2] == now[turned[0] + 1 : turned[0] + 2]:
        return False
    lost, come = Counter(was) - Counter(now), Counter(now) - Counter(was)
    return {*lost} == {was[at] for at in asked} and {*come} == {now[at] for at in turned}


def _asks(guard: str, line: str) -> bool:
    return re.match(rf"(?:\W*else\s+)?(?:el)?if\s*\(?\s*{re.escape(guard)}\s*\)?\s*[:{{]", line) is not None


def _opposites(guard: str) -> Iterator[str]:
    bare = re.sub(r"^(?:!|not\s+)\(?|(?<=.)\)$" if re.match(r"(?:!|not\s+)\(", guard) else r"^(?:!|not\s+)", "", guard)
    yield from (bare,) if bare != guard else (f"!{guard}", f"!({guard})", f"not {guard}")
    for one, other in ((" === ", " !== "), (" == ", " != "), (" is not ", " is "), (" is ", " is not ")):
        if one in guard:
            yield guard.replace(one, other, 1)
        elif other in guard:
            yield guard.replace(other, one, 1)


def _is_asked_beside(guard: str, after: Placed) -> bool:
    """Word for word, elsewhere in its file; what asks about one name is asked everywhere."""
    elsewhere = after.side.text.replace(after.text, "")
    return len({*_names(guard)}) > 1 and "".join(guard.split()) in "".join(elsewhere.split())


def _is_for_types(guard: str, before: Placed) -> bool:
    """It was asserted of what type something is, which is said to those who check types, too."""
    return _OF_TYPES.fullmatch(guard) is not None and f"assert {guard}" in " ".join(before.text.split())


def _is_a_type_now(guard: str, before: Placed, after: Placed) -> bool:
    """It asked for one of several texts, which the function is now declared to take."""
    texts = [text[1:-1] for text in _TEXT.findall(guard)]
    came = "\n".join(lines_of(after.text) - lines_of(before.text))
    return len(texts) >= _SEVERAL and all(text in came for text in texts) and _ONE_OF.search(came) is not None


def _is_among(guard: str, others: list[frozenset[str]]) -> bool:
    """Another one asks mostly about the same names."""
    names = frozenset(_NAME.findall(guard)) - _OF_CONDITIONS
    return any(len(names & other) > _HALF * len(names) for other in others)


def _is_without_subject(guard: str, before: Placed, after: Placed) -> bool:
    """What it asks about was made and used on several lines, and is not even named any more."""
    names = {name for name in _names(guard) if re.search(rf"\b{re.escape(name)}\b\s*(?::=|=[^=])", before.text)}
    if not names or names & after.words:
        return False
    lines = [line for line in lines_of(before.text) if names & {*_NAME.findall(line)}]
    return sum("".join(guard.split()) not in "".join(line.split()) for line in lines) > _SEVERAL


def _went_before(guards: list[str], before: Placed, after: Placed) -> int:
    """How many lines went that stood before the conditions."""
    places = [found.start() for guard in guards if (found := _place(guard, before.text))]
    if not places:
        return 0
    above = before.text[: before.text.rfind("\n", 0, min(places)) + 1]
    went = lines_of(above) - lines_of(after.text)
    return sum(times for line, times in went.items() if _NAME.search(line))


def _warns_instead(before: Placed, after: Placed) -> bool:
    was, now = (len(WARNS.findall("\n".join(lines_of(side.text)))) for side in (before, after))
    return now > was


def _everything(comparison: Comparison, when: Literal["before", "after"]) -> str:
    """All the source of one side, without white space, to find what was only moved."""
    sides = (getattr(pair, when) for pair in comparison.of_kind("source", "script"))
    return "".join("".join(side.text.split()) for side in sides if side is not None)
