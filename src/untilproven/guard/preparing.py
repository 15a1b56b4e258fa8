"""What a test asks only to get to where it asks: that something which it needs was made ready."""

import re

from untilproven.guard.bindings import bound_in
from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.names import NAME
from untilproven.guard.pairing import Became, Placed

_NONE = frozenset({None, "nil", "None", "null", "0"})
_CALL = re.compile(r"(?:await )?((?:\w+(?:\.|::))*)(\w+)\(")
_OF_THE_SYSTEM = re.compile(
    r"(?:(?:std|tokio)::)?(?:os|io|ioutil|filepath|fs|fsp|exec|env|tempfile|shutil|Files)(?:\.|::)"
)
_READY = re.compile(r"(?i)te?mp|clean|tear_?down|set_?up")


def not_prepared(lost: list[Assertion], one: Became) -> list[Assertion]:
    """Without those, as many as calls went, that a call had no error which the test makes no longer, because it was one
    of the system or prepared something; or which refuses by itself now."""
    spent: dict[str, int] = {}
    rest = []
    for old in lost:
        name = _name(old)
        if name is not None and spent.setdefault(name, _made_otherwise(name, one)) > 0:
            spent[name] -= 1
        else:
            rest.append(old)
    return rest


def _name(old: Assertion) -> str | None:
    """Of what was to be an error that is not there, or none of several."""
    if old.strength > Strength.PARTLY or old.expected not in _NONE or old.error is not None:
        return None
    inner = re.fullmatch(r"len\((\w+)\)|(\w+)\.(?:length|len\(\))|(\w+)", old.about)
    return next(filter(None, inner.groups()), None) if inner else None


def _made_otherwise(name: str, one: Became) -> int:
    was, now = (bound_in(side.text).get(name) for side in (one.before, one.after))
    if was is None:
        return 0
    went = was - now if now else was
    return sum(
        times for value, times in went.items() if (call := _CALL.match(value)) and _is_needless(call, value, one)
    )


def _is_needless(call: re.Match[str], value: str, one: Became) -> bool:
    after = " ".join(one.after.text.split())
    if re.search(rf"(?i)\bmust\w*\(\s*{re.escape(value)}", after):
        return True
    if f"{call[1]}{call[2]}(" in after:
        return _asked(call[2], one.after) > _asked(call[2], one.before)
    return _OF_THE_SYSTEM.fullmatch(call[1]) is not None or _READY.search(call[2]) is not None


def _asked(name: str, test: Placed) -> int:
    """How much a function beside the test asks by itself."""
    beside = (one for one in test.side.facts.declarations if not one.is_test and name in NAME.findall(one.name))
    return sum(len(test.side.test(one).assertions) for one in beside)
