"""Code that asks whether it is being tested, and did not before."""

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from untilproven.guard.comparison import Comparison
from untilproven.guard.finding import Signal
from untilproven.guard.outskirts import is_beside, is_tooling
from untilproven.guard.pairing import Placed, functions_of
from untilproven.guard.signals.setting_up import only_sets_up

_CI = re.compile(
    r"(?<![\w-])(?:CI|GITHUB_ACTIONS|GITLAB_CI|TRAVIS|CIRCLECI|JENKINS_URL|CONTINUOUS_INTEGRATION)(?![\w-])"
)
_BUILDS = re.compile(
    r"(?:^|/)(?:scripts?|tools?|tasks?|ci|\.ci|docs?|website|bench\w*)/|(?:^|/)(?:noxfile|tasks|setup|conf)\.py$"
    r"|\.config\.[cm]?[jt]s$|(?:^|/)(?:gulp|grunt)file\.\w+$",
    re.IGNORECASE,
)
"""What is run to build, and by nobody who uses the code."""
_TEST = re.compile(r"(?i)test|spec|jest|mocha|karma|jasmine")


def tested(comparison: Comparison) -> Iterator[Signal]:
    """A question that went from one place to another is not new; one in place of another leaves a warning."""
    if not any(_asks_now(comparison)):
        return
    asked, gone = list[Signal](), Counter[str]()
    for signals, went in (*_in_functions(comparison), *_outside(comparison)):
        asked += signals
        gone += went
    if asked:
        gone.update(_with_what_is_gone(comparison))
    for signal in asked:
        text = signal.now or ""
        explained = ("moved",) if gone[text] else ("instead",) if gone else tuple(_said_for(text, signal.path))
        if gone[text]:
            gone[text] -= 1
        yield msgspec.structs.replace(signal, explained=explained or signal.explained)


def _said_for(question: str, path: str) -> Iterator[str]:
    """It asks for the machine that builds, where nobody looks at colours and progress, and for no test."""
    if _CI.search(question) and not _TEST.search(question):
        yield "of-machines"
        if _BUILDS.search(path):
            yield "builds"


def _asks_now(comparison: Comparison) -> Iterator[bool]:
    for _, after in functions_of(comparison):
        yield not after.pair.is_test and bool(after.function.asks_if_tested)
    for pair in comparison.pairs:
        yield not pair.is_test and pair.after is not None and bool(pair.after.facts.asks_if_tested)


_Found = tuple[list[Signal], Counter[str]]
"""What is asked now, and what is asked no longer."""


def _in_functions(comparison: Comparison) -> Iterator[_Found]:
    for before, after in functions_of(comparison):
        if not after.pair.is_test:
            was = Counter(before.function.asks_if_tested if before else ())
            now = Counter(after.function.asks_if_tested)
            come = (now - was).elements()
            yield [_in_function(after, text) for text in come], was - now


def _in_function(function: Placed, question: str) -> Signal:
    said = ("beside",) if is_beside(function.path) or is_tooling(function.path) else ()
    if not said and only_sets_up(question, function.text, is_outside=False):
        said = ("sets-up",)
    return Signal("asks-if-tested", function.path, function.line, function.name, now=question, explained=said)


def _outside(comparison: Comparison) -> Iterator[_Found]:
    for pair in comparison.pairs:
        if pair.after and not pair.is_test and pair.kind not in {"dependencies", "cache"}:
            was = Counter(pair.before.facts.asks_if_tested if pair.before else ())
            now = Counter(pair.after.facts.asks_if_tested)
            yield [_signal(pair.path, pair.after.text, text) for text in (now - was).elements()], was - now


def _with_what_is_gone(comparison: Comparison) -> Iterator[str]:
    """Questions of files and functions that are there no longer."""
    for pair in comparison.of_kind("source", "script"):
        there = {one.name for one in pair.after.facts.declarations} if pair.after else set[str]()
        if pair.before is None or pair.is_test:
            continue
        if pair.after is None:
            yield from pair.before.facts.asks_if_tested
        for one in pair.before.facts.declarations:
            if not one.is_test and one.name not in there:
                yield from pair.before.function(one).asks_if_tested


def _signal(path: str, source: str, text: str) -> Signal:
    line = source.count("\n", 0, max(source.find(text), 0)) + 1
    said = ("tooling",) if is_tooling(path) else ("beside",) if is_beside(path) else ()
    if not said and only_sets_up(text, source, is_outside=True):
        said = ("sets-up",)
    return Signal("asks-if-tested", path, line, text[:120], now=text, explained=said)
