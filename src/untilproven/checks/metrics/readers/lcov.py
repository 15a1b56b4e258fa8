"""lcov's tracefiles: `SF:` begins a file, `DA:` is a line, `BRDA:` a branch."""

from collections import defaultdict

from untilproven.checks.metrics.readers.counted import Counted, reached, total
from untilproven.checks.reports.results import Unreadable


def read(report: bytes) -> Counted:
    """The same file may come again, for another test: then a line was run as often as both say."""
    lines: dict[str, dict[int, int]] = {}
    branches: dict[tuple[str, str], int] = defaultdict(int)
    file = ""
    for record in report.decode("utf-8", "replace").splitlines():
        key, _, value = record.partition(":")
        try:
            if key == "SF":
                file = value.strip()
                lines.setdefault(file, {})
            elif key == "DA":
                number, hits = map(int, value.split(",")[:2])
                lines[file][number] = _added(lines[file].get(number, 0), hits)
            elif key == "BRDA":
                branch, _, taken = value.rpartition(",")
                branches[file, branch] = _added(branches[file, branch], 0 if taken == "-" else int(taken))
            elif record == "end_of_record":
                file = ""
        except (ValueError, KeyError) as error:
            raise Unreadable(f"the report is not what lcov writes: {record[:100]}") from error
    if file:
        raise Unreadable("the report ends in the middle of a file")
    files = {name: reached(hits.values()) for name, hits in lines.items()}
    return Counted(
        tool="lcov",
        lines=total(files.values()),
        branches=reached(branches.values()) if branches else None,
        files=files,
    )


def _added(before: int, hits: int) -> int:
    """What is less than zero once stays so, to be refused."""
    return hits if hits < 0 else before if before < 0 else before + hits
