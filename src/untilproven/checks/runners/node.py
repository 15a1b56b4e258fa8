"""`node --test`: its reporters are options of node, which stand before any file; a variable reaches it anywhere."""

from pathlib import Path

from untilproven.checks.reports import junit
from untilproven.checks.runners.reporting import Call, Reporting


def reporting(call: Call, scratch: Path) -> Reporting | None:
    if "--test" not in call.arguments:
        return None
    report = scratch / "node.xml"
    pairs = (("spec", "stdout"), ("junit", report))
    options = " ".join(f"--test-reporter={kind} --test-reporter-destination={place}" for kind, place in pairs)
    return Reporting(
        before=f'NODE_OPTIONS="${{NODE_OPTIONS-}} {options}"', read=lambda: junit.read(report, junit.by_suite)
    )
