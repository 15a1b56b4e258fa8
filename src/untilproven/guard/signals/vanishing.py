"""What can be seen of a condition or a handler that is gone: that more went with it, or that it is said elsewhere."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile

from untilproven.guard.comparison import Comparison
from untilproven.guard.facts import Handler
from untilproven.guard.lines import lines_of
from untilproven.guard.pairing import Placed

_NAME = re.compile(r"[A-Za-z_]\w+")
_WORD = re.compile(r"\w+")
_REMARKS = ("#", "//", "/*", "*", '"""')
_REFUSALS = ("raise ", "throw ", "return ", "panic")
_TEXT = re.compile(r"\"[^\"]+\"|'[^']+'")
_BODY = re.compile(r"\) (?:-> [^:]+)?:(?= )|\):(?= )|\{(?= )")
_OF_SOMETHING = re.compile(r"(?<=[\w)\]])\.[A-Za-z_]\w{2,}(?![\w(])")
_SEVERAL = 3


def seen_in_function(guards: list[str], before: Placed, after: Placed, *, touched: bool) -> Iterator[str]:
    if all(_is_said_by_type(guard, before, after) for guard in guards):
        yield "typed"
    if not touched and all(_went_with_block(guard, before, after) for guard in guards):
        yield "block-removed"


def is_about_gone(guard: str, then_there: str, now_there: str) -> bool:
    """It names what something had elsewhere, too, and nothing has any more, or hardly anything."""
    had = {one: guard.count(one) for one in _OF_SOMETHING.findall(guard)}
    counts = ((_times(one, then_there) - own, _times(one, now_there)) for one, own in had.items())
    return any(was > 0 and (now == 0 or was - now >= _SEVERAL) for was, now in counts)


def _times(attribute: str, there: str) -> int:
    return len(re.findall(rf"{re.escape(attribute)}(?!\w)", there))


def _is_said_by_type(guard: str, before: Placed, after: Placed) -> bool:
    """It was asserted to be one of some values, and the type of a parameter names just these now."""
    values = _TEXT.findall(guard)
    was, now = (_BODY.split(" ".join(one.text.split()), maxsplit=1)[0] for one in (before, after))
    is_asserted = f"assert {guard}" in " ".join(before.text.split())
    are_named = all(value in now for value in values) and not all(value in was for value in values)
    return bool(values) and is_asserted and are_named


def _went_with_block(text: str, before: Placed, after: Placed) -> bool:
    """A larger block around it is gone whole, with several other lines that did something."""
    lines, there = before.text.splitlines(), {line.strip() for line in after.text.splitlines()}
    start = at = next((at for at, line in enumerate(lines) if text in " ".join(line.split())), 0)
    for up in range(at - 1, 0, -1):
        if lines[up].strip() and _depth(lines[up]) < _depth(lines[start]):
            if lines[up].strip() in there:
                break
            start = up
    inside = takewhile(lambda line: not line.strip() or _depth(line) > _depth(lines[start]), lines[start + 1 :])
    block = {line.strip() for line in (lines[start], *inside) if _WORD.search(line)}
    others = [line for line in block if text not in line and not line.startswith((*_REMARKS, *_REFUSALS))]
    return start < at and len(others) > _SEVERAL and not block & there


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def is_done_elsewhere(handler: Handler, before: Placed, after: Placed) -> bool:
    """Each line of what was done about the error stands in the file as often as it did."""
    for old in before.function.handlers:
        done = _behind(old, before) if old.errors == handler.errors and not old.is_silent else []
        was, now = (Counter(map(str.strip, side.text.splitlines())) for side in (before.side, after.side))
        if done and all(now[line] >= was[line] for line in done):
            return True
    return False


def _behind(handler: Handler, function: Placed) -> list[str]:
    """Lines that stand further in than the handler, and under it."""
    first, *rest = function.side.text.splitlines()[handler.line - 1 :]
    depth = len(first) - len(first.lstrip())
    under = takewhile(lambda line: not line.strip() or len(line) - len(line.lstrip()) > depth, rest)
    lines = (line.strip() for line in under)
    return [line for line in lines if _NAME.search(line) and not line.startswith(("#", "//"))]


def is_called_no_longer(before: Placed, after: Placed, comparison: Comparison) -> bool:
    """It was called where something differs, and nowhere there is it called now. Methods share their names."""
    if after.name != after.short:
        return False
    called = re.compile(rf"(?<![\w$]){re.escape(after.short)}\s*\(")
    own = [sum(len(called.findall(line)) for line in one.text.splitlines()) for one in (before, after)]
    was = now = 0
    for pair in comparison.of_kind("source", "script"):
        was += _said(called, pair.before.text) if pair.before else 0
        now += _said(called, pair.after.text) if pair.after else 0
    return was > own[0] and now <= own[1]


def _said(pattern: re.Pattern[str], text: str) -> int:
    return sum(times * len(pattern.findall(line)) for line, times in lines_of(text).items())
