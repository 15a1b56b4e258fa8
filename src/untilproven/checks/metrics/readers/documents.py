"""Reports that are one JSON document."""

from typing import TypeVar

import msgspec

from untilproven.checks.reports.results import Unreadable

T = TypeVar("T")


def decoded(report: bytes, kind: type[T], tool: str) -> T:
    try:
        return msgspec.json.decode(report, type=kind)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the report is not what {tool} writes: {error}") from error
