"""What a test that was there before asks less of the code than it did."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath

from untilproven.guard.claims import ask_the_same, claim, strong, without
from untilproven.guard.explaining import Explanations
from untilproven.guard.facts import Assertion, Strength, Test
from untilproven.guard.finding import Signal
from untilproven.guard.handing import is_handed_over
from untilproven.guard.looping import is_looped
from untilproven.guard.meaning import mean_the_same, meaning
from untilproven.guard.moving import is_asked_as_a_whole
from untilproven.guard.pairing import Became, Placed, Tests, signal_of
from untilproven.guard.rows import is_written_out
from untilproven.guard.signals.conditional import conditional
from untilproven.guard.signals.instead import asked_instead, for_weaker
from untilproven.guard.signals.limits import WRITTEN_OUT, is_narrow, is_no_longer_loose, is_rounding, is_stricter
from untilproven.guard.signals.new_tests import of_new_test
from untilproven.guard.values import with_likes

_BREADTH = {"RuntimeException": 1, "Exception": 2, "Error": 2, "Throwable": 3, "BaseException": 3, "": 4}
"""Of errors that others are kinds of."""
_TWICE = re.compile(r"(\w[\w.:]*\(.*\)).*\1")
"""The same call at two places."""
_CALL = re.compile(r"([A-Za-z_][\w.:]*)\(.*\)", re.DOTALL)
_TEXT = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`")
_NAMES = re.compile(r"[A-Za-z_]\w*")
_CONSTANTS = frozenset({"True", "False", "None", "true", "false", "null", "nil", "undefined", "NaN"})
_QUALIFIER = re.compile(r"\b(?:[a-z]\w*(?:\.|::))+(?=[A-Z])")
_OF_THE_MACHINE = "globalThis."
"""What a program finds where it runs, and does not bring along: replaced, it is not what is tested."""
_OF_TESTS = re.compile(r"(?i)^tests?[-_]?|[-_.]?(?:tests?|spec)$")
_SORTS = re.compile(r"(?i)\bsort(?:ed|_\w+)?\b(?=\s*\()|\.sort\w*\(")
_IN_ANY_ORDER = re.compile(
    r"ElementsMatch|ConsistOf|assertCountEqual|[iI]n_?[aA]ny_?[oO]rder|containsExactlyElementsIn|\bmembers\("
    r"|assert(?:Same|Unordered)Elements|unordered"
)
_MUCH_MORE = 3
_A_FEW = 3
"""If more assertions than that are others, those at the same place need not be about the same."""
_SAYS_NOT = re.compile(r"!=|[nN]ot|refute")


def assertions(tests: Tests, explanations: Explanations) -> Iterator[Signal]:
    changed = [one for one in tests.kept if one.how != "hidden" and one.differs]
    found = [signal for one in changed for signal in weaker(one, explanations)]
    yield from with_likes(found) if found and explanations.source_differs else found
    for one in changed:
        yield from conditional(one)
    for added in tests.added:
        yield from of_new_test(added)


def weaker(one: Became, explanations: Explanations) -> Iterator[Signal]:
    was, now = one.before.test, one.after.test
    asked, left = strong(was.assertions), strong(now.assertions)
    gone, come = without(asked, left), without(left, asked)
    explained = explanations.of_changed(one.before) if gone else ()
    if now.unreached > was.unreached and without([*was.assertions], [*now.assertions]):
        yield signal_of("assertion-unreached", one, amount=now.unreached - was.unreached)
    pairs = list(_pairs(gone, come))
    if asked and not left:
        said = (*explained, *explanations.of_emptied(one))
        yield signal_of("test-emptied", one, was=asked[0].text, explained=said, amount=len(asked))
    elif gone and _times(left, now) < _times(asked, was):
        paired = {id(each) for pair in pairs for each in pair}
        lost = [old for old in gone if id(old) not in paired and not _is_of_itself(old)]
        others = sum(id(new) not in paired for new in come)
        if len(lost) > others:
            yield _fewer(one, explanations, lost, come, others)
    trivial, known = _trivial(now.assertions), _trivial(was.assertions)
    if len(trivial) > len(known) and (trivial := without(trivial, known)):
        name = "assertion-circular" if _is_circular(trivial[0]) else "assertion-trivial"
        beside = ("beside-others",) if not gone else ()
        yield signal_of(name, one, now=trivial[0].text, amount=len(trivial), explained=beside)
    if gone and come and not pairs and _strongest(left) is Strength.SOMETHING < _strongest(asked):
        old = max(gone, key=lambda each: each.strength)
        yield signal_of("assertion-weakened", one, was=old.text, now=come[0].text, explained=explained)
    more = ("asks-more",) if len(come) > _MUCH_MORE * len(gone) else ()
    for old, new in pairs:
        said = explanations.of_expected(one, old, new) if new.expected else explained
        said = (*said, "computed") if _is_computed(old, new) else said
        said = (*said, *asked_instead(one, old, new, come, pairs, more if "source-changed" not in explained else None))
        yield from _compared(one, old, new, said)
    yield from _mocked(one)


def _fewer(
    one: Became, explanations: Explanations, gone: list[Assertion], come: list[Assertion], others: int
) -> Signal:
    """`gone` have no counterpart in the test, and so many others have come."""
    said = max((explanations.of_lost(one, old, gone, come) for old in gone), key=len)
    said = (*said, "undefined") if explanations.are_undefined(gone) else said
    lost = explanations.elsewhere.lost(one, gone, come)
    if len(lost) <= others or is_looped(one, gone, come):
        said, lost = (*said, "moved"), gone
    elif (is_written_out(one) and come) or ("source-changed" not in said and explanations.are_ported(one, lost, come)):
        said = (*said, "ported")
    elif "source-changed" not in said and explanations.elsewhere.are_split(one, lost):
        said = (*said, "split")
    elif explanations.elsewhere.are_asked_of_others(one, lost):
        said = (*said, "asked-of-others")
    return signal_of("assertion-removed", one, was=lost[0].text, explained=said, amount=len(lost) - others)


def _is_of_itself(old: Assertion) -> bool:
    """It compares a thing with itself, and not to say that the two differ."""
    return old.about == old.expected and not _SAYS_NOT.search(old.text)


def _compared(one: Became, old: Assertion, new: Assertion, explained: tuple[str, ...]) -> Iterator[Signal]:
    """The same thing asked differently."""
    is_kept = ask_the_same(old, new) or is_stricter(old, new) or is_asked_as_a_whole(old, new, one)
    if is_kept or _is_asked_as_strictly(one, old, new):
        return
    signal = partial(signal_of, one=one, was=old.text, now=new.text, explained=explained)
    if new.tolerance is not None and new.tolerance > (old.tolerance or 0):
        said = (*explained, "narrow") if is_narrow(old, new) else explained
        yield signal("tolerance-widened", amount=new.tolerance / (old.tolerance or new.tolerance), explained=said)
    elif old.error is not None and new.error is not None and _is_broader(old.error, new.error):
        yield signal("exception-broadened")
    elif new.strength < old.strength or _was_there(one, new):
        said = (*explained, *for_weaker(one, old, new, explained))
        yield signal("assertion-weakened", amount=old.strength - new.strength, explained=said)
    elif _says_less_of_it(old, new) or _is_compared_with_itself(old, new):
        yield signal("assertion-weakened")
    elif old.expected is not None and new.expected is not None and not _are_one_value(old.expected, new.expected):
        if old.about != new.expected or new.about != old.expected:
            if (
                WRITTEN_OUT.match(old.expected)
                and WRITTEN_OUT.match(new.expected)
                and _compare_one_thing(one, old, new)
            ):
                yield signal("message-changed" if old.error is not None else "expected-changed")
        elif old.strength is not Strength.EXACTLY:
            yield signal("operands-swapped")


def _was_there(one: Became, new: Assertion) -> bool:
    """It only says that it is reached, and stood in the test before, where it counted for nothing beside the rest."""
    is_reached = new.strength is Strength.SOMETHING and new.about == new.text and new.expected is None
    return is_reached and "".join(new.text.split()) in "".join(one.before.text.split())


def _is_compared_with_itself(old: Assertion, new: Assertion) -> bool:
    """A value that was written out is now what the same function says of something else."""
    called = _CALL.match(new.about)
    if called is None or not old.expected or not new.expected or not WRITTEN_OUT.match(old.expected):
        return False
    asked, now = _CALL.match(old.about), _CALL.fullmatch(new.expected)
    return asked is not None and now is not None and asked[1] == called[1] == now[1]


def _are_one_value(was: str, now: str) -> bool:
    """Be it that one names where its types come from."""
    return mean_the_same(was, now) or was in _unqualified(now) or now in _unqualified(was)


def _unqualified(text: str) -> tuple[str, ...]:
    bare = _QUALIFIER.sub("", text)
    return (bare,) if bare != text else ()


def _compare_one_thing(one: Became, old: Assertion, new: Assertion) -> bool:
    """Unless what was asked about is gone from the test; and what was only there was compared with nothing."""
    was, now = (_NAMES.findall(each.about) for each in (old, new))
    is_there = old.about == new.about or bool({*was} & {*now}) or {*was[:1]} <= one.after.words
    return is_there and not (Strength.SOMETHING is old.strength < new.strength)


def _is_asked_as_strictly(one: Became, old: Assertion, new: Assertion) -> bool:
    if _is_sorted_no_longer(one, new) or is_rounding(old, new) or is_handed_over(old, new, one.after):
        return True
    return is_no_longer_loose(old, new, one.before.side.text, one.after.side.text)


def _is_sorted_no_longer(one: Became, new: Assertion) -> bool:
    """What was put in order first, to be compared, is now compared in any order."""
    was, now = (len(_SORTS.findall(each.text)) for each in (one.before, one.after))
    return now < was and _IN_ANY_ORDER.search(new.text) is not None


def _is_computed(old: Assertion, new: Assertion) -> bool:
    """The value is put together from names that it was not put together from, or not as often; or what is written out
    in it is the same, and only names differ."""
    was, now = (Counter(_NAMES.findall(_TEXT.sub("", one.expected or ""))) for one in (old, new))
    texts, others = (_TEXT.findall(one.expected or "") for one in (old, new))
    return bool((now - was).keys() - _CONSTANTS) or (was != now and texts == others != [])


def _is_broader(old: str, new: str) -> bool:
    return _BREADTH.get(new, 0) > _BREADTH.get(old, 0)


def _says_less_of_it(old: Assertion, new: Assertion) -> bool:
    """Of an error: what it tells is asked for no longer. One that was compared as a whole is asked for all the same."""
    if old.error is None or new.error is None or old.expected is None or new.expected is not None:
        return False
    if old.expected == old.error == new.error:
        return False
    return meaning(old.expected).strip("\0") != ""


def _mocked(one: Became) -> Iterator[Signal]:
    """What the test asks about, or calls by itself, is replaced by it: nobody has to replace what only a test calls."""
    for target in _new_ones(one.before.test.mocks, one.after.test.mocks):
        is_called = all(_is_called(target, side.text) for side in (one.before, one.after))
        if not target.startswith(_OF_THE_MACHINE) and (is_called or _is_asked_about(one.before, target)):
            yield signal_of("unit-mocked", one, now=target)
        elif "." in target:
            yield signal_of("mock-added", one, now=target)


def _is_asked_about(test: Placed, target: str) -> bool:
    """Its assertions call it, or the file is named for it."""
    *_, name = _path(target)
    asked = " ".join(assertion.about for assertion in test.test.assertions)
    named_for = _OF_TESTS.sub("", PurePosixPath(test.path).stem)
    return bool(name) and (_is_called(target, asked) or name.lower() == named_for.lower())


def _is_called(target: str, text: str) -> bool:
    """By its own name, or as its owner's; a method of a class is called on any name."""
    *owners, name = map(re.escape, _path(target))
    if not name:
        return False
    called = rf"(?<![\w.$]){name}(?:\.\w+)*\s*\("
    if owners and "/" not in target:
        owner = r"[\w$)\]]" if owners[-1][:1].isupper() else rf"(?<![\w$]){owners[-1]}"
        called = rf"(?<![\w.$]){name}\s*\(|{owner}\.{name}\s*\("
    return re.search(called, text) is not None


