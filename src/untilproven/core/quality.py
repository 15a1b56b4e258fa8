"""How good is what an iteration left? Five dimensions, each from evidence; one without evidence is left out.

validation    30  types and lint against the baseline: all there were gone is 100, as many as before 70, more is less
completeness  25  the share of the completion criteria that pass
correctness   25  the share of tests that pass, of those there are or were; 25 less for each way in which it got worse
readability   10  100, less 10 for each warning and 3 for each note of the guard's, less 2 for each new lint warning
efficiency    10  100 for a small change, 50 for one of a hundred files; half of that if nothing was gained
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec
from msgspec import UNSET

from untilproven.model.events import CheckFinished
from untilproven.model.fields import Severity
from untilproven.model.iteration import Finding
from untilproven.model.persistence import QualityBreakdown, TestResults

WEIGHTS = {"validation": 30, "completeness": 25, "correctness": 25, "readability": 10, "efficiency": 10}
ACCEPTABLE = 70
PLATEAU = 3
LEAST_GAIN = 0.05
"""What counts as a gain, relative to what was there."""

_AS_BEFORE = 70.0
_LOST = 25.0
_SEEN = {Severity.MEDIUM: 10.0, Severity.LOW: 3.0}
_WARNING = 2.0
_LARGE = 100


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to judge an iteration by."""

    checks: Mapping[str, CheckFinished] = {}
    wanted: Sequence[str] = ()
    """The checks that are the completion criteria."""
    control: Mapping[str, CheckFinished] = {}
    findings: Sequence[Finding] | None = None
    """None if nobody has looked."""
    files: int = 0
    problems: Sequence[tuple[int, int]] = ()
    """Of each kind that was measured, types and lint: how many there were before the work, and how many there are."""
    new_warnings: int | None = None
    """How many more lint warnings there are than before the work; None if that was not measured."""
    progressed: bool = False


class Scored(msgspec.Struct, frozen=True):
    iteration: int
    score: float
    clean: bool = True
    """Without a finding."""


def score(evidence: Evidence) -> tuple[float, QualityBreakdown] | None:
    """Of 100; None if there is no evidence at all."""
    found = {
        "validation": _validation(evidence),
        "completeness": _completeness(evidence),
        "correctness": _correctness(evidence),
    }
    known = {name: value for name, value in found.items() if value is not None}
    if not known:
        return None
    known |= {"efficiency": _efficiency(evidence)}
    if (readable := _readability(evidence)) is not None:
        known["readability"] = readable
    total = sum(WEIGHTS[name] * value for name, value in known.items()) / sum(WEIGHTS[name] for name in known)
    return round(total, 1), msgspec.convert({name: round(value, 1) for name, value in known.items()}, QualityBreakdown)


def _validation(evidence: Evidence) -> float | None:
    values = [_against(was, now) for was, now in evidence.problems]
    return sum(values) / len(values) if values else None


def _against(was: int, now: int) -> float:
    if now > was:
        return _AS_BEFORE * was / now if was else _AS_BEFORE / (1 + now)
    return _AS_BEFORE + (100.0 - _AS_BEFORE) * (was - now) / was if was else 100.0


def _completeness(evidence: Evidence) -> float | None:
    seen = [evidence.checks[name] for name in evidence.wanted if name in evidence.checks]
    ran = [check for check in seen if not check.broken]
    return 100.0 * sum(check.passed for check in ran) / len(evidence.wanted) if ran else None


def _correctness(evidence: Evidence) -> float | None:
    shares = []
    for name, check in evidence.checks.items():
        if not check.tests or check.broken:
            continue
        before = evidence.control[name].tests if name in evidence.control else UNSET
        total = max(_total(check.tests), _total(before) if before else 0)
        if total:
            shares.append(100.0 * (check.tests.passed or 0) / total)
    if not shares:
        return None
    lost = sum(bool(check.lost) for check in evidence.checks.values())
    return max(sum(shares) / len(shares) - _LOST * lost, 0.0)


def _total(tests: TestResults) -> int:
    """Those that were skipped were not asked."""
    return max((tests.total or 0) - (tests.skipped or 0), 0)


def _readability(evidence: Evidence) -> float | None:
    if evidence.findings is None and evidence.new_warnings is None:
        return None
    less = sum(_SEEN.get(finding.severity, 0.0) for finding in evidence.findings or ())
    return max(100.0 - less - _WARNING * max(evidence.new_warnings or 0, 0), 0.0)


def _efficiency(evidence: Evidence) -> float:
    return 100.0 / (1 + evidence.files / _LARGE) * (1.0 if evidence.progressed else 0.5)


def best(scored: Sequence[Scored]) -> Scored | None:
    """The highest; of equals the earlier."""
    return max(scored, key=lambda one: (one.score, -one.iteration), default=None)


def is_worse(one: Scored, other: Scored) -> bool:
    """By more than what passes for the same."""
    return one.score < other.score * (1 - LEAST_GAIN)


def on_plateau(scored: Sequence[Scored]) -> bool:
    """The last iterations gained next to nothing each."""
    last = scored[-PLATEAU - 1 :]
    return len(last) == PLATEAU + 1 and not any(_gains(before, after) for before, after in pairwise(last))


def gains_in_a_row(scored: Sequence[Scored]) -> int:
    """How many of the last iterations each gained something, without a finding."""
    count = 0
    for before, after in zip(reversed(scored[:-1]), reversed(scored[1:]), strict=True):
        if not after.clean or not _gains(before, after):
            break
        count += 1
    return count


def _gains(before: Scored, after: Scored) -> bool:
    return after.score > before.score * (1 + LEAST_GAIN)
