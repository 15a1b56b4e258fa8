"""What a test hands to a function beside it, which asks in its place."""

import re

from untilproven.guard.facts import Assertion
from untilproven.guard.names import NAME
from untilproven.guard.pairing import Placed

_CALL = re.compile(r"(?:await\s+)?(?:[\w$]+(?:\.|::))*([A-Za-z_$][\w$]*)(?:::<[^()]*>|\[[^()]*\])?\(")
_OPENS = re.compile(r"\{|:\s*\n|=\s*\n")
_IN_NAMES = re.compile(r"::|\.")


def is_handed_over(old: Assertion, new: Assertion, test: Placed) -> bool:
    """The function is given what was asked about and what it was compared with, and compares what it is given as
    strictly."""
    call = _CALL.match(new.text)
    given = new.text[call.end() :] if call else ""
    if call is None or not old.expected or not {old.about, old.expected} <= _values(given):
        return False
    return any(_compares(one, old) for one in _named(call[1], test))


def asks_nothing(new: Assertion, test: Placed) -> bool:
    """It is a call of a function beside the test, and that asks nothing."""
    call = _CALL.match(new.text)
    beside = _named(call[1], test) if call else []
    return bool(beside) and not any(one.test.assertions for one in beside)


def _values(given: str) -> set[str]:
    """What stands between the commas of a call that is all there is."""
    found, depth, start = [], 0, 0
    for at, sign in enumerate(given):
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or (sign == "," and depth == 0):
            found.append(given[start:at].strip().lstrip("&"))
            start = at + 1
        if depth < 0:
            break
    return {*found}


def _named(name: str, test: Placed) -> list[Placed]:
    declared = (one for one in test.side.facts.declarations if not one.is_test)
    beside = (one for one in declared if _IN_NAMES.split(one.name.partition("(")[0])[-1] == name)
    return [Placed(test.pair, test.side, one) for one in beside]


def _compares(function: Placed, old: Assertion) -> bool:
    """What it was given: names of parameters stand on both sides."""
    opens = _OPENS.search(function.text)
    parameters = {*NAME.findall(function.text[: opens.start()] if opens else "")}
    return any(
        one.strength >= old.strength
        and all(parameters & {*NAME.findall(side or "")} for side in (one.about, one.expected))
        for one in function.test.assertions
    )
