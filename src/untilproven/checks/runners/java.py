"""maven and gradle, which write one XML file for each test class, many in a project of modules."""

import itertools
import os
import secrets
import shlex
from collections.abc import Iterator
from pathlib import Path

from untilproven.checks.reports import junit
from untilproven.checks.runners.reporting import Call, Reporting
from untilproven.contract import TestResult

_MAVEN_GOALS = frozenset({"test", "verify", "install", "package", "integration-test"})
_REPORTS = frozenset({"surefire-reports", "failsafe-reports"})
_MOST = 20_000
_INIT = """\
allprojects {
    tasks.withType(Test).configureEach {
        reports.junitXml.outputLocation = new File(%s, path.replace(":", "_"))
        outputs.upToDateWhen { false }
    }
}
"""


def maven(call: Call, scratch: Path) -> Reporting | None:  # noqa: ARG001 - every runner is asked alike
    """Surefire takes no other directory, but a suffix: files with a fresh one are this run's."""
    if not _MAVEN_GOALS.intersection(call.arguments):
        return None
    suffix = secrets.token_hex(8)
    return Reporting(
        last=f"-Dsurefire.reportNameSuffix={suffix}", read=lambda: _without(suffix, _read(_surefire(call.root, suffix)))
    )


def gradle(call: Call, scratch: Path) -> Reporting | None:
    """An init script sends the reports to a fresh place, and runs tests that gradle thinks it has seen."""
    if not any(word.rpartition(":")[2] in {"test", "check", "build"} for word in call.arguments):
        return None
    script, reports = scratch / "init.gradle", scratch / "gradle"
    source = (_INIT % f"'{reports}'").encode()
    return Reporting(
        files=((script, source),),
        last=shlex.join(["--init-script", str(script)]),
        read=lambda: _read(sorted(_files(reports, frozenset()))),
    )


def _surefire(root: Path, suffix: str) -> list[Path]:
    return sorted(path for path in _files(root, _REPORTS) if path.stem.endswith(suffix))


def _files(top: Path, parents: frozenset[str]) -> Iterator[Path]:
    walked = os.walk(top, followlinks=False)
    found = (
        Path(place, name)
        for place, _, names in walked
        if not parents or Path(place).name in parents
        for name in names
        if name.startswith("TEST-") and name.endswith(".xml")
    )
    return itertools.islice(found, _MOST)


def _read(reports: list[Path]) -> list[TestResult]:
    return [result for report in reports for result in junit.read(report)]


def _without(suffix: str, results: list[TestResult]) -> list[TestResult]:
    """Surefire puts the suffix behind class names too, and a name must be the same in the next run."""
    return [TestResult(one.name.replace(f"({suffix})", ""), one.outcome, one.message) for one in results]
