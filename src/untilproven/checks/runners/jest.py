"""jest and vitest, which write the same JSON beside what they print."""

import shlex

from untilproven.checks.reports import jest
from untilproven.checks.runners.reporting import Call, Reporting
from untilproven.contract import Exchange


def reporting(call: Call, scratch: Exchange) -> Reporting:
    report = scratch.outside / "jest.json"
    options = ["--json", f"--outputFile={scratch.inside / report.name}"]
    return Reporting(last=shlex.join(options), read=lambda: jest.read(report, call.root))


def vitest(call: Call, scratch: Exchange) -> Reporting:
    report = scratch.outside / "vitest.json"
    own = any(word.startswith("--reporter") for word in call.arguments)
    options = [*([] if own else ["--reporter=default"]), "--reporter=json"]
    options.append(f"--outputFile.json={scratch.inside / report.name}")
    return Reporting(last=shlex.join(options), read=lambda: jest.read(report, call.root))
