"""From two trees to findings."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import msgspec
from ast_grep_py import Config, Rule, SgRoot

from untilproven.guard.asking import asked
from untilproven.guard.catalogue import Pattern, patterns
from untilproven.guard.change import Change
from untilproven.guard.comparison import Comparison, Side
from untilproven.guard.explaining import Explanations
from untilproven.guard.finding import Finding, NotAnalysed, Severity, Signal
from untilproven.guard.kinds import Kind
from untilproven.guard.languages import grammar_of
from untilproven.guard.pairing import tests_of
from untilproven.guard.runners import is_another
from untilproven.guard.signals import all_of

_LONGEST = 200
_FIXTURE, _IN_FIXTURES = "fixture", 3
_OTHER_RUNNER = "other-runner"
IN_DOUBT = "in-doubt"
_OF_TESTS = frozenset({"test_deletion", "test_skipping", "assertion_weakening"})
_AGAINST_TESTS = frozenset({"test-removed", "test-file-removed", "test-skipped", "test-emptied", "assertion-weakened"})
_A_FEW = 8
"""More than that is not lost on the way to another runner."""
_FIXTURES = re.compile(r"(?:^|/)(?:__)?fixtures?(?:__)?/.*\.\w+$")


class Judgement(msgspec.Struct, frozen=True):
    findings: tuple[Finding, ...]
    not_analysed: tuple[NotAnalysed, ...]

    @property
    def blocks(self) -> bool:
        return any(finding.blocks for finding in self.findings)


def judge(changes: Iterable[Change], *, task: str = "", reviewed: bool = False) -> Judgement:
    """`task` is what a person asked for; what the one who made the changes says of them counts for nothing. `reviewed`
    says that a person reads them: what may as well be done on purpose is left to that person, as a warning."""
    comparison = Comparison(changes)
    kinds = {pair.path: pair.kind for pair in comparison.pairs}
    kinds |= {pair.before.path: pair.kind for pair in comparison.pairs if pair.before}
    signals = [*signals_of(comparison), *_of_syntax(comparison)]
    if 0 < sum(signal.amount for signal in signals if signal.name in _AGAINST_TESTS) <= _A_FEW and is_another(
        comparison
    ):
        signals = [_with(signal, _OTHER_RUNNER) for signal in signals]
    findings = weigh(signals, kinds, task=task, reviewed=reviewed)
    return Judgement(findings, tuple(comparison.not_analysed))


def weigh(
    signals: Iterable[Signal], kinds: Mapping[str, Kind], *, task: str = "", reviewed: bool = False
) -> tuple[Finding, ...]:
    """What signals mean, the gravest first. `kinds` has what the paths are that they stand at."""
    if task:
        every = list(signals)
        signals = (_with(signal, how) if (how := asked(task, signal, every)) else signal for signal in every)
    signals = [_with(signal, _FIXTURE) if is_fixture(signal.path) else signal for signal in signals]
    if not signals:
        return ()
    found: dict[str, Finding] = {}
    names = {signal.name for signal in signals}
    for pattern in patterns():
        if names.isdisjoint(pattern.hears):
            continue
        fitting = [signal for signal in signals if pattern.fits(signal, kinds.get(signal.path, "source"))]
        if reviewed:
            fitting = [_with(one, IN_DOUBT) if _is_left_to_a_person(pattern, one) else one for one in fitting]
        for finding in _findings(pattern, fitting):
            worse = found.get(finding.id)
            if worse is None or worse.severity < finding.severity:
                found[finding.id] = finding
    return tuple(sorted(found.values(), key=lambda one: (-one.severity, one.path, one.line, one.pattern)))


def signals_of(comparison: Comparison) -> Iterator[Signal]:
    tests = tests_of(comparison)
    return all_of(comparison, tests, Explanations(comparison, tests))


def _findings(pattern: Pattern, signals: list[Signal]) -> Iterator[Finding]:
    if pattern.when.together > 1:
        heavy = [signal for signal in signals if _weight(pattern, signal) is pattern.weight]
        if len(heavy) < pattern.when.together:
            return
        first, others = heavy[0], len(heavy) - 1
        signals = [msgspec.structs.replace(first, subject=f"{first.subject} and {others} more", amount=len(heavy))]
    for signal in signals:
        weight = _weight(pattern, signal)
        doubts = pattern.doubts if IN_DOUBT in signal.explained else ()
        yield Finding(
            pattern=pattern.id,
            name=pattern.name,
            severity=weight,
            path=signal.path,
            line=signal.line,
            subject=signal.subject,
            message=_message(pattern, signal),
            category=pattern.category,
            recovery=pattern.recovery,
            regression=pattern.regression,
            explained=tuple(reason for reason in signal.explained if _counts(pattern, reason) or reason in doubts),
            was=signal.was,
            now=signal.now,
        )


def _weight(pattern: Pattern, signal: Signal) -> Severity:
    """A task that is only about the same thing leaves a warning, and so do another test runner and doubt."""
    weight = pattern.weight.lowered(sum(_lowers(pattern, reason) for reason in signal.explained))
    leaving = ("asked-about", _OTHER_RUNNER, IN_DOUBT)
    if any(reason in signal.explained and _counts(pattern, reason) for reason in leaving):
        weight = min(weight, Severity.MEDIUM)
    return weight


def _is_left_to_a_person(pattern: Pattern, signal: Signal) -> bool:
    return pattern.is_doubtful(signal) and _weight(pattern, signal) >= Severity.HIGH


def _lowers(pattern: Pattern, reason: str) -> int:
    return _IN_FIXTURES if reason == _FIXTURE else pattern.lowered_by.get(reason, 0)


def _counts(pattern: Pattern, reason: str) -> bool:
    if reason == IN_DOUBT:
        return True
    if reason == _OTHER_RUNNER:
        return pattern.category in _OF_TESTS
    return bool(_lowers(pattern, reason)) or (reason == "asked-about" and "asked-for" in pattern.lowered_by)


def _message(pattern: Pattern, signal: Signal) -> str:
    cut = {
        name: _cut(text or "") for name, text in (("subject", signal.subject), ("was", signal.was), ("now", signal.now))
    }
    return pattern.says.format(path=signal.path, amount=f"{signal.amount:g}", **cut)


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def is_fixture(path: str) -> bool:
    """Code that tests use as data: what looks like a test there is run by none, or on purpose in another way."""
    return bool(_FIXTURES.search(path)) and grammar_of(path) is not None


def _with(signal: Signal, reason: str) -> Signal:
    return msgspec.structs.replace(signal, explained=(*signal.explained, reason))


def _of_syntax(comparison: Comparison) -> Iterator[Signal]:
    """What patterns that are rules of ast-grep find more often than before."""
    ruled: dict[str, list[Pattern]] = defaultdict(list)
    for pattern in patterns():
        for grammar in pattern.when.syntax:
            ruled[grammar].append(pattern)
    for pair in comparison.pairs:
        for pattern in ruled.get(grammar_of(pair.path) or "", ()):
            rule = pattern.when.syntax[grammar_of(pair.path) or ""]
            was = Counter(text for text, _ in _matches(pair.before, rule))
            for text, line in _matches(pair.after, rule):
                if was[text]:
                    was[text] -= 1
                else:
                    yield Signal(pattern.id, pair.path, line, subject=text, now=text)


def _matches(side: Side | None, rule: dict[str, object]) -> Iterator[tuple[str, int]]:
    if side is None:
        return
    root = SgRoot(side.text, grammar_of(side.path) or "").root()
    for node in root.find_all(Config(rule=cast("Rule", rule))):  # the patterns' examples are its test
        yield node.text(), node.range().start.line + 1
