"""istanbul's coverage-summary.json and coverage-final.json, which jest, vitest, nyc and c8 write."""

import msgspec

from untilproven.checks.metrics.readers.counted import Counted, Share, reached, share, total
from untilproven.checks.metrics.readers.documents import decoded
from untilproven.checks.reports.results import Unreadable


class _Part(msgspec.Struct):
    total: int
    covered: int


class _Summary(msgspec.Struct):
    lines: _Part
    branches: _Part


def summary(report: bytes) -> Counted:
    found = decoded(report, dict[str, _Summary], "istanbul")
    if "total" not in found:
        raise Unreadable("the report is not what istanbul writes: it has no total")
    return _counted(
        lines=_share(found["total"].lines),
        branches=_share(found["total"].branches),
        files={name: _share(part.lines) for name, part in found.items() if name != "total"},
    )


class _Start(msgspec.Struct):
    line: int | None = None


class _Statement(msgspec.Struct):
    start: _Start


class _File(msgspec.Struct):
    statement_map: dict[str, _Statement] = msgspec.field(name="statementMap")
    s: dict[str, int]
    b: dict[str, list[int]] = {}


def final(report: bytes) -> Counted:
    """A line is run as often as the statement that begins on it and is run most."""
    found = decoded(report, dict[str, _File], "istanbul")
    files = {name: reached(_hits_by_line(file).values()) for name, file in found.items()}
    branches = [reached(hits) for file in found.values() for hits in file.b.values()]
    return _counted(lines=total(files.values()), branches=total(branches), files=files)


def _hits_by_line(file: _File) -> dict[int, int]:
    hits: dict[int, int] = {}
    for key, statement in file.statement_map.items():
        line, number = statement.start.line, file.s.get(key)
        if line is None or number is None:
            raise Unreadable(f"the report is not what istanbul writes: nothing is known of its statement {key}")
        hits[line] = number if number < 0 else max(number, hits.get(line, 0))
    return hits


def _share(part: _Part) -> Share:
    return share(part.covered, part.total)


def _counted(*, lines: Share, branches: Share, files: dict[str, Share]) -> Counted:
    return Counted(tool="istanbul", lines=lines, branches=branches if branches.valid else None, files=files)
