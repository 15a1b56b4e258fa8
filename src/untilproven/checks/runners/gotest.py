"""`go test`, asked for events in JSON."""

from pathlib import Path

from untilproven.checks.reports import gotest
from untilproven.checks.runners.reporting import Call, Reporting


def reporting(call: Call, scratch: Path) -> Reporting | None:
    if call.arguments[:1] != ("test",):
        return None
    report = scratch / "go.json"
    return Reporting(
        first="-json",
        behind=1,
        printed=report,
        read=lambda: gotest.read(report),
        shown=lambda: gotest.shown(report),
    )
