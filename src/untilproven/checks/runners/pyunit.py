"""unittest has no report of its own: our reporter runs in its place, in the project's Python."""

import shlex
from pathlib import Path

from untilproven.checks.reports import pyunit
from untilproven.checks.runners.reporting import Call, Reporting
from untilproven.contract import Exchange

_REPORTER = "pyunit_reporter.py"


def reporting(call: Call, scratch: Exchange) -> Reporting | None:
    words = call.line.words
    if words[call.at - 1].text != "-m":
        return None
    report, reporter = scratch.outside / "unittest.json", scratch.inside / _REPORTER
    source = Path(__file__).with_name(_REPORTER).read_bytes()
    python = call.line.text[words[0].start : words[call.at - 1].start].rstrip()
    return Reporting(
        files=((_REPORTER, source),),
        instead=f"{python} {shlex.quote(str(reporter))} {shlex.quote(str(scratch.inside / report.name))}",
        read=lambda: pyunit.read(report),
    )
