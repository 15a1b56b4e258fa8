"""ctest, rspec, phpunit and dotnet: one option each."""

import shlex

from untilproven.checks.reports import junit, rspec, trx
from untilproven.checks.runners.reporting import Call, Reporting
from untilproven.contract import Exchange, TestResult
from untilproven.process import beneath

_MOST = 1_000


def ctest(call: Call, scratch: Exchange) -> Reporting:  # noqa: ARG001 - every runner is asked alike
    report = scratch.outside / "ctest.xml"
    return Reporting(
        last=shlex.join(["--output-junit", str(scratch.inside / report.name)]), read=lambda: junit.read(report)
    )


def rspec_(call: Call, scratch: Exchange) -> Reporting:
    report = scratch.outside / "rspec.json"
    own = any(word.startswith(("-f", "--format")) for word in call.arguments)
    options = [
        *([] if own else ["--format", "progress"]),
        "--format",
        "json",
        "--out",
        str(scratch.inside / report.name),
    ]
    return Reporting(last=shlex.join(options), read=lambda: rspec.read(report, call.root))


def phpunit(call: Call, scratch: Exchange) -> Reporting:  # noqa: ARG001 - every runner is asked alike
    report = scratch.outside / "phpunit.xml"
    return Reporting(
        last=shlex.join(["--log-junit", str(scratch.inside / report.name)]), read=lambda: junit.read(report)
    )


def dotnet(call: Call, scratch: Exchange) -> Reporting | None:
    """One file for each test project, under names that dotnet chooses."""
    if call.arguments[:1] != ("test",):
        return None

    def read() -> list[TestResult]:
        reports = beneath.find(scratch.outside, "trx/*.trx")[:_MOST]
        return [result for report in reports for result in trx.read(scratch.outside / report)]

    options = ["--logger", "trx", "--results-directory", str(scratch.inside / "trx")]
    return Reporting(last=shlex.join(options), read=read)
