"""What a whole file says to tools and to a test run."""

import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase

import msgspec

from untilproven.guard.comparison import Comparison, Pair
from untilproven.guard.facts import Facts
from untilproven.guard.finding import Signal
from untilproven.guard.lines import lines_changed
from untilproven.guard.signals import strictness
from untilproven.guard.signals.taken_in import said_for_exit, said_for_new
from untilproven.guard.signals.tightening import is_tightened, is_updated, typed_anew

_NOTHING = Facts()
_SHARE = 0.5
_OF_TYPES = re.compile(r"type:\s*ignore|pyright:|mypy:")
_NAMES_A_RULE = re.compile(
    r"noqa:\s*\w|ignore\[\w|(?:disable|enable)[\w-]*[= ]+[@\w]|nolint:\s*\w|[Ss]uppress\w*\(|allow\(|report\w+"
)
_EVERY_RULE = re.compile(r"\b(?:all|warnings)\b")
_OF_FILES = re.compile(r"@ts-nocheck|mypy:\s*ignore-errors")
_MUCH = 3
"""So many functions that got types for one that is silenced."""
_FAILS = re.compile(r"\(\s*-?[1-9]|(?:sys\.exit|SystemExit)\(\s*f?[\"'][^\"']")
"""Ends the process with an error, which no test run takes for a success; a text is one to Python."""

_PROGRAM = re.compile(r"(?:^|/)(?:scripts?|bin|tools?|hack)/")
"""Where programs lie that are started by themselves: whoever loads one is not a test."""
_QUOTED = re.compile(r"""(["'])(.+?)\1""")
_REMARK = re.compile(r"\s*(?://|#|\*|/\*|$)")
_ON_CONDITION = re.compile(r" \[if [^\]]+\]$")
"""What takes hold of a test run only where the language is of a version, on a platform, or if an option says so."""


def files(comparison: Comparison) -> Iterator[Signal]:
    """Only what is there now is looked for in what was."""
    for pair in comparison.pairs:
        if pair.after is None or pair.kind in {"dependencies", "cache"}:
            continue
        was, now = pair.before.facts if pair.before else _NOTHING, pair.after.facts
        if now.suppressions:
            yield from _unchecked(pair, was.suppressions, now.suppressions)
            for signal in _silenced(pair, was.suppressions, now.suppressions):
                new = (Counter(now.suppressions) - Counter(was.suppressions)).elements()
                explained = (*signal.explained, *_checked_more(signal, comparison, list(new)))
                yield msgspec.structs.replace(signal, explained=explained)
        if now.todos:
            yield from _more(pair, "todo-added", was.todos, now.todos)
        if now.hooks:
            is_new = pair.before is None and pair.is_test
            for signal in _each(pair, "collection-subverted", was.hooks, now.hooks):
                alone = said_for_new(pair, comparison, signal.subject) if is_new else ()
                asks = _asked_first(signal.now or "", comparison)
                yield msgspec.structs.replace(signal, explained=(*alone, *asks))
        if ends := tuple(one for one in now.exits if not _FAILS.search(one)):
            is_program = _PROGRAM.search(pair.path)
            alone = said_for_exit(pair, comparison) if pair.before is None else ("own-program",) if is_program else ()
            yield from _each(pair, "exit-added", was.exits, ends, alone)
        if not pair.is_test:
            yield from _switched_off(pair, was, now)
            yield from _commented_out(pair, was, now)


def _asked_first(hook: str, comparison: Comparison) -> Iterator[str]:
    if _ON_CONDITION.search(hook):
        yield "on-condition"
        if _leaves_out_what_is_new(hook, comparison):
            yield "new-tests-only"


def _leaves_out_what_is_new(hook: str, comparison: Comparison) -> bool:
    """Files that are named as left out, each of them the name of some that come with the change: no test that was
    there is left out by its own name."""
    names = _QUOTED.findall(hook) if hook.startswith("collect_ignore") else []
    tests = [pair for pair in comparison.pairs if pair.kind == "test"]
    fitting = ([pair for pair in tests if fnmatchcase(pair.path, f"*{name}")] for _, name in names)
    return bool(names) and all(found and all(pair.before is None for pair in found) for found in fitting)


