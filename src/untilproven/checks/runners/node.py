"""`node --test`: its reporters are options of node, which stand before any file; a variable reaches it anywhere."""

from untilproven.checks.reports import junit
from untilproven.checks.runners.reporting import Call, Reporting
from untilproven.contract import Exchange


def reporting(call: Call, scratch: Exchange) -> Reporting | None:
    if "--test" not in call.arguments:
        return None
    report = scratch.outside / "node.xml"
    pairs = (("spec", "stdout"), ("junit", scratch.inside / report.name))
    options = " ".join(f"--test-reporter={kind} --test-reporter-destination={place}" for kind, place in pairs)
    return Reporting(
        before=f'NODE_OPTIONS="${{NODE_OPTIONS-}} {options}"', read=lambda: junit.read(report, junit.by_suite)
    )
