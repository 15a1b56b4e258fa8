"""Configuration of test runners, linters and type checkers that asks for less than it did."""

import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatch

import msgspec

from untilproven.guard.comparison import Comparison, Pair, Side
from untilproven.guard.finding import Signal
from untilproven.guard.kinds import kind_of
from untilproven.guard.signals import first, strictness
from untilproven.guard.signals.apart import set_apart
from untilproven.guard.signals.commands import Command
from untilproven.guard.signals.documents import below, mapping, name_of, values_in, words
from untilproven.guard.signals.retries import retried
from untilproven.guard.signals.settings import Setting, Settings, settings_of
from untilproven.guard.signals.verifiers import Check
from untilproven.guard.signals.weakening import narrowed, verifies_nothing

_OF_TARGETS = frozenset({"cargo.test.test", "cargo.test.harness"})
"""What cargo is told of each file of tests by itself."""
_IGNORE_FILES = re.compile(
    r"\.(?:eslint|stylelint|prettier|pylint|jshint|flake8|golangci|rubocop|semgrep|bandit)ignore"
)


def configuration(comparison: Comparison) -> Iterator[Signal]:
    was, now = settings_of(comparison, "before"), settings_of(comparison, "after")
    told = {_told(name) for name in was}
    new = [pair.path for pair in comparison.pairs if pair.before is None]
    moved = {pair.path: pair.before.path for pair in comparison.pairs if pair.before and pair.before.path != pair.path}
    for name, after in now.items():
        is_first = _told(name) not in told
        if not (is_first and first.is_of_a_new_part(after, new)):
            for signal in _compared(name, was, now, after):
                weighed = set_apart(_with_new_places(signal, new, moved), comparison)
                yield from first.said(weighed) if is_first else [weighed]
    yield from first.in_the_way(comparison, was)
    for name, before in was.items():
        if not now.anywhere(name):
            yield from _gone(before, now)
        if before.key == "pytest.filterwarnings":
            yield from _only_warned(before, now)
    for pair in comparison.pairs:
        if pair.before and pair.after:
            yield from _ignored(pair, pair.before, pair.after)


def _with_new_places(signal: Signal, new: list[str], moved: dict[str, str]) -> Signal:
    """Tests that are not looked for where there were none before are not lost; a file that is new, or was left out at
    the place where it was, is not checked or measured less than it was."""
    places = [place.strip("*/^$").replace("\\.", ".") for place in (signal.now or "").split("; ")]
    if signal.name == strictness.TYPES:
        there = [*new, *(path for path, old in moved.items() if old in (signal.was or ""))]
        if not all(_is_below(place, there) or place in there for place in places):
            return signal
    elif signal.name == strictness.COVERAGE:
        if not all(any(f"/{path}".endswith(f"/{place}") for path in new) for place in places):
            return signal
    elif signal.name != strictness.COLLECTION or not all(_is_below(place, new) or place in new for place in places):
        return signal
    return msgspec.structs.replace(signal, explained=(*signal.explained, "new-place"))


def _is_below(place: str, paths: list[str]) -> bool:
    return len(place) > 1 and any(f"/{path}".startswith(f"/{place}/") for path in paths)


def _told(name: str) -> str:
    """The directory and the tool: what was told nothing before is not weakened by what it is told."""
    directory, _, key = name.rpartition("//")
    return f"{directory}//{key.partition('.')[0]}"


def _compared(name: str, was: Settings, now: Settings, after: Setting) -> Iterator[Signal]:
    before = was.get(name) or next(iter(was.anywhere(name)), None)
    key = after.key
    yield from _of_runs(before, after)
    if signal := strictness.signal_for(strictness.MORE_IS_LESS, key):
        if new := sorted(filter(strictness.counts, after.items - _everywhere(was, name))):
            explained = tuple(_said_for(signal, after, new))
            yield _signal(signal, after, before, now="; ".join(new), amount=len(new), explained=explained)
    elif signal := strictness.signal_for(strictness.LESS_IS_LESS, key):
        yield from _shrunk(signal, before, after, now) if before else _not_found(signal, after)
    elif key in _OF_TARGETS:
        yield from _not_run(before or _beside(was, after), after)
    elif signal := strictness.signal_for(strictness.ON_IS_STRICT, key):
        yield from _turned_off(signal, before, after, was, now)
    elif signal := strictness.signal_for(strictness.ON_IS_LOOSE, key):
        if after.is_on and _times_on(now, key) > _times_on(was, key):
            yield _signal(signal, after, before, explained=tuple(_said_for(signal, after, ["tests"])))
    elif signal := strictness.signal_for(strictness.LEVELS, key):
        yield from _less_severe(signal, before, after)


