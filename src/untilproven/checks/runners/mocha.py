"""mocha, whose one reporter is its JSON one; what failed is shown from there."""

import shlex

from untilproven.checks.reports import mocha
from untilproven.checks.runners.reporting import Call, Reporting
from untilproven.contract import Exchange


def reporting(call: Call, scratch: Exchange) -> Reporting:
    report = scratch.outside / "mocha.json"
    options = ["--reporter", "json", "--reporter-option", f"output={scratch.inside / report.name}"]
    return Reporting(last=shlex.join(options), read=lambda: mocha.read(report, call.root))
