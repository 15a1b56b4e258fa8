"""`go test`, asked for events in JSON."""

from untilproven.checks.reports import gotest
from untilproven.checks.runners.reporting import Call, Reporting
from untilproven.contract import Exchange


def reporting(call: Call, scratch: Exchange) -> Reporting | None:
    if call.arguments[:1] != ("test",):
        return None
    report = scratch.outside / "go.json"
    return Reporting(
        first="-json",
        behind=1,
        printed=scratch.inside / "go.json",
        read=lambda: gotest.read(report),
        shown=lambda: gotest.shown(report),
    )
