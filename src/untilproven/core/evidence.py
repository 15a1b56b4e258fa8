"""From what a check found to what the journal says of it."""

from collections.abc import Mapping

from msgspec import UNSET

from untilproven.contract import Check, Evidence
from untilproven.core.proof import lost
from untilproven.core.text import cut
from untilproven.model.events import CheckFinished
from untilproven.model.persistence import TestResults

OUTPUT_BYTES = 64 * 1024
"""How much of a check's output the journal keeps."""

_NAMED = 5


def finished(
    iteration: int, check: Check, found: Evidence, control: CheckFinished | None, *, broken: bool
) -> CheckFinished:
    """A check that has run; compared with the control, which itself keeps how every test ended."""
    outcomes = {test.name: test.outcome for test in found.tests or ()}
    before = (control.outcomes or {}) if control else {}
    return CheckFinished(
        iteration=iteration,
        check=check.name,
        kind=check.kind,
        passed=found.passed,
        output=cut(found.output, OUTPUT_BYTES),
        broken=broken or UNSET,
        missing=found.missing or UNSET,
        lost=(lost(before, outcomes) or _vanished(before, outcomes) or UNSET) if iteration else UNSET,
        tests=_counts(outcomes) if found.tests is not None else UNSET,
        outcomes=outcomes if not iteration and outcomes else UNSET,
        duration_seconds=round(found.seconds, 6),
        only_with=found.only_with or UNSET,
        canary=found.canary or UNSET,
        new_tests=found.new_tests or UNSET,
        flaky=found.flaky or UNSET,
    )


def _vanished(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Tests that failed in the control and are not seen to pass, but to be run no more.

    An error counts as a test if it stands beside others that are tests for certain: a file that could not be loaded
    is none, and becomes the tests that are in it.
    """
    certain = {_place(name) for name, outcome in before.items() if outcome in {"passed", "failed"}} - {""}
    red = [
        name
        for name, outcome in before.items()
        if outcome == "failed" or (outcome == "error" and _place(name) in certain)
    ]
    if gone := [name for name in red if now.get(name, "skipped") == "skipped"]:
        more = f" and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
        return f"tests that failed before are not run any more: {', '.join(gone[:_NAMED])}{more}"
    were, are = _ran(before), _ran(now)
    return f"fewer tests are run than before: {are}, not {were}" if are < were else ""


def _place(name: str) -> str:
    """The class, file or suite that a test is in, by the signs that runners put between them."""
    return max((name.rpartition(sign)[0] for sign in ("::", " > ", ".", "/")), key=len)


def _ran(outcomes: Mapping[str, str]) -> int:
    return sum(outcome != "skipped" for outcome in outcomes.values())


def _counts(outcomes: dict[str, str]) -> TestResults:
    ended = list(outcomes.values())
    return TestResults(
        total=len(ended),
        passed=ended.count("passed"),
        failed=ended.count("failed") + ended.count("error"),
        skipped=ended.count("skipped"),
    )
