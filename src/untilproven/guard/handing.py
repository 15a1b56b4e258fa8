"""What a test hands to a function beside it, which asks in its place."""

import re

from untilproven.guard.bindings import CALLED
from untilproven.guard.facts import Assertion
from untilproven.guard.names import NAME
from untilproven.guard.pairing import Placed

_CALL = re.compile(r"(?:await\s+)?(?:[\w$]+(?:\.|::))*([A-Za-z_$][\w$]*)(?:::<[^()]*>|\[[^()]*\])?\(")
_OPENS = re.compile(r"\{|:\s*\n|=\s*\n")
_NAMED = re.compile(r"^[A-Za-z_]\w*\s*=(?![=>])\s*")
"""As which argument a value is given."""
_IN_NAMES = re.compile(r"::|\.")


def is_handed_over(old: Assertion, new: Assertion, test: Placed) -> bool:
    """The function is given what it was compared with, and what was asked about or what that is made of, and compares
    what it is given as strictly."""
    call = _CALL.match(new.text)
    given = _values(new.text[call.end() :]) if call else set()
    if call is None or not old.expected or old.expected not in given:
        return False
    return any(_compares(one, old, given) for one in _named(call[1], test))


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
            found.append(_NAMED.sub("", given[start:at].strip()).lstrip("&"))
            start = at + 1
        if depth < 0:
            break
    return {*found}


def _named(name: str, test: Placed) -> list[Placed]:
    declared = (one for one in test.side.facts.declarations if not one.is_test)
    beside = (one for one in declared if _IN_NAMES.split(one.name.partition("(")[0])[-1] == name)
    return [Placed(test.pair, test.side, one) for one in beside]


def _compares(function: Placed, old: Assertion, given: set[str]) -> bool:
    """Names of parameters stand on both sides; or on one, if the other is made there as the test made it."""
    opens = _OPENS.search(function.text)
    parameters = {*NAME.findall(function.text[: opens.start()] if opens else "")}
    is_given = old.about in given
    if not is_given and not _is_made_there(function, old.about, given):
        return False
    for one in function.test.assertions:
        sides = [{*NAME.findall(side or "")} for side in (one.about, one.expected)]
        if one.strength < old.strength or sides[0] == sides[1] or not all(sides):
            continue
        if all(parameters & side for side in sides) or (not is_given and any(side <= parameters for side in sides)):
            return True
    return False


def _is_made_there(function: Placed, about: str, given: set[str]) -> bool:
    """Of what it is given, or by the same calls."""
    rest = about
    for value in sorted(given, key=len, reverse=True):
        rest = rest.replace(value, "") if NAME.search(value) else rest
    called = {*CALLED.findall(rest)}
    return called <= {*CALLED.findall(function.text)} and (rest != about or bool(called))
