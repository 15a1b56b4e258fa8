"""How much an assertion lets through: a bound, a tolerance, one of several values."""

import re

from untilproven.guard.claims import denies
from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.syntax import number_in
from untilproven.guard.meaning import meaning

WRITTEN_OUT = re.compile(r"[rbfu]{0,2}['\"`]|-?\d|[\[({]|True\b|False\b|None\b|true\b|false\b|null\b|nil\b")
"""How a value begins that is no name."""
_FIXED = re.compile(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|(?<![\w.])\d[\w.]*|\b(?:None|null|nil|undefined|true|false|True|False)\b"
)
_OR = re.compile(r"\|\||&&|\bor\b")
_ONE_OF = re.compile(r"\bin\b|(?i:one_?of|any_?of|isin\b|includes|contains)")
_BOUNDS = re.compile(
    r"(?i)(>=?|\b(?:be)?(?:gte?|above|at_?least|least|is_?greater|to_?be_?greater|assert_?greater|greater)(?=\b|_|than|equal|or))"
    r"|(<=?|\b(?:be)?(?:lte?|below|at_?most|most|is_?less|to_?be_?less|assert_?less|less)(?=\b|_|than|equal|or))"
)
"""Words and signs for that something is at least so much, or at most."""
_LOOSELY = re.compile(r"assert\.(?:equal|deepEqual)\(")
_STRICTLY = re.compile(r"\.(?:strictEqual|deepStrictEqual|strict\.\w+)\(")
_IS_STRICT = re.compile(
    r"[\"'](?:node:)?assert/strict[\"']|\bassert[\"']\)\.strict\b|\bstrict\b\s*(?::|as\b)\s*assert\b"
)
"""A file whose `assert.equal` takes no other type for the same."""
_NARROW, _ROUNDING = 0.01, 1e-9


def one_more(old: Assertion, new: Assertion) -> tuple[str, ...]:
    """Whatever it was compared with is still compared with, and something else beside it."""
    was, now = (frozenset(map(meaning, _FIXED.findall(one.text))) for one in (old, new))
    is_or = _OR.search(new.text) is not None
    is_there = bool(was) and (was < now or (was == now and is_or))
    return ("one-more",) if is_there and (is_or or _ONE_OF.search(new.text)) else ()


def is_stricter(old: Assertion, new: Assertion) -> bool:
    """Only the bound is another, and less is let through."""
    was, now = (number_in(meaning(one.expected or "")) for one in (old, new))
    if was is None or now is None or was == now or not old.strength is new.strength is Strength.PARTLY:
        return False
    if old.about != new.about or denies(old) or denies(new) or not (_is_last(old) and _is_last(new)):
        return False
    bounds = [_BOUNDS.findall(one.text.replace(one.expected or "", "", 1)) for one in (old, new)]
    if len(bounds[0]) != 1 or bounds[0] != bounds[1]:
        return False
    return now > was if bounds[0][0][0] else now < was


def _is_last(one: Assertion) -> bool:
    """What it compares with stands behind what it looks at, and it is said when it passes, not when it fails."""
    is_behind = one.text.rfind(one.expected or "") >= one.text.find(one.about) + len(one.about) > 0
    return is_behind and not one.text.startswith("if ")


def is_narrow(old: Assertion, new: Assertion) -> bool:
    """Nothing was tolerated, and now only what is left of a fraction: so numbers of this kind should be compared."""
    value = number_in(meaning(new.expected or ""))
    return not old.tolerance and (new.tolerance or 0) <= _NARROW * max(abs(value or 0), 1)


def is_rounding(old: Assertion, new: Assertion) -> bool:
    """The same number, but for what is left of computing with fractions: linters ask for that."""
    was, now = (number_in(each.expected or "") for each in (old, new))
    return was is not None and was == now and (new.tolerance or 1) <= _ROUNDING * max(abs(was), 1)


def is_no_longer_loose(old: Assertion, new: Assertion, was: str, now: str) -> bool:
    """A number was taken for the text that it is written as, or the other way round, and no longer is. `was` and `now`
    are the files."""
    if old.about != new.about or not _LOOSELY.match(old.text) or _IS_STRICT.search(was):
        return False
    values = [meaning(one.expected or "").strip("\0") for one in (old, new)]
    is_strict = _STRICTLY.search(new.text) or (_LOOSELY.match(new.text) and _IS_STRICT.search(now))
    return bool(is_strict) and values[0] == values[1] != ""
