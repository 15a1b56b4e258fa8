"""`coverage json`."""

import msgspec

from untilproven.checks.metrics.readers.counted import Counted, share
from untilproven.checks.metrics.readers.documents import decoded


class _Summary(msgspec.Struct):
    covered_lines: int
    num_statements: int
    covered_branches: int = 0
    num_branches: int = 0


class _File(msgspec.Struct):
    summary: _Summary


class _Report(msgspec.Struct):
    files: dict[str, _File]
    totals: _Summary


def read(report: bytes) -> Counted:
    found = decoded(report, _Report, "coverage.py")
    branches = share(found.totals.covered_branches, found.totals.num_branches)
    return Counted(
        tool="coverage.py",
        lines=share(found.totals.covered_lines, found.totals.num_statements),
        branches=branches if branches.valid else None,
        files={
            name: share(file.summary.covered_lines, file.summary.num_statements) for name, file in found.files.items()
        },
    )
