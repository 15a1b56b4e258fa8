"""How often a test is tried again, and how long it may take."""

import re
from functools import lru_cache

from ast_grep_py import SgNode, SgRoot

from untilproven.guard.languages.javascript.nodes import arguments, chain, number_of
from untilproven.guard.languages.javascript.openings import Opening, value_at
from untilproven.guard.languages.javascript.survey import FILES, survey

_SAYING = re.compile(
    r"this\.(?:timeout|retries)|(?:jest|test|vi)\.(?:setTimeout|retryTimes|setConfig)|t\.timeout|test\.describe\.configure"
)
_MILLISECONDS = 1000


def retries(opening: Opening, around: tuple[Opening, ...]) -> int | None:
    """`around` are the suites that the test stands in, the outermost first."""
    said = _said(opening, around, ("retry", "retries"), ("retries", "retryTimes"))
    return int(said) if said is not None and said < _MILLISECONDS else None


def timeout(opening: Opening, around: tuple[Opening, ...]) -> float | None:
    """In seconds; endless if it was set to zero."""
    last = arguments(opening.node)[-1:]
    if last and last[0].kind() == "number":
        said = number_of(last[0])
    else:
        said = _said(opening, around, ("timeout", "testTimeout", "defaultCommandTimeout"), ("timeout", "setTimeout"))
    if said is None:
        return None
    return said / _MILLISECONDS if said > 0 else float("inf")


def _said(opening: Opening, around: tuple[Opening, ...], keys: tuple[str, ...], calls: tuple[str, ...]) -> float | None:
    """The nearest of what options and calls say: of the test, of its suites, of the file."""
    spoken = _spoken(opening.node.get_root())
    for one in (opening, *reversed(around), None):
        for key in keys if one is not None else ():
            if one is not None and (value := one.option(key)) is not None and (said := number_of(value)) is not None:
                return said
        for start, call in spoken:
            if start == (one.start if one is not None else None) and (said := _called(call, keys, calls)) is not None:
                return said
    return None


@lru_cache(maxsize=FILES)
def _spoken(root: SgRoot) -> tuple[tuple[int | None, SgNode], ...]:
    """The calls that say so, each with the start of the test or suite that it stands in."""
    top = root.root()
    everything = survey(top)
    found = []
    for call in everything.calls:
        callee = call.field("function")
        if callee is None or not _SAYING.fullmatch(callee.text()):
            continue
        holders = everything.around(call)
        found.append((holders[-1].start if holders else None, call))
    return tuple(found)


def _called(call: SgNode, keys: tuple[str, ...], calls: tuple[str, ...]) -> float | None:
    last = chain(call)[-1]
    if not last.args:
        return None
    if last.name in calls:
        return number_of(last.args[0])
    for key in keys:
        if (value := value_at(last.args[0], key)) is not None:
            return number_of(value)
    return None