def _path(target: str) -> list[str]:
    return target.replace("::", ".").strip("'\"").split(".")


def _is_circular(assertion: Assertion) -> bool:
    """It compares what the code says with what the code says."""
    return _TWICE.search(assertion.text) is not None


def _strongest(asked: list[Assertion]) -> Strength:
    return max((one.strength for one in asked), default=Strength.NOTHING)


def _times(asked: list[Assertion], test: Test) -> int:
    """How often something is asked."""
    return len(asked) * max(len(test.cases), 1)


def _trivial(all_of: tuple[Assertion, ...]) -> list[Assertion]:
    return [one for one in all_of if one.strength is Strength.NOTHING]


def _pairs(gone: list[Assertion], come: list[Assertion]) -> Iterator[tuple[Assertion, Assertion]]:
    """By what they ask; by what they compare, in either order; by what they are about; then by order, if as many."""
    free = list(come)
    rest = gone
    for key in _KEYS:
        left = []
        for old in rest:
            new = next((new for new in free if key(new) == key(old)), None)
            if new is None:
                left.append(old)
            else:
                free.remove(new)
                yield old, new
        rest = left
    for old in rest[:]:
        new = next((new for new in free if _is_wrapped(old, new)), None)
        if new is not None:
            rest.remove(old)
            free.remove(new)
            yield old, new
    if len(rest) == len(free):
        pairs = zip(rest, free, strict=True)
        yield from (pair for pair in pairs if len(rest) <= _A_FEW or _have_a_name_in_common(*pair))


def _is_wrapped(old: Assertion, new: Assertion) -> bool:
    """What was compared is only there now, handed to something else first."""
    return new.strength is Strength.SOMETHING < old.strength and "(" in old.about and old.about in new.about


def _have_a_name_in_common(old: Assertion, new: Assertion) -> bool:
    was, now = (set(_NAMES.findall(f"{one.about} {one.expected or ''}")) for one in (old, new))
    return bool(was & now - _CONSTANTS)


_KEYS: tuple[Callable[[Assertion], object], ...] = (
    claim,
    lambda one: frozenset({one.about, one.expected}),
    lambda one: one.about,
)


def _new_ones(was: tuple[str, ...], now: tuple[str, ...]) -> list[str]:
    new = [target for target in now if target not in was]
    gone = [target for target in was if target not in now] if new else []
    return [target for target in new if not any(_are_one_thing(target, old) for old in gone)]


def _are_one_thing(one: str, other: str) -> bool:
    """`shop.cart.total` is `cart.total`, named from further up."""
    shorter, longer = sorted((_path(one), _path(other)), key=len)
    return len(shorter) > 1 and "/" not in one + other and longer[-len(shorter) :] == shorter
