"""Go's coverprofile: one block of statements a line. Go counts statements, and has no branches."""

import re
from collections import defaultdict

from untilproven.checks.metrics.readers.counted import Counted, Share, total
from untilproven.checks.reports.results import Unreadable

_BLOCK = re.compile(r"(.+):(\d+\.\d+,\d+\.\d+) (\d{1,9}) (\d{1,19})")


def read(report: bytes) -> Counted:
    """With `-coverpkg` each test package tells of every block: one that any of them reached is covered."""
    first, *rest = report.decode("utf-8", "replace").splitlines() or [""]
    if not first.startswith("mode: "):
        raise Unreadable("the report is not what go test writes: it does not begin with its mode")
    blocks: dict[tuple[str, str], Share] = {}
    for line in rest:
        if not line or line.startswith("mode: "):  # files that were put together have it again
            continue
        block = _BLOCK.fullmatch(line)
        if not block:
            raise Unreadable(f"the report is not what go test writes: {line[:100]}")
        statements = int(block[3])
        before = blocks.get((block[1], block[2]), Share(0, statements))
        if before.valid != statements:
            raise Unreadable(
                f"the report contradicts itself: {before.valid} and {statements} statements at {line[:100]}"
            )
        blocks[block[1], block[2]] = Share(statements, statements) if int(block[4]) else before
    files: dict[str, list[Share]] = defaultdict(list)
    for (name, _), share in blocks.items():
        files[name].append(share)
    counted = {name: total(shares) for name, shares in files.items()}
    return Counted(tool="go", lines=total(counted.values()), branches=None, files=counted)
