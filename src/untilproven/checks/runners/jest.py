"""jest and vitest, which write the same JSON beside what they print."""

import shlex
from pathlib import Path

from untilproven.checks.reports import jest
from untilproven.checks.runners.reporting import Call, Reporting


def reporting(call: Call, scratch: Path) -> Reporting:
    report = scratch / "jest.json"
    return Reporting(last=shlex.join(["--json", f"--outputFile={report}"]), read=lambda: jest.read(report, call.root))


def vitest(call: Call, scratch: Path) -> Reporting:
    report = scratch / "vitest.json"
    own = any(word.startswith("--reporter") for word in call.arguments)
    options = [*([] if own else ["--reporter=default"]), "--reporter=json", f"--outputFile.json={report}"]
    return Reporting(last=shlex.join(options), read=lambda: jest.read(report, call.root))
