"""Tests that are left out of a run because another one has them, or because they are new and marked as such."""

import re

import msgspec

from untilproven.guard.comparison import Comparison, Pair
from untilproven.guard.finding import Signal
from untilproven.guard.signals import strictness
from untilproven.guard.signals.documents import name_of

_STARTS_IN = r"(?:changedir\s*=|\bcd)\s*[\"']?"
_STARTED_BY = frozenset({"tox.ini", "Makefile", "noxfile.py", "justfile"})
_WITHOUT_A_MARK = re.compile(r"-m not (\w+)")


def set_apart(signal: Signal, comparison: Comparison) -> Signal:
    if signal.name != strictness.COLLECTION or not signal.now:
        return signal
    if _are_run_elsewhere(signal.now, signal.path, comparison):
        return _with(signal, "run-apart")
    marked = _WITHOUT_A_MARK.fullmatch(signal.now)
    if not marked or not _is_new(marked[1], comparison):
        return signal
    signal = _with(signal, "new-mark")
    return _with(signal, "run-by-mark") if _is_run_alone(marked[1], comparison) else signal


def _is_run_alone(mark: str, comparison: Comparison) -> bool:
    """CI, or what it starts, has a run that takes only tests with the mark."""
    takes = re.compile(rf"-m[\s\"',=]+{mark}\b")
    files = (pair for pair in comparison.pairs if pair.kind == "ci" or name_of(pair.path) in _STARTED_BY)
    return any(pair.after and takes.search(pair.after.text) for pair in files)


def _are_run_elsewhere(places: str, told_in: str, comparison: Comparison) -> bool:
    """In a directory that another run was started in before, and still is."""
    others = [pair for pair in comparison.pairs if pair.path != told_in and name_of(pair.path) in _STARTED_BY]
    for place in places.split("; "):
        started = re.compile(rf"{_STARTS_IN}(?:\./)?{re.escape(place.strip('*/'))}/?[\"']?\s")
        if not any(_is_in_both(started, pair) for pair in others):
            return False
    return True


def _is_in_both(started: re.Pattern[str], pair: Pair) -> bool:
    return all(side is not None and started.search(side.text) for side in (pair.before, pair.after))


def _is_new(mark: str, comparison: Comparison) -> bool:
    """No file knew the mark that differs, and now only tests in new files have it."""
    named, used = re.compile(rf"\b{mark}\b"), re.compile(rf"\bmark\.{mark}\b")
    if any(pair.before and _speaks_to_tests(pair) and named.search(pair.before.text) for pair in comparison.pairs):
        return False
    having = [pair for pair in comparison.pairs if pair.is_test and pair.after and used.search(pair.after.text)]
    return bool(having) and all(pair.before is None for pair in having)


def _speaks_to_tests(pair: Pair) -> bool:
    return pair.is_test or pair.path.endswith((".toml", ".ini", ".cfg"))


def _with(signal: Signal, reason: str) -> Signal:
    return msgspec.structs.replace(signal, explained=(*signal.explained, reason))