def _unchecked(pair: Pair, was: tuple[str, ...], now: tuple[str, ...]) -> Iterator[Signal]:
    """A file that was there is left out by the type checker as a whole."""
    for mark in now if pair.before and not pair.is_test else ():
        if _OF_FILES.search(mark) and not any(map(_OF_FILES.search, was)):
            yield Signal(strictness.TYPES, pair.path, _line(pair, mark), pair.path, was="checked", now=mark)


def _silenced(pair: Pair, was: tuple[str, ...], now: tuple[str, ...]) -> Iterator[Signal]:
    """In tests they hide nothing from those who use the code."""
    for signal in _more(pair, "suppression-added", was, now):
        new = list((Counter(now) - Counter(was)).elements())
        explained = () if _are_on_old_lines(pair, new) else signal.explained
        yield msgspec.structs.replace(signal, explained=(*explained, "in-tests") if pair.is_test else explained)


def _checked_more(signal: Signal, comparison: Comparison, new: list[str]) -> Iterator[str]:
    """A linter in another version finds more: what is silenced then is said by its name."""
    if is_tightened(comparison) or (all(map(_names_a_rule, new)) and is_updated(comparison)):
        yield "tightened"
    if _OF_TYPES.search(signal.now or "") and typed_anew(comparison) > _MUCH * signal.amount:
        yield "types-added"


def _names_a_rule(suppression: str) -> bool:
    return _NAMES_A_RULE.search(suppression) is not None and _EVERY_RULE.search(suppression) is None


def _more(pair: Pair, name: str, was: tuple[str, ...], now: tuple[str, ...]) -> Iterator[Signal]:
    """One signal, for how many more there are."""
    more = len(now) - len(was)
    if more > 0:
        new = list((Counter(now) - Counter(was)).elements())
        explained = ("among-other-work",) if more < _SHARE * _lines_added(pair) else ()
        yield Signal(name, pair.path, 1, pair.path, now="; ".join(new[:3]), amount=more, explained=explained)


def _are_on_old_lines(pair: Pair, new: list[str]) -> bool:
    """Most of them are put on or above lines that were there before: they silence what nobody worked on."""
    if pair.before is None or pair.after is None:
        return False
    was = {line.strip() for line in pair.before.text.splitlines()}
    lines = [line.strip() for line in pair.after.text.splitlines()]
    found = 0
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        for mark in set(new):
            if mark in line and line not in was:
                rest = line.partition(mark)[0].rstrip(" /#*{").strip()
                found += (rest or following) in was
    return found > _SHARE * len(new)


def _lines_added(pair: Pair) -> int:
    before = Counter(pair.before.text.splitlines()) if pair.before else Counter[str]()
    after = Counter(line for line in pair.after.text.splitlines() if line.strip()) if pair.after else Counter[str]()
    return (after - before).total()


def _each(
    pair: Pair, name: str, was: tuple[str, ...], now: tuple[str, ...], explained: tuple[str, ...] = ()
) -> Iterator[Signal]:
    for new in (Counter(now) - Counter(was)).elements():
        yield Signal(name, pair.path, _line(pair, new), subject=new[:120], now=new, explained=explained)


def _line(pair: Pair, text: str) -> int:
    at = pair.after.text.find(text) if pair.after else -1
    return pair.after.text.count("\n", 0, at) + 1 if pair.after and at >= 0 else 1


def _switched_off(pair: Pair, was: Facts, now: Facts) -> Iterator[Signal]:
    off = [name for name, value in now.flags if not value]
    on = dict(was.flags) if off else {}
    for name in off:
        if on.get(name) is True:
            yield Signal("flag-off", pair.path, _line(pair, name), subject=name, was="true", now="false")


def _commented_out(pair: Pair, was: Facts, now: Facts) -> Iterator[Signal]:
    """Code that was there as code."""
    before = "".join(pair.before.text.split()) if pair.before and now.commented else ""
    found = [one for one in now.commented if "".join(one.text.split()) in before]
    known = {one.text for one in was.commented} if found else set()
    for one in found:
        if one.text not in known and _was_code(one.text, pair):
            said = ("rewritten",) if lines_changed(pair).came.total() >= one.lines else ()
            subject = one.text.strip()[:80]
            yield Signal("code-commented-out", pair.path, one.line, subject, amount=one.lines, explained=said)


def _was_code(text: str, pair: Pair) -> bool:
    """Some line of it stood there without the sign of a remark before it."""
    lines = {line.strip() for line in text.splitlines() if not _REMARK.match(line)}
    return any(line.strip() in lines for line in pair.before.text.splitlines()) if pair.before else False
