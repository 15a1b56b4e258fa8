"""Assertions that stand as they stood, and are only come to now where something holds that the test got."""

import re
from collections.abc import Iterator

from untilproven.guard.claims import strong
from untilproven.guard.facts import Assertion
from untilproven.guard.finding import Signal
from untilproven.guard.pairing import Became, signal_of

_IF = re.compile(r"(?:\}\s*else\s+)?(?:if|elif|when|match)\b")
_ELSE = re.compile(r"\}?\s*else\b|elif\b")
_OF_MACHINES = re.compile(
    r"(?i)version|platform|os\.name|GOOS|windows|win32|linux|darwin|\bCI\b|environ|getenv|env\.|has_|supports?|feature|cfg!|PYPY|PY\d"
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_OF_ANY_CODE = frozenset(
    {"if", "let", "Some", "Ok", "is", "not", "None", "nil", "null", "undefined", "true", "false", "err"}
)


def conditional(one: Became) -> Iterator[Signal]:
    """Each test or function once."""
    for asked in strong(one.after.test.assertions):
        if all(asked.text != old.text for old in one.before.test.assertions):
            continue
        if _above(one.before.text, asked) == [] and (conditions := _above(one.after.text, asked)):
            condition = conditions[0]
            if not _OF_MACHINES.search(condition) and _is_about(condition, asked):
                yield signal_of("assertion-conditional", one, was=asked.text, now=condition)
                return


def _is_about(condition: str, asked: Assertion) -> bool:
    """It asks for a name that is compared: where the product answers otherwise, nobody asks."""
    names = {*_NAME.findall(condition)} - _OF_ANY_CODE
    return bool(names & {*_NAME.findall(asked.about)})


def _above(text: str, asked: Assertion) -> list[str] | None:
    """Conditions that a line of it stands under, with no other way to go; None where it is not found, or has one."""
    lines = text.splitlines()
    start = "".join(asked.text.split())[:24]
    at = next((at for at, line in enumerate(lines) if "".join(line.split()).startswith(start)), None)
    if at is None:
        return None
    depth, found = _depth(lines[at]), list[str]()
    for line in reversed(lines[:at]):
        if line.strip() and _depth(line) < depth:
            depth = _depth(line)
            if _IF.match(line.strip()):
                found.append(line.strip().rstrip("{: "))
    has_other_way = any(_ELSE.match(line.strip()) for line in lines)
    return None if found and has_other_way else found


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
