"""mocha, whose one reporter is its JSON one; what failed is shown from there."""

import shlex
from pathlib import Path

from untilproven.checks.reports import mocha
from untilproven.checks.runners.reporting import Call, Reporting


def reporting(call: Call, scratch: Path) -> Reporting:
    report = scratch / "mocha.json"
    options = ["--reporter", "json", "--reporter-option", f"output={report}"]
    return Reporting(last=shlex.join(options), read=lambda: mocha.read(report, call.root))
