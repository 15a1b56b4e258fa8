"""maven and gradle, which write one XML file for each test class, many in a project of modules."""

import secrets
import shlex

from untilproven.checks.reports import junit
from untilproven.checks.reports.results import Unreadable
from untilproven.checks.runners.reporting import Call, Reporting
from untilproven.contract import Exchange, TestResult
from untilproven.process import beneath
from untilproven.store.files import READ_LIMIT

_MAVEN_GOALS = frozenset({"test", "verify", "install", "package", "integration-test"})
_REPORTS = ("surefire-reports", "failsafe-reports")
_INIT = """\
allprojects {
    tasks.withType(Test).configureEach {
        reports.junitXml.outputLocation = new File(%s, path.replace(":", "_"))
        outputs.upToDateWhen { false }
    }
}
"""


def maven(call: Call, scratch: Exchange) -> Reporting | None:  # noqa: ARG001 - every runner is asked alike
    """Surefire takes no other directory, but a suffix: files with a fresh one are this run's."""
    if not _MAVEN_GOALS.intersection(call.arguments):
        return None
    suffix = secrets.token_hex(8)
    return Reporting(
        last=f"-Dsurefire.reportNameSuffix={suffix}", read=lambda: _without(suffix, _surefire(call, suffix))
    )


def gradle(call: Call, scratch: Exchange) -> Reporting | None:
    """An init script sends the reports to a fresh place, and runs tests that gradle thinks it has seen."""
    if not any(word.rpartition(":")[2] in {"test", "check", "build"} for word in call.arguments):
        return None
    source = (_INIT % f"'{scratch.inside / 'gradle'}'").encode()

    def read() -> list[TestResult]:
        reports = beneath.find(scratch.outside, "gradle/**/TEST-*.xml")
        return [result for report in reports for result in junit.read(scratch.outside / report)]

    return Reporting(
        files=(("init.gradle", source),),
        last=shlex.join(["--init-script", str(scratch.inside / "init.gradle")]),
        read=read,
    )


def _surefire(call: Call, suffix: str) -> list[TestResult]:
    """They lie in the tree, as the room has it."""
    room = call.room
    if room is None:
        return []
    found = [
        report
        for directory in _REPORTS
        for report in room.find(str(call.directory / f"**/{directory}/TEST-*{suffix}.xml"))
    ]
    results: list[TestResult] = []
    for report in sorted(found):
        text = room.read(report, READ_LIMIT)
        if text is None:
            raise Unreadable(f"the test runner's report {report.name} cannot be read")
        results += junit.read(text)
    return results


def _without(suffix: str, results: list[TestResult]) -> list[TestResult]:
    """Surefire puts the suffix behind class names too, and a name must be the same in the next run."""
    return [TestResult(one.name.replace(f"({suffix})", ""), one.outcome, one.message) for one in results]