def _of_runs(before: Setting | None, after: Setting) -> Iterator[Signal]:
    """How tests are run, and how often."""
    if after.key == "pytest.addopts":
        yield from _options(before, after)
    elif strictness.RETRIES.fullmatch(after.key):
        yield from retried(after.side.path, after.line, before.number if before else None, after.number)


def _are_listed(key: str, was: Settings, now: Settings) -> bool:
    """Cargo need not look for tests that are named one by one by now."""
    there, new = (sum(len(one.values) for one in side.anywhere("cargo.test.path")) for side in (was, now))
    return key.endswith("autotests") and new > there


def _turned_off(signal: str, before: Setting | None, after: Setting, was: Settings, now: Settings) -> Iterator[Signal]:
    was_on = before.is_on if before else after.key.startswith("cargo.")
    if was_on and after.is_off and not _are_listed(after.key, was, now):
        are_named = after.key.endswith("autotests") and was.anywhere("cargo.test.name")
        yield _signal(signal, after, before, explained=("listed",) if are_named else ())


def _beside(settings: Settings, after: Setting) -> Setting | None:
    """Anything else that its file said."""
    return next((one for one in settings.values() if one.side.path == after.side.path), None)


def _not_run(before: Setting | None, after: Setting) -> Iterator[Signal]:
    """Files of tests that cargo is told not to run, or to run as programs of their own."""
    known = _targets_off(before.side, after.key) if before else set[str]()
    if off := sorted(_targets_off(after.side, after.key) - known):
        signal = strictness.signal_for(strictness.ON_IS_STRICT, after.key) or strictness.COLLECTION
        yield _signal(signal, after, None, now="; ".join(off), amount=len(off))


def _targets_off(side: Side, key: str) -> set[str]:
    """Where they lie."""
    *_, last = key.split(".")
    tables = below(values_in(side.path, side.content), "test")
    off = [mapping(one) for one in tables if below(one, last) == "false"] if isinstance(tables, list) else []
    directory = side.path.removesuffix("Cargo.toml")
    return {directory + "".join(words(one.get("path")) or [f"tests/{one.get('name')}.rs"]) for one in off}


def _times_on(settings: Settings, key: str) -> int:
    """How often a switch of this name is on, for whichever part of the code."""
    tool, last = key.partition(".")[0], key.rpartition(".")[2]
    alike = (one for one in settings.values() if one.key.startswith(f"{tool}.") and one.key.endswith(f".{last}"))
    return sum(value.lower() == "true" for one in alike for value in one.values)


def _everywhere(settings: Settings, name: str) -> frozenset[str]:
    """The items of a list, and of its like: what moves from `ignore` to `extend-ignore` is no news."""
    bare = re.sub(r"extend-|exclude_also$", "", name.rpartition("//")[2])
    return frozenset(
        item
        for key, setting in settings.items()
        if re.sub(r"extend-|exclude_also$", "", key.rpartition("//")[2]) == bare
        for item in setting.items
    )


def _shrunk(signal: str, before: Setting, after: Setting, now: Settings) -> Iterator[Signal]:
    gone = sorted(before.items - _everywhere(now, after.key) - after.items)
    if gone and "ALL" not in after.items:
        explained = list(_said_for(signal, after, gone))
        if after.items - before.items:
            explained.append("replaced")
        yield Signal(
            signal,
            after.side.path,
            after.line,
            after.key,
            was="; ".join(gone),
            now="; ".join(sorted(after.items)),
            amount=len(gone),
            explained=tuple(explained),
        )


def _not_found(signal: str, after: Setting) -> Iterator[Signal]:
    """Said for the first time, and not what the runner went by until then."""
    for name in strictness.FOUND_BY_DEFAULT.get(after.key, ()):
        if not any(fnmatch(name, item) or name.startswith(item) for item in after.items):
            yield _signal(signal, after, None)
            return


