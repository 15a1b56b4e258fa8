"""Tests that are new, and prove nothing."""

import re
from collections.abc import Iterator

from untilproven.guard.claims import strong
from untilproven.guard.facts import Running
from untilproven.guard.finding import Signal
from untilproven.guard.pairing import Placed
from untilproven.guard.signals.idle import does_nothing

_MADE_TWICE = re.compile(r"((?:new )?\b[A-Z]\w*\(.*\)).*\1")
"""Two things that are made alike: whether they are equal is for the code to say."""
_WITH_ITSELF = re.compile(r"(?<![\w.])([A-Za-z_][\w.]*) ([<>]=?|[=!]==?) \1(?![\w.(\[])")
_SEVERAL = 3
"""So many ways to compare a thing with itself are asked for by who wrote these ways."""
_MANY_MOCKS, _FEW_ASSERTIONS = 4, 2


def of_new_test(added: Placed) -> Iterator[Signal]:
    """A test that can not fail proves nothing."""
    test = added.test
    if test.assertions and not strong(test.assertions):
        made = ("of-equality",) if all(map(_MADE_TWICE.search, (one.text for one in test.assertions))) else ()
        made = made or (("of-itself",) if _compares_with_itself(added) else ())
        now, said = test.assertions[0].text, made or _said_for_trivial(added)
        yield Signal("new-test-trivial", added.path, added.line, subject=added.name, now=now, explained=said)
    elif len(test.mocks) >= _MANY_MOCKS and len(test.assertions) < _FEW_ASSERTIONS:
        yield Signal("mostly-mocked", added.path, added.line, added.name, now=", ".join(test.mocks))
    elif test.unreached and not test.assertions:
        yield Signal("new-test-trivial", added.path, added.line, subject=added.name, now="no assertion is reached")


def _compares_with_itself(added: Placed) -> bool:
    """One thing, in several ways."""
    found = [_WITH_ITSELF.search(one.text) for one in added.test.assertions]
    return len({one[1] if one else "" for one in found}) == 1 and len({one[2] for one in found if one}) >= _SEVERAL


def _said_for_trivial(added: Placed) -> tuple[str, ...]:
    """It runs something, which may raise, and passes in so many words; or it stands in for others that can not run
    everywhere."""
    if not any(one.about for one in added.test.assertions) and not does_nothing(added):
        return ("runs-something",)
    return ("in-place",) if added.test.running is Running.SOMETIMES else ()
