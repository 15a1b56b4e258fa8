"""Tests that are gone, hidden, skipped, or run with less."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from untilproven.guard.comparison import Comparison
from untilproven.guard.explaining import Explanations
from untilproven.guard.facts import Running, Test
from untilproven.guard.finding import Signal
from untilproven.guard.outskirts import is_beside
from untilproven.guard.pairing import Became, Placed, Tests, signal_of

_NEARLY_ALL = 0.9
_ALL_BUT_A_FEW = 0.75
_MANY = 4
_SUBJECT_GONE = frozenset({"symbol-removed", "source-removed"})
_FOREIGN = re.compile(
    r"(?i)(?:is_?)?(?:win(?:dows|32|64)?|nt|cygwin|msys|mingw|msvc)|wasm\w*|wasi|emscripten|pyodide|miri|pypy\w*|big_?endian"
    r"|android|ios|aix|solaris|illumos|freebsd|netbsd|openbsd|dragonfly"
    r"|riscv\w*|s390x?|powerpc\w*|ppc\w*|mips\w*|sparc\w*|loongarch\w*|i[3-6]86|armv[5-7]\w*"
)
_OF_PLATFORMS = frozenset(
    {"sys", "os", "name", "platform", "system", "lower", "startswith", "startsWith", "python_implementation"}
    | {"implementation", "target_os", "target_arch", "target_env", "target_family", "target_endian", "runtime", "GOOS"}
    | {"process", "cfg_attr", "cfg", "ignore", "hasattr", "any", "or", "OS", "DisabledOnOs", "value", "skip", "skipif"}
)
_PRERELEASE = re.compile(
    r"\(?sys\.version_info == \(\d+, \d+, \d+, ([\"'])(?:alpha|beta|candidate)\1, \d+\)"
    r"(?: and (?!.*\bor\b).*|\)?)",
    re.DOTALL,
)
"""One version of a language that was not finished yet."""
_SHOWN = re.compile(r"(?:^|::)doctest\b")
"""An example in the documentation."""
_COMPUTED = re.compile(
    r"(?!(?:\w+\.)?param\b)(?:[\w.]+\(.*\)|[A-Za-z_][\w.]*|\*.*|[\[({].*\bfor\b.*\bin\b.*[\])}])", re.DOTALL
)
"""Cases that are made by something else: nobody sees from here how many they are."""
_NOT_INSTALLED = re.compile(r"(?:pytest\.)?importorskip\(\s*([\"'])([\w.]+)\1")
_FAILS = re.compile(r"\.fail|xfail|expect(?:ed)?_?Failure", re.IGNORECASE)
"""It is still run, and must fail."""
_PARAMETERS = re.compile(r"\bdef \w+\(([^)]*)\)")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b(?=\s*(?:[:,]|$))")
_OF_PYTEST = frozenset(
    {"tmp_path", "tmpdir", "monkeypatch", "capsys", "capfd", "caplog", "recwarn", "request", "mocker"}
)
"""What any test can take, and that has no cases of its own."""
_LEAVES_IF = re.compile(r"if (.*): return(?: .*)?", re.DOTALL)
_SKIPS_UNLESS = re.compile(r"#!?\[\s*cfg\s*\(\s*not\s*\((.*)\)\s*\)\s*\]")
_UNWINDS = re.compile(
    r"#!?\[\s*cfg_attr\s*\(\s*(?:not\s*\(\s*panic\s*=\s*\"unwind\"\s*\)|panic\s*=\s*\"abort\")\s*,\s*ignore\b.*"
    r"|#!?\[\s*cfg\s*\(\s*panic\s*=\s*\"unwind\"\s*\)\s*\]",
    re.DOTALL,
)
"""Tests of Rust unwind, whatever the project says of its programs, unless a nightly compiler is told otherwise."""
_AND, _OR = re.compile(r"\s+(?:and|&&)\s+"), re.compile(r"\bor\b|\|\||[({].*\band\b.*[)}]")
_NOT_HERE = re.compile(r"(?:not )?[\w.]*platform(?:\(\))? !==? ([\"'])linux\1")
"""It runs where most checks are run, and nowhere else."""
_TURNED = re.compile(r"!|\bnot\b|\bunless\b|#!?\[\s*cfg\s*\(|Enabled")
"""A condition under which it runs, not one under which it does not."""


def tests(comparison: Comparison, tests: Tests, explanations: Explanations) -> Iterator[Signal]:
    yield from _removed(tests, explanations)
    for one in tests.kept:
        if one.how == "hidden":
            called = ("called",) if not one.after.declaration.is_test and _is_called_by_tests(one.after) else ()
            yield signal_of("test-hidden", one, was=one.before.name, now=_whereabouts(one), explained=called)
        elif one.differs or one.how == "moved":
            yield from _run_less(one, explanations)
    yield from _suites(tests)
    yield from _commented_out(comparison, tests)


def _whereabouts(one: Became) -> str:
    return one.after.name if one.after.path == one.before.path else f"{one.after.name} in {one.after.path}"


def _is_called_by_tests(one: Placed) -> bool:
    """It is what tests of its file have in common, call or are given to run, and asks as long as one of them runs."""
    calls = re.compile(rf"(?<![\w$.]){re.escape(one.short.partition('(')[0])}\s*[(,)]")
    tests = [found for found in one.side.facts.declarations if found.is_test and calls.search(found.text)]
    return any(one.side.test(found).running is not Running.NEVER for found in tests)


def _removed(tests: Tests, explanations: Explanations) -> Iterator[Signal]:
    by_file: dict[str, list[Placed]] = defaultdict(list)
    for one in tests.removed:
        by_file[one.path].append(one)
    reasons_of = _with_most({id(one): _said_for(one, explanations) for one in tests.removed})
    for path, gone in by_file.items():
        explained = [reasons_of[id(one)] for one in gone]
        was = sum(one.is_test for one in gone[0].side.facts.declarations)
        if gone[0].pair.after is None or (len(gone) > 1 and len(gone) >= _NEARLY_ALL * was):
            yield Signal(
                "test-file-removed",
                path,
                1,
                subject=path,
                was=_counted(was, "test"),
                now=_counted(was - len(gone), "test"),
                amount=len(gone),
                explained=_for_all(explained) or _if_changed(gone, explanations),
            )
            continue
        for one, reasons in zip(gone, explained, strict=True):
            was_there = _counted(len(one.test.assertions), "assertion")
            explained_by = reasons or _if_changed([one], explanations)
            yield Signal("test-removed", path, one.line, one.name, was=was_there, explained=explained_by)


def _if_changed(gone: list[Placed], explanations: Explanations) -> tuple[str, ...]:
    """Nothing else is said for them, and what each is about was changed."""
    return ("subject-changed",) if all(map(explanations.is_about_rewritten, gone)) else ()


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _said_for(one: Placed, explanations: Explanations) -> tuple[str, ...]:
    reasons = explanations.of_removed(one)
    is_shown = _SHOWN.search(one.name) is not None
    is_idle = one.test.running is Running.NEVER or not one.test.assertions
    if is_idle or (is_shown and not _is_run(one)):
        reasons = (*reasons, "asked-nothing")
    if is_shown:
        return (*reasons, "documentation")
    return (*reasons, "beside") if is_beside(one.path) and not reasons else reasons


def _is_run(one: Placed) -> bool:
    return one.test.running is Running.ALWAYS


def _with_most(explained: dict[int, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
    """A few for which nothing is said went with many whose subject is gone: they are about the same, as it seems."""
    gone = sum(not _SUBJECT_GONE.isdisjoint(reasons) for reasons in explained.values())
    if gone < _MANY * sum(not reasons for reasons in explained.values()):
        return explained
    return {one: reasons or ("among-others",) for one, reasons in explained.items()}


def _for_all(explained: list[tuple[str, ...]]) -> tuple[str, ...]:
    """What is said for each; if something else is said for each, or for all but a few, the least of it."""
    common = set(explained[0]).intersection(*explained)
    if common:
        return tuple(sorted(common))
    return ("explained-apart",) if sum(map(bool, explained)) >= _ALL_BUT_A_FEW * len(explained) else ()


def _run_less(one: Became, explanations: Explanations) -> Iterator[Signal]:
    was, now = one.before.test, one.after.test
    if now.running < was.running and not _ended_at_once(was):
        name = "test-skipped" if now.running is Running.NEVER else "test-sometimes-skipped"
        foreign = ("other-platform",) if is_elsewhere(now.reason or "") else ()
        explained = (*foreign, *explanations.of_condition(now.reason or ""), *explanations.of_skipped(one.before))
        explained = (*explained, *_was_needed(one, now.reason or ""))
        if explanations.requirements_changed and _FAILS.match(now.reason or ""):
            explained = (*explained, "fails-with-dependencies")
        yield signal_of(name, one, was="runs", now=now.reason or "skipped", explained=explained)
    if lost := len(was.cases) - len(now.cases):
        gone = list((Counter(was.cases) - Counter(now.cases)).elements())
        if lost > 0 and gone:
            is_given = now.is_given and not was.is_given
            explained = ("given",) if is_given else explanations.of_cases(one, gone)
            if not now.cases and not explained and _takes_more(one):
                explained = ("by-fixture",)
            is_computed = any(_COMPUTED.fullmatch(case) for case in now.cases if case not in was.cases)
            if is_computed and not is_given and "source-changed" not in explained:
                explained = (*explained, "computed")
            yield signal_of("cases-removed", one, was=", ".join(gone[:5]), amount=lost, explained=explained)
    if now.leaves and not was.leaves:
        asks = _LEAVES_IF.fullmatch(now.leaves)
        explained = ("other-platform",) if asks and is_elsewhere(asks[1]) else ()
        yield signal_of("test-leaves", one, now=now.leaves, explained=explained)
    if (now.retries or 0) > (was.retries or 0):
        yield signal_of("retries-raised", one, was=str(was.retries or 0), now=str(now.retries))
    if was.timeout and now.timeout and now.timeout > was.timeout:
        yield signal_of(
            "timeout-raised", one, was=f"{was.timeout:g} s", now=f"{now.timeout:g} s", amount=now.timeout / was.timeout
        )


def _ended_at_once(was: Test) -> bool:
    """Nothing that it would ask was ever reached: to say so is to skip nothing."""
    return was.leaves is not None and was.unreached > 0 and not was.assertions


def _takes_more(one: Became) -> bool:
    """All its cases are gone, and it takes something that it did not take before: a fixture may have as many."""
    was, now = (_PARAMETERS.search(side.text) for side in (one.before, one.after))
    taken = [frozenset(_NAME.findall(found[1])) if found else frozenset[str]() for found in (was, now)]
    return bool(taken[1] - taken[0] - _OF_PYTEST)


def _was_needed(one: Became, reason: str) -> Iterator[str]:
    """It is skipped where something is not installed without which the file could not be loaded before."""
    found = _NOT_INSTALLED.match(reason)
    if found and re.search(rf"(?m)^(?:import|from)\s+{re.escape(found[2])}(?![\w])", one.before.side.text):
        yield "was-needed"


def is_elsewhere(reason: str) -> bool:
    """It is skipped only on platforms that hardly anybody works and checks on: it still runs here."""
    condition, *_ = reason.split(": ")
    if _PRERELEASE.fullmatch(condition) or _UNWINDS.fullmatch(condition):
        return True
    if unless := _SKIPS_UNLESS.fullmatch(condition):
        condition = unless[1]
    narrowed = _AND.split(condition)
    if len(narrowed) > 1 and not _OR.search(condition):
        return any(map(is_elsewhere, narrowed))  # each of them leaves fewer on which it is skipped
    if _NOT_HERE.fullmatch(condition):
        return True
    if _TURNED.search(condition):
        return False
    words = set(re.findall(r"[A-Za-z_]\w*", condition)) - _OF_PLATFORMS
    return bool(words) and all(_FOREIGN.fullmatch(word) for word in words)


def _suites(tests: Tests) -> Iterator[Signal]:
    """All tests of a file that has several, skipped at once."""
    by_file: dict[str, list[Became]] = defaultdict(list)
    for one in tests.kept:
        if one.how != "hidden":
            by_file[one.after.path].append(one)
    for path, kept in by_file.items():
        skipped = [one for one in kept if one.differs and _is_newly_skipped(one)]
        if len(skipped) > 1 and len(skipped) == len(kept):
            reason = skipped[0].after.test.reason
            yield Signal("suite-skipped", path, skipped[0].after.line, subject=path, now=reason, amount=len(skipped))


def _is_newly_skipped(one: Became) -> bool:
    is_skipped = one.before.test.running > one.after.test.running is Running.NEVER
    return is_skipped and not _ended_at_once(one.before.test)


def _commented_out(comparison: Comparison, tests: Tests) -> Iterator[Signal]:
    """A test that is gone, or is taken for another that is new, and stands in a comment."""
    gone = {*(one.path for one in tests.removed), *(one.before.path for one in tests.kept if one.how == "renamed")}
    for pair in comparison.pairs:
        if pair.after is None or pair.before is None or pair.before.path not in gone:
            continue
        commented = [one for one in pair.after.facts.commented if one.is_test]
        known = {one.text for one in pair.before.facts.commented} if commented else set()
        for one in commented:
            if one.text not in known:
                yield Signal("test-commented-out", pair.path, one.line, subject=one.text.strip()[:80], amount=one.lines)
