"""What is asked in place of an assertion that asks less."""

import re
from collections.abc import Iterator

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.handing import asks_nothing
from untilproven.guard.meaning import meaning
from untilproven.guard.pairing import Became
from untilproven.guard.signals.limits import WRITTEN_OUT, one_more
from untilproven.guard.tokens import telling, tokens_of
from untilproven.guard.wholes import elements

_A_FEW = 3
_CHOICE = re.compile(r"[\[({]")
_MOST = 0.8
_INSTEAD = frozenset({"asks-more", "in-parts", "one-more", "asked-beside"})
"""What is asked in place of one assertion. They say the same of it, and do not add up."""


def asked_instead(
    one: Became,
    old: Assertion,
    new: Assertion,
    come: list[Assertion],
    pairs: list[tuple[Assertion, Assertion]],
    more: tuple[str, ...] | None,
) -> tuple[str, ...]:
    """`more` is None where the source was changed: then only what is asked beside it counts."""
    if more is not None and not more:
        more = ("in-parts",) if _is_asked_in_parts(old, come) else one_more(old, new)
    is_beside = _is_asked_beside(old, come, pairs) or _is_asked_of_error(one, old, new, come, pairs)
    return more or (("asked-beside",) if is_beside else ())


def for_weaker(one: Became, old: Assertion, new: Assertion, explained: tuple[str, ...]) -> Iterator[str]:
    if not _INSTEAD.isdisjoint(explained):
        return
    if "source-changed" not in explained and _is_one_of_few(old, new):
        yield "alternatives"
    elif _has_its_value(one, old, new):
        yield "same-value"


def _has_its_value(one: Became, old: Assertion, new: Assertion) -> bool:
    """The same is asked for as one of several, as a part, or by a function that is given it."""
    if not old.expected or new.strength is not Strength.PARTLY or asks_nothing(new, one.after):
        return False
    return re.search(rf"(?<!\w){re.escape(old.expected)}(?!\w)", new.text) is not None


def _is_asked_in_parts(old: Assertion, come: list[Assertion]) -> bool:
    """Several are about what it was compared with a text for, and most of that text stands in them."""
    whole = meaning(old.expected or "").strip("\0")
    parts = [meaning(new.expected or "").strip("\0") for new in come if new.about == old.about]
    said = [part for part in parts if part and part in whole]
    return len(said) > 1 and sum(map(len, said)) >= _MOST * len(whole)


def _is_one_of_few(old: Assertion, new: Assertion) -> bool:
    """What it had to be is one of a few values, all written out, that it may be now."""
    values = elements(new.expected or "") if _CHOICE.match(new.expected or "") else []
    are_written = all(WRITTEN_OUT.match(value) for value in values)
    return len(values) <= _A_FEW and are_written and meaning(old.expected or "") in map(meaning, values)


def _is_asked_beside(old: Assertion, come: list[Assertion], pairs: list[tuple[Assertion, Assertion]]) -> bool:
    """Another new assertion of the test, as strict and in the place of none, has what it expected."""
    words = telling(tokens_of(old.expected or ""))
    others = (one for one in _unpaired(come, pairs) if one.strength >= old.strength)
    return bool(words) and any(words <= tokens_of(one.text) for one in others)


def _is_asked_of_error(
    one: Became, old: Assertion, new: Assertion, come: list[Assertion], pairs: list[tuple[Assertion, Assertion]]
) -> bool:
    """The same error is given a name, and what has come in the place of its message compares something of it."""
    if old.error is None or old.error != new.error or new.expected is not None:
        return False
    asked, text = re.escape(new.text), " ".join(one.after.text.split())
    named = re.search(rf"{asked}\)? as (\w+)|\b(\w+) = (?:await )?{asked}", text)
    of_error = re.compile(rf"{named[1] or named[2]}\b.*\w") if named else None
    exact = (each.about for each in _unpaired(come, pairs) if each.strength is Strength.EXACTLY)
    return of_error is not None and any(map(of_error.match, exact))


def _unpaired(come: list[Assertion], pairs: list[tuple[Assertion, Assertion]]) -> list[Assertion]:
    """What has come in the place of none."""
    paired = {id(new) for _, new in pairs}
    return [one for one in come if id(one) not in paired]
