"""Tests that are left out by what stands in no list of what to run."""

import re
from collections.abc import Iterator

from untilproven.guard.comparison import Comparison, Pair, Side
from untilproven.guard.finding import Signal
from untilproven.guard.languages import grammar_of
from untilproven.guard.outskirts import is_beside
from untilproven.guard.signals import strictness
from untilproven.guard.signals.documents import NotUnderstood, below, line_of, mapping, name_of, values_in, words
from untilproven.guard.signals.trees import Value

_NO_ASSERTS = re.compile(r"\bPYTHONOPTIMIZE\b[\"']?\s*[:=]\s*[\"']?[1-9]")
_SESSIONS = re.compile(r"^nox\.options\.sessions\s*=\s*[\[(]([^\])]*)", re.MULTILINE)
_A_SESSION = re.compile(r"^def \w*tests?\b", re.MULTILINE)


def left_out(comparison: Comparison) -> Iterator[Signal]:
    for pair in comparison.pairs:
        name = name_of(pair.path)
        if pair.after is None or pair.kind in {"dependencies", "cache"}:
            continue
        if name == "Cargo.toml" and pair.before:
            yield from _targets(pair, pair.before, pair.after, comparison)
        elif name == "noxfile.py" and pair.before:
            yield from _sessions(pair, pair.before, pair.after)
        elif name == "go.mod" and pair.before is None:
            yield from _parted(pair, comparison)
        elif grammar_of(pair.path) is None:
            yield from _without_asserts(pair, pair.after)


def _targets(pair: Pair, before: Side, after: Side, comparison: Comparison) -> Iterator[Signal]:
    """Of cargo: only built where a feature is asked for, or made of another file than the one that is still there."""
    was, now = _named(before), _named(after)
    left = {
        one.before.path for one in comparison.pairs if one.before and not (one.after and one.path == one.before.path)
    }
    directory = pair.path.removesuffix("Cargo.toml")
    for name in was.keys() & now.keys():
        line = line_of(after.text, f'"{name}"')
        needed = set(words(below(now[name], "required-features"))) - set(words(below(was[name], "required-features")))
        if needed:
            told = f"needs {', '.join(sorted(needed))}"
            yield Signal(strictness.COLLECTION, pair.path, line, f"test {name}", now=told, explained=("on-condition",))
        old, new = (_path(name, table) for table in (was[name], now[name]))
        if old != new and directory + old not in left:
            yield Signal(strictness.COLLECTION, pair.path, line, f"test {name}", old, new, explained=("replaced",))


def _named(side: Side) -> dict[str, Value]:
    try:
        tables = below(values_in(side.path, side.content), "test")
    except NotUnderstood:
        return {}
    found = map(mapping, tables) if isinstance(tables, list) else ()
    return {"".join(words(one.get("name"))): one for one in found}


def _path(name: str, table: Value) -> str:
    return "".join(words(below(table, "path"))) or f"tests/{name}.rs"


def _sessions(pair: Pair, before: Side, after: Side) -> Iterator[Signal]:
    """nox runs all of them, unless it is said which."""
    told = _SESSIONS.search(after.text)
    if told and not _SESSIONS.search(before.text) and "test" not in told[1] and _A_SESSION.search(after.text):
        line = line_of(after.text, told[0])
        yield Signal(strictness.COLLECTION, pair.path, line, "nox.options.sessions", now=told[1], explained=("chosen",))


def _parted(pair: Pair, comparison: Comparison) -> Iterator[Signal]:
    """Code that was there is a module of its own, in which the tests of the whole are not run."""
    directory = pair.path.removesuffix("go.mod")
    new = any(one.before is None and one.path.startswith(directory) for one in comparison.pairs if one is not pair)
    if directory and not new and not is_beside(pair.path) and "testdata/" not in directory:
        yield Signal(strictness.COLLECTION, pair.path, 1, pair.path, now="a module of its own", explained=("chosen",))


def _without_asserts(pair: Pair, after: Side) -> Iterator[Signal]:
    found = _NO_ASSERTS.findall(after.text)
    if len(found) > (len(_NO_ASSERTS.findall(pair.before.text)) if pair.before else 0):
        line = line_of(after.text, found[-1])
        told = "Python leaves out assertions"
        yield Signal(strictness.COLLECTION, pair.path, line, "PYTHONOPTIMIZE", now=told, explained=("chosen",))
