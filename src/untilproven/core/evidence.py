"""From what a check found to what the journal says of it."""

from msgspec import UNSET

from untilproven.contract import Check, Evidence
from untilproven.core.proof import lost
from untilproven.core.text import cut
from untilproven.model.events import CheckFinished
from untilproven.model.persistence import TestResults

OUTPUT_BYTES = 64 * 1024
"""How much of a check's output the journal keeps."""


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
        lost=(lost(before, outcomes) or UNSET) if iteration else UNSET,
        tests=_counts(outcomes) if found.tests is not None else UNSET,
        outcomes=outcomes if not iteration and outcomes else UNSET,
        duration_seconds=round(found.seconds, 6),
    )


def _counts(outcomes: dict[str, str]) -> TestResults:
    ended = list(outcomes.values())
    return TestResults(
        total=len(ended),
        passed=ended.count("passed"),
        failed=ended.count("failed") + ended.count("error"),
        skipped=ended.count("skipped"),
    )
