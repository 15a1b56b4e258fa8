"""Code that is checked more than it was: what is silenced beside that was not heard before either."""

import re

from untilproven.guard.comparison import Comparison
from untilproven.guard.signals import strictness
from untilproven.guard.signals.settings import Setting, Settings, settings_of

_BY_DEFAULT = frozenset({"E", "E4", "E7", "E9", "F", "W", "C90"})
"""What ruff and flake8 look for that are told nothing."""
_SIGNATURE = re.compile(r"\bdef (\w+)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(\s*->)?")
_OF_CODE = frozenset({strictness.LINT, strictness.TYPES})


def is_tightened(comparison: Comparison) -> bool:
    """A strict setting that is on now, a rule more, one that is no longer left out, or a tool that is new."""
    was, now = settings_of(comparison, "before"), settings_of(comparison, "after")
    told = {setting.key.partition(".")[0] for setting in was.values()}
    return any(
        _asks_for_more(setting, was) or (_is_of_code(setting) and setting.key.partition(".")[0] not in told)
        for setting in now.values()
    ) or any(_left_out_less(setting, now) for setting in was.values())


def _is_of_code(setting: Setting) -> bool:
    keys = (strictness.ON_IS_STRICT, strictness.LESS_IS_LESS, strictness.LEVELS)
    return any(strictness.signal_for(one, setting.key) in _OF_CODE for one in keys)


def _asks_for_more(setting: Setting, was: Settings) -> bool:
    before = was.anywhere(setting.key)
    if strictness.signal_for(strictness.ON_IS_STRICT, setting.key) in _OF_CODE:
        return setting.is_on and not any(one.is_on for one in before)
    if strictness.signal_for(strictness.LESS_IS_LESS, setting.key) in _OF_CODE:
        return bool(setting.items - _BY_DEFAULT.union(*(one.items for one in before)))
    return False


def _left_out_less(setting: Setting, now: Settings) -> bool:
    if strictness.signal_for(strictness.MORE_IS_LESS, setting.key) not in _OF_CODE:
        return False
    after = now.anywhere(setting.key)
    return bool(after) and bool(setting.items - frozenset().union(*(one.items for one in after)))


def typed_anew(comparison: Comparison) -> int:
    """How many functions of Python say what they give back that did not."""
    return sum(
        len(_functions(pair.before.text, typed=False) & _functions(pair.after.text, typed=True))
        for pair in comparison.of_kind("source")
        if pair.before
        and pair.after
        and pair.path.endswith(".py")
        and pair.before.text.count("->") < pair.after.text.count("->")
    )


def _functions(text: str, *, typed: bool) -> frozenset[str]:
    return frozenset(found[1] for found in _SIGNATURE.finditer(text) if bool(found[2]) is typed)
