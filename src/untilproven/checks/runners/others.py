"""ctest, rspec, phpunit and dotnet: one option each."""

import shlex
from pathlib import Path

from untilproven.checks.reports import junit, rspec, trx
from untilproven.checks.runners.reporting import Call, Reporting
from untilproven.contract import TestResult

_MOST = 1_000


def ctest(call: Call, scratch: Path) -> Reporting:  # noqa: ARG001 - every runner is asked alike
    report = scratch / "ctest.xml"
    return Reporting(last=shlex.join(["--output-junit", str(report)]), read=lambda: junit.read(report))


def rspec_(call: Call, scratch: Path) -> Reporting:
    report = scratch / "rspec.json"
    own = any(word.startswith(("-f", "--format")) for word in call.arguments)
    options = [*([] if own else ["--format", "progress"]), "--format", "json", "--out", str(report)]
    return Reporting(last=shlex.join(options), read=lambda: rspec.read(report, call.root))


def phpunit(call: Call, scratch: Path) -> Reporting:  # noqa: ARG001 - every runner is asked alike
    report = scratch / "phpunit.xml"
    return Reporting(last=shlex.join(["--log-junit", str(report)]), read=lambda: junit.read(report))


def dotnet(call: Call, scratch: Path) -> Reporting | None:
    """One file for each test project, under names that dotnet chooses."""
    if call.arguments[:1] != ("test",):
        return None
    reports = scratch / "trx"

    def read() -> list[TestResult]:
        return [result for report in sorted(reports.glob("*.trx"))[:_MOST] for result in trx.read(report)]

    return Reporting(last=shlex.join(["--logger", "trx", "--results-directory", str(reports)]), read=read)