def _said_for(signal: str, setting: Setting, items: list[str]) -> Iterator[str]:
    """Tests that are not run are a loss; tests that are not measured are none."""
    about_tests = list(map(strictness.OF_TESTS.search, items))
    if signal == strictness.COLLECTION and strictness.is_chosen(setting.key, items):
        yield "chosen"
    elif signal == strictness.COLLECTION:
        if not any(about_tests):
            yield "elsewhere"
        if kind_of(f"{setting.side.path.rpartition('/')[0]}/data") == "test":
            yield "in-tests"
    elif signal == strictness.COVERAGE:
        if all(about_tests):
            yield "tests-only"
        if "exclude_" in setting.key:
            yield "lines-only"


def _less_severe(signal: str, before: Setting | None, after: Setting) -> Iterator[Signal]:
    was, now = _level(before), _level(after)
    if now is None or (was is None and now > 0) or (was is not None and now >= was):
        return
    yield _signal(signal, after, before, explained=() if before else ("new",))


def _level(setting: Setting | None) -> int | None:
    """The most severe that is said of it: what is said for some files only is not looked at."""
    known = [strictness.LEVEL[value] for value in setting.values if value in strictness.LEVEL] if setting else []
    return max(known, default=None)


def _options(before: Setting | None, after: Setting) -> Iterator[Signal]:
    was, now = _as_check(before), _as_check(after)
    if (nothing := verifies_nothing(now)) and not verifies_nothing(was):
        yield _signal(strictness.COLLECTION, after, before, now=nothing)
    elif less := narrowed(was, now):
        yield _signal(strictness.COLLECTION, after, before, now=less)
    yield from retried(after.side.path, after.line, _reruns(was), _reruns(now))


def _reruns(check: Check) -> float | None:
    found = re.search(r"--reruns[= ](\d+)", check.command.text)
    return float(found[1]) if found else None


def _as_check(setting: Setting | None) -> Check:
    """As if the options stood behind the command; a list has them apart already."""
    words = setting.values if setting else ()
    if len(words) == 1:
        try:
            words = tuple(shlex.split(words[0]))
        except ValueError:
            words = tuple(words[0].split())
    return Check("tests", "pytest", Command(("pytest", *words), 0, is_swallowed=False))


def _gone(before: Setting, now: Settings) -> Iterator[Signal]:
    """A strict setting that is no longer there, in a tool that is still told something."""
    tool = before.key.partition(".")[0]
    if not before.is_on or not any(setting.key.startswith(f"{tool}.") for setting in now.values()):
        return
    signal = strictness.signal_for(strictness.ON_IS_STRICT, before.key)
    covered = [f"{tool}.strict", f"{tool}.compilerOptions.strict"]
    if signal and not any(one.is_on for key in covered for one in now.anywhere(key)):
        yield Signal(signal, before.side.path, before.line, before.key, was=before.values[-1], explained=("removed",))


def _only_warned(before: Setting, now: Settings) -> Iterator[Signal]:
    """Warnings were errors, and are none."""
    after = now.anywhere(before.key)
    if "error" not in before.items or any("error" in one.items for one in after):
        return
    options = " ".join(value for one in now.anywhere("pytest.addopts") for value in one.values)
    if _told_of_pytest(now) and not re.search(r"-W\s*error", options):
        where = after[0] if after else before
        signal = strictness.COLLECTION
        yield Signal(signal, where.side.path, where.line, before.key, was="error", explained=("replaced",))


def _told_of_pytest(now: Settings) -> bool:
    return any(setting.key.startswith("pytest.") for setting in now.values())


def _ignored(pair: Pair, before: Side, after: Side) -> Iterator[Signal]:
    if not _IGNORE_FILES.fullmatch(name_of(pair.path)):
        return
    new = _lines(after) - _lines(before)
    if new:
        yield Signal(strictness.LINT, pair.path, 1, name_of(pair.path), now="; ".join(sorted(new)), amount=len(new))


def _lines(side: Side) -> set[str]:
    return {line.strip() for line in side.text.splitlines() if line.strip() and not line.startswith(("#", "!"))}


def _signal(
    name: str,
    after: Setting,
    before: Setting | None,
    *,
    now: str | None = None,
    amount: float = 1,
    explained: tuple[str, ...] = (),
) -> Signal:
    return Signal(
        name,
        after.side.path,
        after.line,
        after.key,
        was=", ".join(before.values) if before else None,
        now=now or ", ".join(after.values),
        amount=amount,
        explained=explained,
    )
