"""What a test that was there before asks less of the code than it did."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import PurePosixPath

from untilproven.guard.explaining import Explanations
from untilproven.guard.facts import Assertion, Strength, Test
from untilproven.guard.finding import Signal
from untilproven.guard.pairing import Became, Placed, Tests, signal_of

_BREADTH = {"RuntimeException": 1, "Exception": 2, "Error": 2, "Throwable": 3, "BaseException": 3, "": 4}
"""Of errors that others are kinds of."""
_TWICE = re.compile(r"(\w[\w.:]*\(.*\)).*\1")
"""The same call at two places."""
_LITERAL = re.compile(r"[rbfu]{0,2}['\"`]|-?\d|[\[({]|True\b|False\b|None\b|true\b|false\b|null\b|nil\b")
_TEXT = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`")
_NAMES = re.compile(r"[A-Za-z_]\w*")
_CONSTANTS = frozenset({"True", "False", "None", "true", "false", "null", "nil", "undefined", "NaN"})
_OF_TESTS = re.compile(r"(?i)^tests?[-_]?|[-_.]?(?:tests?|spec)$")
_MANY_MOCKS, _FEW_ASSERTIONS = 4, 2


def assertions(tests: Tests, explanations: Explanations) -> Iterator[Signal]:
    elsewhere = {text for added in tests.added for text in _texts(added.test.assertions)}
    for one in tests.kept:
        if one.how != "hidden" and one.differs:
            yield from _weaker(one, explanations, elsewhere)
    for added in tests.added:
        yield from _new(added)


def _weaker(one: Became, explanations: Explanations, elsewhere: set[str]) -> Iterator[Signal]:
    """`elsewhere` is what new tests assert."""
    was, now = one.before.test, one.after.test
    strong, left = _strong(was.assertions), _strong(now.assertions)
    gone, come = _without(strong, left), _without(left, strong)
    explained = explanations.of_changed(one.before) if gone else ()
    if now.unreached > was.unreached:
        yield signal_of("assertion-unreached", one, amount=now.unreached - was.unreached)
    if strong and not left:
        yield signal_of("test-emptied", one, was=strong[0].text, explained=explained, amount=len(strong))
    elif gone and _asked(left, now) < _asked(strong, was):
        said = max((explanations.of_assertion(one, old.text) for old in gone), key=len)
        said = (*said, "moved") if elsewhere.issuperset(_texts(gone)) else said
        yield signal_of("assertion-removed", one, was=gone[0].text, explained=said, amount=len(strong) - len(left))
    if trivial := _without(_trivial(now.assertions), _trivial(was.assertions)):
        name = "assertion-circular" if _is_circular(trivial[0]) else "assertion-trivial"
        yield signal_of(name, one, now=trivial[0].text, amount=len(trivial))
    for old, new in _pairs(gone, come):
        said = explanations.of_assertion(one, old.expected or "", new.expected or "") if new.expected else explained
        said = (*said, "computed") if _is_computed(old, new) else said
        yield from _compared(one, old, new, said)
    yield from _mocked(one)


def _compared(one: Became, old: Assertion, new: Assertion, explained: tuple[str, ...]) -> Iterator[Signal]:
    """The same thing asked differently."""
    signal = partial(signal_of, one=one, was=old.text, now=new.text, explained=explained)
    if new.tolerance is not None and new.tolerance > (old.tolerance or 0):
        yield signal("tolerance-widened", amount=new.tolerance / (old.tolerance or new.tolerance))
    elif old.error is not None and new.error is not None and _is_broader(old.error, new.error):
        yield signal("exception-broadened")
    elif new.strength < old.strength:
        yield signal("assertion-weakened", amount=old.strength - new.strength)
    elif old.error is not None and old.expected is not None and new.error is not None and new.expected is None:
        yield signal("assertion-weakened")
    elif old.expected is not None and new.expected is not None and old.expected != new.expected:
        if old.about != new.expected or new.about != old.expected:
            if _LITERAL.match(old.expected) and _LITERAL.match(new.expected):
                yield signal("message-changed" if old.error is not None else "expected-changed")
        elif old.strength is not Strength.EXACTLY:
            yield signal("operands-swapped")


def _is_computed(old: Assertion, new: Assertion) -> bool:
    """The value is put together from names that it was not put together from."""
    was, now = (set(_NAMES.findall(_TEXT.sub("", one.expected or ""))) for one in (old, new))
    return bool(now - was - _CONSTANTS)


def _is_broader(old: str, new: str) -> bool:
    return _BREADTH.get(new, 0) > _BREADTH.get(old, 0)


def _mocked(one: Became) -> Iterator[Signal]:
    """What the test asks about, or calls by itself, is replaced by it: nobody has to replace what only a test calls."""
    for target in _new_ones(one.before.test.mocks, one.after.test.mocks):
        is_called = all(_is_called(target, side.text) for side in (one.before, one.after))
        if is_called or _is_asked_about(one.before, target):
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


def _new(added: Placed) -> Iterator[Signal]:
    """A test that can not fail proves nothing."""
    test = added.test
    if test.assertions and not _strong(test.assertions):
        yield Signal("new-test-trivial", added.path, added.line, subject=added.name, now=test.assertions[0].text)
    elif len(test.mocks) >= _MANY_MOCKS and len(test.assertions) < _FEW_ASSERTIONS:
        yield Signal("mostly-mocked", added.path, added.line, added.name, now=", ".join(test.mocks))
    elif test.unreached and not test.assertions:
        yield Signal("new-test-trivial", added.path, added.line, subject=added.name, now="no assertion is reached")


def _is_circular(assertion: Assertion) -> bool:
    """It compares what the code says with what the code says."""
    return _TWICE.search(assertion.text) is not None


def _asked(left: list[Assertion], test: Test) -> int:
    """How often something is asked."""
    return len(left) * max(len(test.cases), 1)


def _texts(all_of: Iterable[Assertion]) -> set[str]:
    return {one.text for one in all_of}


def _strong(all_of: tuple[Assertion, ...]) -> list[Assertion]:
    return [one for one in all_of if one.strength > Strength.NOTHING]


def _trivial(all_of: tuple[Assertion, ...]) -> list[Assertion]:
    return [one for one in all_of if one.strength is Strength.NOTHING]


def _without(all_of: list[Assertion], others: list[Assertion]) -> list[Assertion]:
    """Those that the others do not have, by what they say."""
    there = Counter(one.text for one in others)
    rest = []
    for one in all_of:
        if there[one.text]:
            there[one.text] -= 1
        else:
            rest.append(one)
    return rest


def _pairs(gone: list[Assertion], come: list[Assertion]) -> Iterator[tuple[Assertion, Assertion]]:
    """By what they compare, in either order; then by what they are about; then by order, if as many."""
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
    if len(rest) == len(free):
        yield from zip(rest, free, strict=True)


_KEYS: tuple[Callable[[Assertion], object], ...] = (
    lambda one: frozenset({one.about, one.expected}),
    lambda one: one.about,
)


def _new_ones(was: tuple[str, ...], now: tuple[str, ...]) -> list[str]:
    return [target for target in now if target not in was]
