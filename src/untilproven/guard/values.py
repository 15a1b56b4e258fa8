"""Values that tests expect otherwise: what a reader sees in the difference itself, and in others of the same change."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from untilproven.guard.finding import Signal

_PIECE = re.compile(r"\w+|[^\w\s]")
_CALL = re.compile(r"(?<![\w.])(?:[A-Za-z_]\w*\.)+([A-Za-z_]\w*)\([^()A-Za-z]*\)")
_GIVEN_TO = frozenset({":", "=", "=>"})
_QUOTES = frozenset("\"'`")
_ENOUGH = 3
"""So many pieces that are exchanged alike in one other test are no chance; of fewer there must be two."""

_SEVERAL = 3
_LONG = 3
"""So many digits are no chance."""


class Edit(NamedTuple):
    lost: frozenset[str]
    come: frozenset[str]
    key: str
    """The name that the value is given to, where one of several is another; or empty."""


@lru_cache(maxsize=256)
def edit(was: str, now: str) -> Edit:
    """From one value to another, in words and signs."""
    before, after = _PIECE.findall(was), _PIECE.findall(now)
    lost, come = Counter(before) - Counter(after), Counter(after) - Counter(before)
    return Edit(frozenset(lost), frozenset(come), _key(before, after))


def fragments(was: str, now: str) -> tuple[str, str]:
    """What is left of both without what they begin and end with alike."""
    start = next((at for at, (one, other) in enumerate(zip(was, now, strict=False)) if one != other), None)
    if start is None:
        start = min(len(was), len(now))
    was, now = was[start:], now[start:]
    end = next((at for at, (one, other) in enumerate(zip(was[::-1], now[::-1], strict=False)) if one != other), None)
    if end is None:
        end = min(len(was), len(now))
    return was[: len(was) - end], now[: len(now) - end]


def is_exchanged_within(was: str, now: str, gone: frozenset[str], come: frozenset[str]) -> bool:
    """The whole difference is that a word which is gone stands as another that has come, be it as a part of words."""
    before, after = "".join(was.split()), "".join(now.split())
    others = [word for word in come if word in after]
    return any(before.replace(word, other) == after for word in gone if word in before for other in others)


def is_reordered(was: str, now: str) -> bool:
    """Of several words and signs, the same in another order."""
    before, after = _PIECE.findall(was), _PIECE.findall(now)
    return before != after and len(before) > _SEVERAL and Counter(before) == Counter(after)


def with_likes(signals: Iterable[Signal]) -> Iterator[Signal]:
    """What is expected otherwise in several tests in the same way: so a behaviour changes, and no value is forged. So
    it is with an assertion that went from several, if it names something of the source that differs."""
    every = list(signals)
    series = _in_series(every)
    gone = Counter(signal.was for signal in every if "named" in signal.explained)
    edits = [
        (signal, edit(signal.was or "", signal.now or "")) for signal in every if signal.name == "expected-changed"
    ]
    for signal in every:
        is_alike = signal.name == "expected-changed" and _has_likes(signal, edits)
        is_alike = is_alike or ("named" in signal.explained and gone[signal.was] >= _SEVERAL)
        is_alike = is_alike or (signal.name == "expected-changed" and _asked_of(signal) in series)
        yield msgspec.structs.replace(signal, explained=(*signal.explained, "alike")) if is_alike else signal


def _in_series(signals: list[Signal]) -> frozenset[str]:
    """Calls of which several tests of a file expect several values otherwise: it is another series of them."""
    times = Counter(
        (one.path, one.subject, _asked_of(one)) for one in signals if one.name == "expected-changed" and _asked_of(one)
    )
    tests = Counter(asked for (_, _, asked), values in times.items() if values >= _SEVERAL)
    return frozenset(asked for asked, number in tests.items() if number >= _SEVERAL)


def _asked_of(signal: Signal) -> str:
    """What is called with what is written out: `file: wait(1, 0)` is `file: wait`."""
    found = _CALL.search(signal.was or "")
    return f"{signal.path}: {found[1]}" if found else ""


def _has_likes(signal: Signal, edits: list[tuple[Signal, Edit]]) -> bool:
    own = edit(signal.was or "", signal.now or "")
    most = Counter[tuple[str, str]]()
    for other, each in edits:
        test = other.path, other.subject
        if test != (signal.path, signal.subject):
            most[test] = max(most[test], _in_common(own, each))
    found = [pieces for pieces in most.values() if pieces]
    return len(found) > 1 or any(pieces >= _ENOUGH for pieces in found)


def _in_common(one: Edit, other: Edit) -> int:
    """How much of both is the same; nothing, unless some of what went is and some of what came. One that was exchanged
    for another is enough, unless it is a short number."""
    lost, come = one.lost & other.lost, one.come & other.come
    if lost and come and not any(piece.isdigit() and len(piece) < _LONG for piece in lost | come):
        return max(len(lost) + len(come), _ENOUGH)
    if (lost or not (one.lost or other.lost)) and (come or not (one.come or other.come)):
        return max(len(lost) + len(come), 1)
    return int(one.key != "" and one.key == other.key)


def _key(before: list[str], after: list[str]) -> str:
    same = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        same += 1
    signs = [piece for piece in before[:same] if piece not in _QUOTES]
    is_given = len(signs) > 1 and signs[-1] in _GIVEN_TO and signs[-2].isidentifier()
    return signs[-2].lower() if is_given else ""
