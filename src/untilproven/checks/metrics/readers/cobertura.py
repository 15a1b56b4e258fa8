"""Cobertura's XML, which coverage.py, istanbul, gcovr, coverlet and tarpaulin write as well."""

import math
import re

from untilproven.checks.metrics.readers.counted import Counted, Share, reached, share, total
from untilproven.checks.reports import markup
from untilproven.checks.reports.results import Unreadable

_CONDITIONS = re.compile(r"[\d.]+%\s*\((\d+)/(\d+)\)")
_ROUNDED = 0.011
"""Rates are written with two digits or more."""


def read(report: bytes) -> Counted:
    heard = _Classes()
    markup.listen(report, heard, names_its_type=True)
    if heard.root is None:
        raise Unreadable("the report has no coverage in it")
    files = {name: reached(hits.values()) for name, hits in heard.lines.items()}
    try:
        lines = _stated(heard.root, "line") or total(files.values())
        branches = _stated(heard.root, "branch") or total(heard.branches.values())
    except ValueError as error:
        raise Unreadable(f"the report is not what cobertura writes: {error}") from error
    return Counted(
        tool="cobertura",
        lines=lines,
        branches=branches if branches.valid else None,
        files=files,
        sources=tuple(heard.sources),
    )


def _stated(root: dict[str, str], what: str) -> Share | None:
    """What the report says of itself as a whole; it must not say two things."""
    plural = {"line": "lines", "branch": "branches"}[what]
    rate = root.get(f"{what}-rate")
    if rate is not None and not 0 <= float(rate) <= 1:
        raise Unreadable(f"the report contradicts itself: a {what} rate of {rate}")
    if f"{plural}-valid" not in root or f"{plural}-covered" not in root:
        return None
    found = share(int(root[f"{plural}-covered"]), int(root[f"{plural}-valid"]))
    if rate and found.valid and not math.isclose(float(rate), found.covered / found.valid, abs_tol=_ROUNDED):
        raise Unreadable(f"the report contradicts itself: {found.covered} of {found.valid}, and a rate of {rate}")
    return found


class _Classes:
    """Lines are counted where they stand below their class: those below its methods are the same once more."""

    def __init__(self) -> None:
        self.root: dict[str, str] | None = None
        self.sources: list[str] = []
        self.lines: dict[str, dict[int, int]] = {}
        self.branches: dict[tuple[str, int], Share] = {}
        self._file = ""
        self._in_method = False
        self._in_source = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        match tag:
            case "coverage":
                self.root = attributes
            case "source":
                self._in_source = True
                self.sources.append("")
            case "class":
                self._file = attributes.get("filename", "")
                self.lines.setdefault(self._file, {})
            case "method":
                self._in_method = True
            case "line" if self._file and not self._in_method:
                self._line(attributes)

    def _line(self, attributes: dict[str, str]) -> None:
        number, hits = int(attributes["number"]), int(attributes["hits"])
        lines = self.lines[self._file]
        lines[number] = hits if hits < 0 else max(hits, lines.get(number, 0))
        if conditions := _CONDITIONS.match(attributes.get("condition-coverage", "")):
            self.branches[self._file, number] = share(int(conditions[1]), int(conditions[2]))

    def data(self, text: str) -> None:
        if self._in_source:
            self.sources[-1] += text

    def end(self, tag: str) -> None:
        match tag:
            case "source":
                self._in_source = False
                self.sources[-1] = self.sources[-1].strip()
            case "class":
                self._file = ""
            case "method":
                self._in_method = False
